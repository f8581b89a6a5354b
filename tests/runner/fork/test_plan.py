"""Where episodes are continued, with what, how often; and that the effect is the true one where it is known."""

from dataclasses import dataclass, replace
from statistics import fmean

import pytest

from components.core.messages import Message
from components.core.plain import Accept
from components.core.traits import Requirements
from components.core.types import Answer, Verdict
from components.verifiers.reflect import Reflect
from runner.fork.plan import plans_of
from runner.fork.points import chosen, points_of, walk
from runner.fork.request import Arm, Choices
from tests.parts import Count, Kit, Rows, Speaker, door
from tests.runner.fork.cases import CHANCE, TRUE, Known, control, experiment, recorded, treated
from tests.slow import slow
from tests.table import each_row

SAMPLES = Rows(40).load("test")
BASE = experiment(samples=SAMPLES)


def scripted(*replies):
    left = list(replies)
    return lambda request: left.pop(0)


async def points(one, base=BASE):
    prefix = control(base).prefix(one, len(one.steps))
    return await walk(base.parts, base, one, prefix), points_of(prefix)


async def test_every_decision_of_the_agent_is_a_point():
    why, found = await points(await recorded(SAMPLES[0]))
    assert why == "" and [(p.step, p.call) for p in found] == [(1, 0), (2, 1)]
    assert found[0].did.startswith("act: count")


async def test_points_after_the_first_difference_are_refused_and_those_before_are_not():
    one = await recorded(SAMPLES[0], scripted('call count {"n": 3}', 'call count {"n": 4}', "answer 0"))
    one.steps[1] = replace(one.steps[1], asked=[Message("user", "x")])
    why, found = await points(one)
    assert "step 2 cannot be rebuilt" in why and [p.step for p in found] == [1]
    plans, refused = await plans_of([control(BASE)], [one], Choices(draws=2))
    assert len(plans[0].order) == 2 and "sample q0, control: step 2 cannot be rebuilt" in refused[0]


async def test_a_bug_in_the_agent_refuses_the_whole_episode():
    @dataclass(frozen=True)
    class Broken:
        async def solve(self, episode):
            await episode.act([Message("user", episode.problem.question)])
            raise KeyError("oops")

    base = experiment(agent=Broken())
    why, found = await points(await recorded(SAMPLES[0]), base)
    assert "KeyError" in why and found == []


async def test_first_error_and_disagreement_name_their_steps():
    replies = ('call count {"n": 3}', "?", 'call count {"n": 13}', "answer 0")
    one = await recorded(SAMPLES[0], scripted(*replies))
    _, found = await points(one)
    assert [p.step for p in chosen(found, one.steps, "first_error")] == [2], "a reply that could not be read"
    assert [p.step for p in chosen(found, one.steps, "each")] == [1, 2, 3, 4]
    assert [p.step for p in chosen(found, one.steps, 3)] == [3] and chosen(found, one.steps, 9) == []
    assert chosen(found, one.steps, "verifier_disagrees") == []
    steps = list(one.steps)
    steps[0] = replace(steps[0], verdict=Verdict("select", "candidate", 2, 3, "picked"))
    steps[2] = replace(steps[2], committed=False)
    assert [p.step for p in chosen(found, steps, "verifier_disagrees")] == [1, 3]


async def test_a_disagreement_of_a_real_verifier_is_one_point():
    says = Speaker(lambda r: "answer 0" if "nothing" in r.messages[-1].text or len(r.messages) > 2 else "?")
    one = await recorded(SAMPLES[0], says.say, verifier=Reflect(repairs=1))
    base = experiment(verifier=Reflect(repairs=1))
    why, found = await points(one, base)
    assert why == "" and len(chosen(found, one.steps, "verifier_disagrees")) == 1


async def test_arms_have_the_same_forks_under_the_same_numbers():
    episodes = [await recorded(sample) for sample in SAMPLES[:3]]
    other = experiment(samples=SAMPLES, cfg={"verifier": "other"}, verifier=Accept())
    plans, refused = await plans_of([control(BASE), treated(BASE, other)], episodes, Choices(draws=3))
    assert not refused and plans[0].order == plans[1].order
    numbers = [number for sample, number in plans[0].order if sample.problem.id == "q0"]
    assert numbers == [0, 1, 2, 3, 4, 5] and len(plans[0].order) == 18
    assert [sample.strata["fork step"] for sample, _ in plans[0].order[:6]] == ["01"] * 3 + ["02"] * 3


async def test_another_agent_gets_what_was_done_and_the_state():
    given = []

    @dataclass(frozen=True)
    class Successor:
        requirements = Requirements(takes_over=True)

        async def solve(self, episode):
            given.append([(turn.action.calls[0].name, turn.text, turn.seen[0].text) for turn in episode.past])
            seen = await episode.observe(await episode.act([Message("user", "go on")]))
            return Answer(seen[0].text)

    one = await recorded(SAMPLES[0], scripted('call count {"n": 3}', 'call count {"n": 4}', "answer 0"))
    other = experiment(agent=Successor(), cfg={"agent": "other"})
    arm = treated(BASE, other, hands_over=True)
    plans, _ = await plans_of([control(BASE), arm], [one], Choices(draws=1))
    speaker = Speaker(lambda request: 'call count {"n": 10}')
    ends = [await plans[1].solve(other.parts, door(speaker), *pair) for pair in plans[1].order]
    assert [end.answer for end in ends] == ["saw 10", "saw 13", "saw 17"], "the state after none, one and two calls"
    assert given == [[], [("count", "3", "saw 3")], [("count", "3", "saw 3"), ("count", "7", "saw 7")]]
    assert [step.reply.text for step in ends[2].steps[:2]] == ['call count {"n": 3}', 'call count {"n": 4}']


