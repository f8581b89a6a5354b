"""The recorded beginning of an episode: replies from the record, tools run again, all of it compared."""

import asyncio
from dataclasses import dataclass, replace

import pytest

from components.core.errors import ModelError
from components.core.messages import Message, ToolSpec
from components.core.plain import Accept
from components.core.types import Answer, Observation, Trajectory
from components.verifiers.select import Select
from runner.episode.budget import Budget
from runner.episode.episode import record_errors, run_episode, solve
from runner.episode.prefix import ANY, EndOfRecord, Prefix
from runner.episode.shared import Shared
from tests.parts import Count, Kit, Rows, Speaker, door, parts
from tests.table import each_row

SAMPLE = Rows().load("test")[0]
REPLIES = ('call count {"n": 3}', 'call count {"n": 4}', "answer 0")


def scripted(*replies):
    left = list(replies)
    return Speaker(lambda request: left.pop(0))


async def record(*replies, **changes):
    trajectory, _ = await run_episode(parts(**changes), door(scripted(*(replies or REPLIES))), SAMPLE, 0)
    return trajectory.steps


async def resume(steps, length, model, place="fork/1/0", own=None, **given):
    prefix = Prefix(steps, length, given.pop("verifier", Accept()), place, **given)
    trajectory = Trajectory()
    with record_errors(trajectory):
        await solve(Shared(own or parts(), door(model), SAMPLE, 0, trajectory, fork=prefix))
    return trajectory, prefix


async def test_replies_come_from_the_record_and_tools_run_again():
    model = scripted('call count {"n": 9}', "done")
    trajectory, prefix = await resume(await record(), 2, model)
    assert [one.observation.text for step in trajectory.steps for one in step.observed] == ["3", "7", "16"]
    assert (trajectory.answer, len(model.asked)) == ("done", 2)
    assert model.asked[0].messages[-1].text == "saw 7"
    assert prefix.decisions == [0, 1] and prefix.sound == 3


async def test_the_beginning_costs_nothing_and_counts_in_the_budget():
    trajectory, _ = await resume(await record(), 2, scripted("done"))
    assert [step.usage[:3] for step in trajectory.steps] == [(0, 0, 0.0), (0, 0, 0.0), (10, 2, 0.001)]
    assert [step.replayed for step in trajectory.steps] == [True, True, False]
    ended, _ = await resume(await record(), 2, scripted("done"), own=parts(budget=Budget(calls=2)))
    assert (ended.stop, ended.error) == ("limit", "budget.sample.calls=2")


async def test_seeds_differ_by_place_and_not_by_what_is_changed():
    steps, seeds = await record(), []
    for place, lesson in (("fork/2/0", ""), ("fork/2/0", "Look twice."), ("fork/2/1", ""), ("fork/3/0", "")):
        model = scripted("done")
        await resume(steps, 1, model, place, lesson=lesson)
        seeds.append(model.asked[0].seed)
    assert seeds[0] == seeds[1] and len({*seeds}) == 3


@each_row(
    "change, sound, words",
    [
        (lambda s: replace(s[1], asked=[*s[1].asked[:-1], Message("user", "saw 4")]), 1, "step 2 cannot be rebuilt: the request differs in message 3"),
        (lambda s: replace(s[1], asked=[*s[1].asked, Message("user", "more")]), 1, "step 2 cannot be rebuilt: the request has 3 messages, had 4"),
        (lambda s: replace(s[1], purpose="plan"), 1, "step 2 cannot be rebuilt: its purpose was plan, is act"),
        (lambda s: replace(s[1], observed=[replace(s[1].observed[0], observation=Observation("8"))]), 2, "step 2 cannot be rebuilt: count returned another result than the recorded one"),
        (lambda s: replace(s[1], observed=[replace(s[1].observed[0], error="unlucky")]), 2, "step 2 cannot be rebuilt: count returned another"),
        (lambda s: replace(s[1], observed=[]), 2, "step 2 cannot be rebuilt: 1 calls were run, 0 were recorded"),
        (lambda s: replace(s[1], reply=Message("assistant", 'call count {"n": 5}')), 2, "count returned another result than the recorded one"),
    ],
)  # fmt: skip
async def test_what_the_record_does_not_say_is_refused(change, sound, words):
    steps = await record()
    steps[1] = change(steps)
    trajectory, prefix = await resume(steps, 3, scripted())
    assert trajectory.stop == "error" and words in trajectory.error and trajectory.error.startswith("fork: ")
    assert prefix.sound == sound


_ASK = ToolSpec("ask", "asks", {"type": "object", "properties": {"q": {"type": "string"}}})


@dataclass(frozen=True)
class Service:
    """Returns something else on every call."""

    seen: list
    effect: str = "external"
    spec: ToolSpec = _ASK

    async def __call__(self, context, q=""):
        self.seen.append(q)
        return Observation(f"{q} {len(self.seen)}", {"n": len(self.seen)})


