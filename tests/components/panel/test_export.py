from components.core.types import Sample
from components.panel.agent import MedAgents
from components.panel.scorer import export_episode
from tests.attempts import Echo
from tests.panels import QUESTION, Script, panel
from tests.table import each_row


@each_row("doubts", [(), (1, 0), (7, 7, 7)])
async def test_the_record_in_the_published_layout_keeps_its_invariants(doubts):
    outcome, model, trajectory = await panel(Script(doubts), MedAgents(expert_tools=False))
    trajectory.stop, trajectory.answer = "answered", outcome.text
    exported = export_episode(Sample(QUESTION, "A"), trajectory)
    dissent = [sum(vote["vote"] == "no" for vote in one) for one in exported["vote_history"]]
    assert len(exported["syn_repo_history"]) == 1 + sum(number > 0 for number in dissent)
    assert [len(one) for one in exported["revision_history"]] == [number for number in dissent if number]
    assert len(exported["vote_history"]) == exported["n_rounds"] <= 3
    assert all(number > 0 for number in dissent[:-1]) and exported["consensus"] == (dissent[-1] == 0)
    assert exported["n_llm_calls"] == len(model.requests) == len(exported["calls"])
    assert exported["pred_answer"] == exported["gold_answer"] == "A" and exported["raw_output"] == "Option: A"
    assert exported["calls"][0]["stage"] == "experts" and exported["calls"][2]["field"] == "Surgery"


async def test_every_call_is_exported_with_its_role_and_the_findings_of_tool_users():
    _, _, trajectory = await panel(Script((1, 0)), MedAgents(expert_tools=False))
    advice = [call for call in export_episode(Sample(QUESTION, "A"), trajectory)["calls"] if call["stage"] == "advice"]
    assert "specialist in Surgery" in advice[0]["system"] and "Revisions:" in advice[0]["user"]
    says = {"act": lambda r: 'Action: Finish[{"response": "Biopsy."}]' if "echo of" in r.messages[-1].text
            else 'Action: echo[{"query": "x"}]'}  # fmt: skip
    _, _, trajectory = await panel(Script(says=says), MedAgents(), tool=Echo())
    exported = export_episode(Sample(QUESTION, "A"), trajectory)
    assert {one["raw"] for one in exported["question_analyses"]} == {"Biopsy."}
    first = next(call for call in exported["calls"] if call["tool_calls"])
    assert first["tool_calls"][0]["returned"] == "echo of x" and "specialist" in first["system"]
