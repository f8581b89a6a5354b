import pytest

from components.agents.medagents import MedAgents
from components.panel.export import exported
from components.types import Sample
from tests.panels import QUESTION, Script, panel


@pytest.mark.parametrize("doubts", [(), (1, 0), (7, 7, 7)])
async def test_the_record_in_the_published_layout_keeps_its_invariants(doubts):
    outcome, model, trajectory = await panel(Script(doubts), MedAgents(expert_tools=False))
    trajectory.stop, trajectory.answer = "answered", outcome.text
    told = exported(Sample(QUESTION, "A"), trajectory)
    dissent = [sum(vote["vote"] == "no" for vote in one) for one in told["vote_history"]]
    assert len(told["syn_repo_history"]) == 1 + sum(number > 0 for number in dissent)
    assert [len(one) for one in told["revision_history"]] == [number for number in dissent if number]
    assert len(told["vote_history"]) == told["n_rounds"] <= 3
    assert all(number > 0 for number in dissent[:-1]) and told["consensus"] == (dissent[-1] == 0)
    assert told["n_llm_calls"] == len(model.requests) == len(told["calls"])
    assert told["pred_answer"] == told["gold_answer"] == "A" and told["raw_output"] == "Option: A"
    assert told["calls"][0]["stage"] == "experts" and told["calls"][2]["field"] == "Surgery"
