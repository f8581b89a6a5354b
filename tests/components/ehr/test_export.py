from components.ehr.agent import EhrAgent
from tests.wards import QUESTION, cell, run_agent, sample

REPLIES = ["- admissions", cell("answer = nothing"), "It is not defined.", cell("answer = 2"), "TERMINATE"]


async def test_an_episode_is_told_turn_by_turn_with_its_scores():
    agent = EhrAgent()
    told = agent.requirements.export(sample(), (await run_agent(agent, REPLIES)).trajectory)
    assert told["question"] == QUESTION and told["knowledge"] == "- admissions" and told["db_id"] == "mimic_iii"
    first, second, end = told["turns"]
    assert first["status"] == "error" and first["error"]["line_no"] == 1 and first["cause"] == "It is not defined."
    assert second["status"] == "ok" and second["result"] == "2" and second["cause"] is None
    assert end["cell"] is None and end["planner"] == "TERMINATE"
    assert (told["prediction"], told["gold"], told["n_llm_calls"]) == ("2", ["2"], 5)
    assert told["completed"] and told["terminated"] and second["cell"] == "answer = 2"
    assert told["memory_size"] == 6 and [hit["id"] for hit in told["memory_hits"]][:1] == ["learnt-0"]


async def test_a_turn_that_could_not_be_read_says_what_was_told():
    agent = EhrAgent(knowledge=False, debugger=False)
    told = agent.requirements.export(sample(), (await run_agent(agent, ["Well.", "TERMINATE"])).trajectory)
    assert told["turns"][0]["status"] == "unparsable_reply" and "neither a cell" in told["turns"][0]["result"]
    assert told["prediction"] is None and not told["completed"] and told["n_executions"] == 1