async def test_external_tools_return_the_observation_of_the_record():
    calls = ('call ask {"q": "a"}; ask {"q": "b"}', 'call ask {"q": "c"}', "answer 0")
    seen = []
    kit = Kit(Service(seen))
    steps = await record(*calls, toolset=kit)
    assert seen == ["a", "b", "c"]
    trajectory, _ = await resume(steps, 2, scripted('call ask {"q": "d"}', "done"), own=parts(toolset=kit))
    texts = [one.observation.text for step in trajectory.steps for one in step.observed]
    assert texts == ["a 1", "b 2", "c 3", "d 4"] and seen[3:] == ["d"], "only what follows the fork reaches the service"
    steps[1] = replace(steps[1], reply=Message("assistant", 'call ask {"q": "x"}'))
    trajectory, _ = await resume(steps, 3, scripted(), own=parts(toolset=kit))
    assert "the record has no result of this call of ask" in trajectory.error and seen[4:] == []


@dataclass(frozen=True)
class Slow(Count):
    """Waits half a minute."""

    async def __call__(self, context, n):
        await context.wait(30.0)
        return await super().__call__(context, n)


async def test_the_recorded_beginning_does_not_wait():
    steps = await record()
    trajectory, _ = await asyncio.wait_for(resume(steps, 2, scripted("done"), own=parts(toolset=Kit(Slow()))), 20)
    assert trajectory.answer == "done"


async def test_a_service_as_a_control_is_refused():
    @dataclass(frozen=True)
    class Looks:
        async def solve(self, episode):
            await episode.control("ask", q="x")
            return Answer((await episode.act([Message("user", "?")])).answer)

    seen = []
    own = parts(Looks(), toolset=Kit(Service(seen)))
    trajectory, _ = await resume([], 0, scripted("done"), own=own)
    assert "uses ask, a service, as a control" in trajectory.error and seen == []


async def test_a_result_is_changed_right_before_the_fork():
    steps = await record()
    for name in ("count", ANY):
        model, own = scripted("done"), parts(toolset=Kit(Count("pure")))
        trajectory, _ = await resume(steps, 2, model, own=own, results={name: "no data"})
        assert [one.observation.text for step in trajectory.steps for one in step.observed] == ["3", "no data"]
        assert model.asked[0].messages[-1].text == "saw no data"


async def test_a_result_of_a_tool_that_changed_the_state_is_not_changed():
    trajectory, _ = await resume(await record(), 2, scripted(), results={"count": "no data"})
    assert "count changed the state of the episode, which still holds the original result" in trajectory.error


async def test_a_lesson_is_in_every_later_request_at_its_place():
    model = scripted('call count {"n": 1}', "done")
    await resume(await record(), 1, model, lesson="Count twice.")
    assert [request.messages[0].text for request in model.asked] == ["question 0\n\nCount twice."] * 2
    assert "Count twice." not in " ".join(m.text for request in model.asked for m in request.messages[1:])


async def test_the_verifier_of_the_record_checks_up_to_the_fork_and_the_other_one_from_there():
    says = lambda request: "answer 0" if len(request.messages) > 2 else 'call count {"n": 3}'  # noqa: E731
    steps = (await run_episode(parts(), door(Speaker(says)), SAMPLE, 0))[0].steps
    model = Speaker(says)
    trajectory, _ = await resume(steps, 1, model, own=parts(verifier=Select(n=3, try_actions=False)))
    assert [(step.purpose, step.committed) for step in trajectory.steps[:2]] == [("act", True), ("act", True)]
    assert len(trajectory.steps) == 4 and len(model.asked) == 3, "three candidates for the second action alone"
    steps = (await run_episode(parts(verifier=Select(n=3, try_actions=False)), door(Speaker(says)), SAMPLE, 0))[0].steps
    trajectory, prefix = await resume(steps, 3, Speaker(says), verifier=Select(n=3, try_actions=False))
    assert prefix.decisions == [0] and len(trajectory.steps) == 4, "the candidates are one decision"


async def test_a_walk_ends_with_the_record():
    steps = (await record())[:2]
    prefix = Prefix(steps, 2, Accept())
    with pytest.raises(EndOfRecord):
        await solve(Shared(parts(), door(scripted()), SAMPLE, 0, Trajectory(), fork=prefix))
    assert prefix.decisions == [0, 1]


async def test_questions_may_differ_where_the_agent_is_what_changes():
    @dataclass(frozen=True)
    class Polite:
        async def solve(self, episode):
            messages = [Message("user", f"please: {episode.problem.question}")]
            while (action := await episode.act(messages)).answer is None:
                messages += [action.message, *await episode.observe(action)]
            return Answer(action.answer)

    steps, model = await record(), scripted("done")
    trajectory, _ = await resume(steps, 2, model, own=parts(Polite()), same_questions=False)
    assert trajectory.answer == "done" and model.asked[0].messages[0].text == "please: question 0"
    refused, _ = await resume(steps, 2, scripted(), own=parts(Polite()))
    assert "step 1 cannot be rebuilt: the request differs in message 1" in refused.error


async def test_state_before_the_fork_is_a_state_of_its_own():
    steps = await record()
    for _ in range(2):
        trajectory, _ = await resume(
            steps, 1, scripted('call count {"n": 10}', "done"), own=parts(toolset=Kit(Count()))
        )
        assert [one.observation.text for step in trajectory.steps for one in step.observed] == ["3", "13"]


def test_a_refusal_is_an_error_of_its_own_kind():
    with pytest.raises(ModelError) as error:
        Prefix([], 0, Accept()).refuse_control("main", "ask")
    assert error.value.kind == "fork"