async def test_a_changed_agent_is_refused_from_where_it_takes_another_way():
    @dataclass(frozen=True)
    class Plans:
        async def solve(self, episode):
            messages = [Message("user", episode.problem.question)]
            action = await episode.act(messages)
            await episode.observe(action)
            await episode.ask(messages, "plan")
            return Answer((await episode.act(messages)).answer)

    one = await recorded(SAMPLES[0], scripted('call count {"n": 3}', 'call count {"n": 4}', "answer 0"))
    arm = treated(BASE, experiment(agent=Plans(), cfg={"agent": "other"}), "plans")
    plans, refused = await plans_of([control(BASE), arm], [one], Choices(draws=1))
    assert [len(plan.order) for plan in plans] == [3, 1], "a fork needs what is before it alone"
    assert "refused: sample q0, plans: step 2 cannot be rebuilt: its purpose was act, is plan" in refused


async def test_a_result_is_changed_only_where_the_step_before_called_the_tool():
    base = experiment(toolset=Kit(Count("pure")))
    one = await recorded(SAMPLES[0], scripted('call count {"n": 3}', "?", "answer 0"), toolset=Kit(Count("pure")))
    arm = treated(base, base, "result", Arm(result={"count": "none"}))
    plans, _ = await plans_of([control(base), arm], [one], Choices(draws=1))
    assert [point.step for _, point, _ in plans[1].points] == [2]


@dataclass(frozen=True)
class Blind:
    """Calls a tool and does not look."""

    async def solve(self, episode):
        messages = [Message("user", episode.problem.question)]
        await episode.observe(await episode.act(messages))
        return Answer((await episode.act(messages)).answer)


@each_row("own, why", [
    ({}, "step 2, 3: count changed the state of the episode, which still holds the original result"),
    ({"agent": Blind(), "toolset": Kit(Count("pure"))}, "step 2: the agent does not show its model the changed result"),
])  # fmt: skip
async def test_a_result_that_can_have_no_effect_is_refused_by_name(own, why):
    calls = ('call count {"n": 3}', 'call count {"n": 4}', "answer 0")
    replies = calls if not own else (calls[0], calls[2])
    one, base = await recorded(SAMPLES[0], scripted(*replies), **own), experiment(**own)
    arm = treated(base, base, "result", Arm(result={"count": "none"}))
    plans, refused = await plans_of([control(base), arm], [one], Choices(draws=1))
    assert plans[1].order == [] and len(refused) == 1 and f"refused: sample q0, result, {why}" in refused[0]


@each_row("samples, at, words", [
    ("failed", 0, "fork.at=0: it should be each, first_error, verifier_disagrees, or the number of a step"),
    ("failed", "first_eror", "fork.at=first_eror: did you mean first_error"),
    ("faild", "each", "fork.samples=faild: did you mean failed"),
    ("failed", "now", "fork.at=now"), ("some", "each", "fork.samples=some: it should be failed, all, or a list"),
])  # fmt: skip
def test_choices_are_checked(samples, at, words):
    with pytest.raises(Exception, match=words):
        Choices(samples, at)


async def values(plan, model):
    """Step -> scores of the forks, each as a record has it."""
    found = {}
    for sample, number in plan.order:
        end = await plan.solve(plan.arm.experiment.parts, door(model), sample, number)
        assert end.facts["fork"]["step"] == int(sample.strata["fork step"]) and end.stop == "answered", end.error
        found.setdefault(end.facts["fork"]["step"], []).append((sample.problem.id, float(end.answer == sample.target)))
    return found


@slow
async def test_chances_and_effects_are_the_known_ones():
    """40 episodes, 25 forks of each step: four standard errors of 1,000 forks, less where they share an episode."""
    episodes = [await recorded(sample) for sample in SAMPLES]
    other = experiment(Known(good=0.95), samples=SAMPLES, cfg={"model": "other"})
    plans, _ = await plans_of([control(BASE), treated(BASE, other)], episodes, Choices(draws=25))
    mine, theirs = await values(plans[0], BASE.models["main"]), await values(plans[1], other.models["main"])
    assert fmean(value for _, value in mine[1]) == pytest.approx(TRUE[1], abs=0.05)
    seen = {one.sample.problem.id: one.steps[0].observed[0].observation.text for one in episodes}
    expected = fmean(CHANCE[seen[sample]] for sample, _ in mine[2])
    assert fmean(value for _, value in mine[2]) == pytest.approx(expected, abs=0.05)
    gains = {step: fmean(b - a for (_, a), (_, b) in zip(mine[step], theirs[step], strict=True)) for step in (1, 2)}
    assert gains[1] == pytest.approx(0.15 * (0.9 - 0.3), abs=0.04), "the better first step"
    assert gains[2] == 0.0, "after it both say the same, by the same seeds"
