import pytest

from components.agents.cot import Cot
from components.agents.react import ReAct
from components.agents.self_consistency import SelfConsistency
from components.core.errors import OVERFLOW, LimitReached, ModelError
from components.core.types import Answer, Failure
from runner.episode.budget import Attempt as Spends
from runner.episode.budget import Budget
from tests.attempts import Attempt, Echo, solving


def by_draw(*texts):
    return lambda request: texts[int(request.branch.split("/")[1]) - 1]


async def test_draws_are_made_at_once_at_their_temperature_and_the_majority_answers():
    agent = SelfConsistency(Cot(), draws=5)
    said = by_draw("Answer: A", "Answer: B", "no idea", "Answer: B", "Answer: A")
    outcome, model, trajectory = await solving(agent, said)
    assert outcome == Answer("A")
    assert [request.branch for request in model.requests] == [f"draw/{n}" for n in range(1, 6)]
    assert {request.sampling.temperature for request in model.requests} == {0.7}
    assert len({request.seed for request in model.requests}) == 5
    assert [step.remarks["read"] for step in trajectory.steps] == ["A", "B", None, "B", "A"]


async def test_a_sample_that_grows_too_long_has_failed_and_the_others_vote():
    def said(request):
        if request.branch in ("draw/1", "draw/3"):
            raise ModelError("too long", OVERFLOW)
        return "Answer: B"

    outcome, _, _ = await solving(SelfConsistency(Cot(), draws=3), said)
    assert outcome == Answer("B")
    outcome, _, _ = await solving(SelfConsistency(Cot(), draws=1), said)
    assert outcome == Failure("context_length", "too long")


async def test_a_server_that_fails_in_one_sample_is_an_error_of_all():
    def said(request):
        raise ModelError("no reply", "server")

    with pytest.raises(ModelError, match="no reply"):
        await solving(SelfConsistency(Cot(), draws=2), said)


async def test_no_readable_draw_is_an_unreadable_answer():
    outcome, _, trajectory = await solving(SelfConsistency(Cot(), draws=2), by_draw("hm", "well"))
    assert outcome == Answer("hm") and [step.remarks["read"] for step in trajectory.steps] == [None, None]


async def test_an_agent_with_tools_is_drawn_with_fresh_ones():
    def act(request):
        seen = "echo of" in request.messages[-1].text
        letter = "A" if request.branch == "draw/2" else "B"
        return f'Action: Finish[{{"response": "{letter}"}}]' if seen else 'Action: echo[{"query": "x"}]'

    agent = SelfConsistency(ReAct(), draws=3)
    outcome, model, trajectory = await solving(agent, act, Attempt(tool=Echo()))
    assert outcome == Answer("B") and len(model.requests) == 6
    assert [step.branch for step in trajectory.steps if "draw" in step.remarks] == ["draw/1", "draw/2", "draw/3"]


@pytest.mark.parametrize("temperature", [None, 1.2])
async def test_the_temperature_may_be_the_models(temperature):
    _, model, _ = await solving(SelfConsistency(Cot(), draws=1, temperature=temperature), by_draw("Answer: A"))
    assert model.requests[0].sampling.temperature == temperature


def acts(request):
    return 'Action: echo[{"query": "x"}]' if request.branch == "draw/1" else 'Action: Finish[{"response": "A"}]'


async def test_a_draw_that_spends_its_steps_or_its_share_is_one_failed_draw():
    attempt = Attempt(tool=Echo())
    outcome, _, trajectory = await solving(SelfConsistency(ReAct(max_steps=3), draws=3), acts, attempt)
    assert outcome == Answer("A") and next(s.remarks["read"] for s in trajectory.steps if "draw" in s.remarks) is None
    episode, model, _ = attempt.episode(acts, None, ReAct())
    episode.attempt = Spends(Budget(calls=12), episode.shared.spent)
    assert await SelfConsistency(ReAct(), draws=3).solve(episode) == Answer("A")
    assert len(model.requests) == 6, "four calls for each of three draws"


async def test_draws_are_made_together_or_not_at_all():
    episode, model, _ = Attempt().episode(by_draw("A"), None, None)
    episode.attempt = Spends(Budget(calls=4))
    with pytest.raises(LimitReached, match="no room for 5 attempts"):
        await SelfConsistency(Cot()).solve(episode)
    assert model.requests == []
