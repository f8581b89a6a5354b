import pytest

from components.agents.direct import Cot, Direct
from components.agents.react import ReAct
from components.agents.self_consistency import Matched, SelfConsistency, reading, spent
from components.core.errors import OVERFLOW, ConfigError, LimitReached, ModelError
from components.core.messages import Message, Usage
from components.core.types import Answer, Failure, Problem, Refusal, Step, Trajectory
from components.models.scripted import Scripted
from components.panel.agent import MedAgents
from runner.episode.budget import Attempt as Spends
from runner.episode.budget import Budget
from tests.attempts import Attempt, Echo, solving
from tests.panels import SAYS
from tests.parts import door
from tests.table import each_row

CHOICE, OPEN = Problem("p", "Which?", {"A": "gout", "B": "scurvy"}), Problem("p", "What?")


@each_row(
    "problem, outcome, read",
    [
        (CHOICE, Answer("B. scurvy"), "B"),
        (CHOICE, Answer("who knows"), None),
        (OPEN, Answer(" Yes. "), "yes"),
        (OPEN, Answer("a  torn\nTendon"), "a torn tendon"),
        (OPEN, Answer(" . "), None),
        (OPEN, Refusal({"why": "no tool"}), "(refused)"),
        (OPEN, Failure("step_limit"), None),
    ],
)
def test_equal_answers_are_read_alike(problem, outcome, read):
    assert reading(problem, outcome) == read


def test_usage_of_a_draw_is_that_of_its_branches_only():
    steps = [
        Step("act", "main", branch, 0, 0, (), Message("assistant", ""), Usage(10, 2))
        for branch in ("draw/1", "draw/1/call/0", "draw/10", "main")
    ]
    trajectory = Trajectory(steps)
    assert spent(trajectory, "calls", "draw/1") == 2 and spent(trajectory, "tokens", "draw/1") == 24
    assert spent(trajectory, "calls") == 4 and spent(trajectory, "tokens") == 48


@each_row(
    "replies, answer",
    [(("A", "B", "B"), "B"), (("?", "B", "A", "A", "B"), "B"), (("?", "??"), "?")],
)
async def test_the_majority_wins_ties_go_to_the_first_and_unreadable_draws_do_not_vote(replies, answer):
    said = by_draw(*(f"Answer: {reply}" for reply in replies))
    outcome, _, trajectory = await solving(SelfConsistency(Cot(), draws=len(replies)), said)
    assert outcome == Answer(answer) and sum("chosen" in step.remarks for step in trajectory.steps) == 1


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


PANEL = MedAgents(expert_tools=False)


def say(request):
    if request.branch.startswith("draw/"):
        return "Answer: B"
    return SAYS[request.purpose]


async def test_it_makes_one_draw_per_call_of_the_other_agent_and_records_only_its_own():
    outcome, model, trajectory = await solving(Matched(Cot(), PANEL), say)
    assert outcome == Answer("B") and len(model.requests) == 36
    assert [step.branch for step in trajectory.steps] == [f"draw/{n}" for n in range(1, 19)]
    assert trajectory.steps[0].remarks["allowed"] == 18 and trajectory.steps[0].remarks["matched"] == "calls"


async def test_the_other_agent_is_asked_on_the_branches_of_its_own_run():
    _, model, _ = await solving(Matched(Cot(), PANEL), say)
    _, alone, _ = await solving(PANEL, say)
    others = {(r.branch, r.occurrence, r.seed) for r in model.requests if not r.branch.startswith("draw/")}
    assert others == {(r.branch, r.occurrence, r.seed) for r in alone.requests}


async def test_tokens_are_not_overdrawn_and_one_draw_is_always_made():
    _, _, trajectory = await solving(Matched(Cot(), PANEL, by="tokens"), say)
    costs = [(s.usage.input_tokens or 0) + (s.usage.output_tokens or 0) for s in trajectory.steps]
    allowed = trajectory.steps[0].remarks["allowed"]
    assert len(costs) > 1 and allowed - costs[0] < sum(costs) <= allowed
    _, _, trajectory = await solving(Matched(SelfConsistency(Cot()), Direct()), say)
    assert len(trajectory.steps) == 5


async def test_the_number_of_draws_is_limited():
    _, _, trajectory = await solving(Matched(Cot(), PANEL, most=4), say)
    assert len(trajectory.steps) == 4


@pytest.mark.parametrize("calls", [18, 30])
async def test_the_other_agents_calls_are_not_charged_to_the_sample(calls):
    attempt = Attempt()
    episode, _, trajectory = attempt.episode(say, None, Matched(Cot(), PANEL))
    episode.attempt = Spends(Budget(calls=calls), episode.shared.spent)
    assert await Matched(Cot(), PANEL).solve(episode) == Answer("B")
    assert episode.shared.spent.calls == len(trajectory.steps) == 18


async def test_nested_draws_count_their_own_usage():
    agent = SelfConsistency(Matched(Cot(), PANEL), draws=3)
    _, _, trajectory = await solving(agent, say)
    assert [sum(s.branch.startswith(f"draw/{n}/") for s in trajectory.steps) for n in (1, 2, 3)] == [18, 18, 18]


async def test_unknown_token_counts_are_refused():
    class Silent(Scripted):
        async def generate(self, request):
            return (await super().generate(request))._replace(usage=Usage())

    episode, _, _ = Attempt().episode(say, None, None)
    episode.shared.door = door(Silent(say))
    with pytest.raises(ConfigError, match="does not say how many tokens"):
        await Matched(Cot(), PANEL, by="tokens").solve(episode)
