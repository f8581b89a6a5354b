from components.ehr.agent import EhrAgent
from tests.wards import QUESTION, cell, run_agent, sample

REPLIES = ["- admissions", cell("answer = nothing"), "It is not defined.", cell("answer = 2"), "TERMINATE"]


async def test_an_episode_is_exported_turn_by_turn_with_its_scores():
    agent = EhrAgent()
    exported = agent.requirements.export(sample(), (await run_agent(agent, REPLIES)).trajectory)
    assert (
        exported["question"] == QUESTION
        and exported["knowledge"] == "- admissions"
        and exported["db_id"] == "mimic_iii"
    )
    first, second, end = exported["turns"]
    assert first["status"] == "error" and first["error"]["line_no"] == 1 and first["cause"] == "It is not defined."
    assert second["status"] == "ok" and second["result"] == "2" and second["cause"] is None
    assert end["cell"] is None and end["planner"] == "TERMINATE"
    assert (exported["prediction"], exported["gold"], exported["n_llm_calls"]) == ("2", ["2"], 5)
    assert exported["completed"] and exported["terminated"] and second["cell"] == "answer = 2"
    assert exported["memory_size"] == 6 and [hit["id"] for hit in exported["memory_hits"]][:1] == ["learnt-0"]


async def test_an_unreadable_turn_records_the_message_sent_back():
    agent = EhrAgent(knowledge=False, debugger=False)
    exported = agent.requirements.export(sample(), (await run_agent(agent, ["Well.", "TERMINATE"])).trajectory)
    assert exported["turns"][0]["status"] == "unparsable_reply" and "neither a cell" in exported["turns"][0]["result"]
    assert exported["prediction"] is None and not exported["completed"] and exported["n_executions"] == 1
