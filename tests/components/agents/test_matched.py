from dataclasses import replace

import pytest

from components.agents.cot import Cot
from components.agents.direct import Direct
from components.agents.matched import Matched
from components.agents.self_consistency import SelfConsistency
from components.core.errors import ConfigError
from components.core.messages import Usage
from components.core.types import Answer
from components.models.scripted import Scripted
from components.panel.agent import MedAgents
from runner.episode.budget import Attempt as Spends
from runner.episode.budget import Budget
from tests.attempts import Attempt, solving
from tests.panels import SAYS
from tests.parts import door

PANEL = MedAgents(expert_tools=False)


def say(request):
    if request.branch.startswith("draw/"):
        return "Answer: B"
    return SAYS[request.purpose]


async def test_it_draws_as_often_as_the_other_agent_asks_and_records_only_its_own():
    outcome, model, trajectory = await solving(Matched(Cot(), PANEL), say)
    assert outcome == Answer("B") and len(model.requests) == 36
    assert [step.branch for step in trajectory.steps] == [f"draw/{n}" for n in range(1, 19)]
    assert trajectory.steps[0].remarks["allowed"] == 18 and trajectory.steps[0].remarks["matched"] == "calls"


async def test_the_other_agent_is_asked_on_the_branches_of_its_own_run():
    _, model, _ = await solving(Matched(Cot(), PANEL), say)
    _, alone, _ = await solving(PANEL, say)
    beside = {(r.branch, r.occurrence, r.seed) for r in model.requests if not r.branch.startswith("draw/")}
    assert beside == {(r.branch, r.occurrence, r.seed) for r in alone.requests}


async def test_tokens_are_not_overdrawn_and_one_draw_is_always_made():
    _, _, trajectory = await solving(Matched(Cot(), PANEL, by="tokens"), say)
    costs = [(s.usage.input_tokens or 0) + (s.usage.output_tokens or 0) for s in trajectory.steps]
    allowed = trajectory.steps[0].remarks["allowed"]
    assert len(costs) > 1 and allowed - costs[0] < sum(costs) <= allowed
    _, _, trajectory = await solving(Matched(SelfConsistency(Cot()), Direct()), say)
    assert len(trajectory.steps) == 5


async def test_at_most_so_many_draws_are_made():
    _, _, trajectory = await solving(Matched(Cot(), PANEL, most=4), say)
    assert len(trajectory.steps) == 4


@pytest.mark.parametrize("calls", [18, 30])
async def test_the_other_agents_calls_are_not_charged_to_the_sample(calls):
    attempt = Attempt()
    episode, _, trajectory = attempt.episode(say, None, Matched(Cot(), PANEL))
    episode.attempt = Spends(Budget(calls=calls), episode.shared.spent)
    assert await Matched(Cot(), PANEL).solve(episode) == Answer("B")
    assert episode.shared.spent.calls == len(trajectory.steps) == 18


async def test_within_draws_each_counts_its_own():
    agent = SelfConsistency(Matched(Cot(), PANEL), draws=3)
    _, _, trajectory = await solving(agent, say)
    assert [sum(s.branch.startswith(f"draw/{n}/") for s in trajectory.steps) for n in (1, 2, 3)] == [18, 18, 18]


async def test_tokens_that_are_not_known_are_refused():
    class Silent(Scripted):
        async def generate(self, request):
            return replace(await super().generate(request), usage=Usage())

    episode, _, _ = Attempt().episode(say, None, None)
    episode.shared.door = door(Silent(say))
    with pytest.raises(ConfigError, match="does not say how many tokens"):
        await Matched(Cot(), PANEL, by="tokens").solve(episode)
