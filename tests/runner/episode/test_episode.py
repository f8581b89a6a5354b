"""The door: what is recorded, charged, verified and answered."""

import asyncio
import time
from dataclasses import dataclass, replace
from itertools import count
from typing import ClassVar

import pytest

from components.core.errors import ConfigError, ToolError
from components.core.messages import Message, Sampling, ToolSpec
from components.core.traits import ScorerTraits, ToolTraits
from components.core.types import Answer, Failure, Observation, Score, Trajectory
from runner.episode.budget import Budget
from runner.episode.ending import score_all
from runner.episode.episode import run_episode
from tests.parts import Kit, Rows, Speaker, door, parts
from tests.table import each_row

SAMPLE = Rows().load("test")[0]


def scripted(*replies):
    left = list(replies)
    return Speaker(lambda request: left.pop(0))


async def run(model, agent=None, **changes):
    trajectory, scores = await run_episode(parts(agent, **changes), door(model), SAMPLE, 0)
    return trajectory, scores


async def test_steps_record_request_reply_calls_and_observations():
    trajectory, scores = await run(scripted('call count {"n": 3}', 'call count {"n": 4}', "answer 0"))
    assert (trajectory.stop, trajectory.answer, scores[0].value) == ("answered", "answer 0", 1.0)
    first, second, last = trajectory.steps
    assert [o.observation.text for o in first.observed + second.observed] == ["3", "7"]
    assert first.observed[0].observation.data == {"n": 3}
    assert (first.kept, second.kept, last.kept) == (0, 1, 3)
    assert [m.text for m in second.asked] == ['call count {"n": 3}', "saw 3"]
    assert trajectory.offered[0].name == "count"


async def test_score_that_is_none_of_its_kind_is_not_scored():
    class Wide:
        traits = ScorerTraits(kinds={"own/x": "proportion"})

        def score(self, sample, trajectory):
            yield from (Score("own/y", -3.0), Score("own/x", self.value))

    wide, found = Wide(), []
    for wide.value in (1.0, 3.0):
        found.append(
            [(one.name, one.value, one.explanation) for one in await score_all({"own": wide}, SAMPLE, Trajectory())]
        )
    assert found[0] == [("own/y", -3.0, ""), ("own/x", 1.0, "")]
    assert found[1] == [("own/unscored", None, "own/x is 3, and a proportion is from 0 to 1")]


async def test_tool_error_is_shown_to_the_model_and_labelled():
    trajectory, _ = await run(scripted('call count {"n": 13}', "answer 0"))
    seen = trajectory.steps[0].observed[0]
    assert (seen.error, seen.observation.text) == ("unlucky", "13 brings bad luck")
    assert trajectory.steps[1].asked[-1].text == "saw 13 brings bad luck"


@each_row(
    "reply, label, words",
    [
        ("call nothing {}", "unknown_tool", "There is no tool 'nothing'; the tools are count."),
        ("call count [1]", "bad_arguments", "must be a JSON object"),
        ("call count {broken", "bad_arguments", "cannot be read"),
        ("call count {}", "bad_arguments", "needs 'n'"),
        ('call count {"n": 1, "m": 2}', "bad_arguments", "takes n; found 'm'"),
    ],
)
async def test_invalid_call_is_an_observation_and_does_not_end_the_episode(reply, label, words):
    trajectory, _ = await run(scripted(reply, "answer 0"))
    seen = trajectory.steps[0].observed[0]
    assert seen.error == label and words in seen.observation.text
    assert trajectory.stop == "answered"


async def test_unreadable_reply_is_answered_with_the_error():
    trajectory, _ = await run(scripted("?", "answer 0"))
    assert trajectory.steps[0].action.error == "unparsable_reply"
    assert "a question mark is no action" in trajectory.steps[1].asked[-1].text


async def test_refusal_is_a_separate_outcome():
    trajectory, _ = await run(scripted("no tool for this"))
    assert trajectory.stop == "refused" and trajectory.refusal.grounds == {"reason": "tool for this"}


@each_row(
    "budget, steps, text",
    [
        (Budget(steps=2), 2, "budget.sample.steps=2"),
        (Budget(calls=3), 3, "budget.sample.calls=3"),
        (Budget(tokens=24), 2, "budget.sample.tokens=24"),
        (Budget(usd=0.0015), 2, "budget.sample.usd=0.0015"),
    ],
)
async def test_spent_budget_ends_the_sample_with_its_partial_result(budget, steps, text):
    trajectory, scores = await run(Speaker(lambda r: 'call count {"n": 1}'), budget=budget)
    assert (trajectory.stop, trajectory.error, len(trajectory.steps)) == ("limit", text, steps)
    assert scores[0].value == 0.0


async def test_the_time_budget_ends_a_call_that_hangs():
    trajectory, _ = await run(Speaker(lambda r: "answer 0", wait=60), budget=Budget(seconds=0.05))
    assert (trajectory.stop, trajectory.error) == ("limit", "budget.sample.seconds=0.05")


async def test_a_clock_that_goes_back_shortens_no_call_and_no_budget(monkeypatch):
    hours = count(100, -1)
    monkeypatch.setattr(time, "time", lambda: next(hours) * 3600.0)
    trajectory, _ = await run(scripted('call count {"n": 3}', "answer 0"), budget=Budget(seconds=60))
    first, second = trajectory.steps
    assert trajectory.stop == "answered" and first.started > second.started
    assert all(0 <= step.seconds < 60 for step in trajectory.steps)


async def test_bug_fails_one_sample_and_is_recorded_there():
    @dataclass(frozen=True)
    class Broken:
        async def solve(self, episode):
            raise KeyError("oops")

    trajectory, scores = await run(scripted(), Broken())
    assert trajectory.stop == "error" and "KeyError: 'oops'" in trajectory.error and scores == []


@pytest.mark.parametrize("error", [SystemExit(3), asyncio.CancelledError()])
async def test_part_that_raises_cancellation_or_exit_fails_one_sample(error):
    """No one cancelled it, and a sample is not a process that can be exited."""

    @dataclass(frozen=True)
    class Leaves:
        async def solve(self, episode):
            raise error

    trajectory, scores = await run(scripted(), Leaves())
    assert trajectory.stop == "error" and type(error).__name__ in trajectory.error and scores == []


@pytest.mark.parametrize("blocking", [False, True])
async def test_tool_that_exits_fails_only_its_own_sample(blocking):
    class Leaving:
        effect, spec = "pure", ToolSpec("leave", "leaves", {"type": "object", "properties": {}})

        async def __call__(self, context):
            raise SystemExit("bye")

    class Blocking(Leaving):
        def __call__(self, context):
            raise SystemExit("bye")

    kit = Kit(Blocking() if blocking else Leaving())
    trajectory, _ = await run(Speaker(lambda r: "call leave {}; leave {}"), toolset=kit)
    assert trajectory.stop == "error" and "the tool leave raised SystemExit: bye" in trajectory.error


async def test_cancelled_episode_writes_no_record():
    task = asyncio.create_task(run(Speaker(lambda r: "answer 0", wait=60)))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_an_agents_own_failure_is_scored():
    @dataclass(frozen=True)
    class GivesUp:
        async def solve(self, episode):
            return Failure("tired", "no strength left")

    trajectory, scores = await run(scripted(), GivesUp())
    assert (trajectory.stop, trajectory.failure, trajectory.error) == ("failed", "tired", "no strength left")
    assert len(scores) == 1


@dataclass(frozen=True)
class Panel:
    """Three concurrent experts, each asked the same twice, then a summary."""

    async def solve(self, episode):
        async def expert(n):
            branch = episode.branch(f"expert/{n}", sampling=Sampling(temperature=1.0))
            first = await branch.ask([Message("user", "view?")], "vote")
            again = await branch.ask([Message("user", "view?")], "vote")
            return first.text + again.text

        views = await asyncio.gather(*(expert(n) for n in range(3)))
        return Answer((await episode.ask([Message("user", " ".join(views))], "conclude")).text)


async def test_branches_give_the_same_trajectory_for_any_order_of_replies():
    def say(request):
        return f"<{request.branch} {request.seed % 997}>"

    serial, _ = await run(Speaker(say), Panel())
    for _ in range(5):
        mixed, _ = await run(Speaker(say, wait=0.02), Panel())
        assert [(s.branch, s.index, s.reply.text) for s in mixed.steps] == [
            (s.branch, s.index, s.reply.text) for s in serial.steps
        ]
        assert mixed.answer == serial.answer
    assert [s.branch for s in serial.steps] == [f"expert/{n}" for n in (0, 0, 1, 1, 2, 2)] + ["main"]
    first, again = serial.steps[0], serial.steps[1]
    assert first.reply.text != again.reply.text, "the second identical request is a separate draw"


async def test_fresh_branch_has_its_own_state_and_the_shared_budget():
    @dataclass(frozen=True)
    class Twice:
        async def solve(self, episode):
            for branch in (episode, episode.branch("second", tools="fresh"), episode.branch("third")):
                action = await branch.act([Message("user", "go")])
                await branch.observe(action)
            return Answer("")

    trajectory, _ = await run(Speaker(lambda r: 'call count {"n": 2}'), Twice())
    assert sorted((s.branch, s.observed[0].observation.text) for s in trajectory.steps) == [
        ("main", "2"), ("second", "2"), ("third", "4"),
    ]  # fmt: skip
    limited, _ = await run(Speaker(lambda r: 'call count {"n": 2}'), Twice(), budget=Budget(calls=2))
    assert limited.stop == "limit" and len(limited.steps) == 2


ADD = ToolSpec("add", "adds a tool", {"type": "object", "properties": {"name": {}}})


@dataclass(frozen=True)
class Adds:
    """Offers a copy of itself under a name that it asks a model about."""

    effect: str = "episode"
    spec: ToolSpec = ADD

    async def __call__(self, context, name):
        reply = await context.ask([Message("user", f"what is {name}?")], "build", role="builder")
        assert "add" in context.offered
        context.add(Adds(spec=replace(ADD, name=name)))
        return Observation(reply.text)


async def test_tool_may_add_a_tool_and_asks_on_a_branch_named_by_purpose():
    model = scripted('call add {"name": "sum"}', "it adds", 'call sum {"name": "more"}', "it adds more", "answer 0")
    trajectory, _ = await run(model, toolset=Kit(Adds()))
    assert [(s.purpose, s.branch) for s in trajectory.steps] == [
        ("act", "main"), ("build", "build/0"), ("act", "main"), ("build", "build/1"), ("act", "main"),
    ]  # fmt: skip
    assert trajectory.steps[2].observed[0].call.name == "sum"
    assert [spec.name for spec in trajectory.offered] == ["add", "sum", "more"]


async def test_added_tools_replace_none_and_appear_in_the_instructions():
    @dataclass(frozen=True)
    class Twice:
        async def solve(self, episode):
            assert episode.instructions() == "tools: add"
            for _ in range(2):
                await episode.observe(await episode.act([Message("user", "go")]))
            return Answer(episode.instructions())

    trajectory, _ = await run(
        scripted('call add {"name": "sum"}', "x", 'call add {"name": "sum"}', "x"), Twice(), toolset=Kit(Adds())
    )
    assert trajectory.answer == "tools: add, sum"
    assert [s.observed[0].error for s in trajectory.steps if s.observed] == [None, "name_taken"]


async def test_later_attempt_has_the_tools_added_before_it():
    @dataclass(frozen=True)
    class Again:
        async def solve(self, episode):
            await episode.act([Message("user", "go")])
            for name in ("sum", "more", "most"):
                line = episode if name == "sum" else episode.branch(f"trial/{name}", tools="fresh")
                await line.act([Message("user", "go")])
                await line.control("add", name=name)
            return Answer(episode.branch("last", tools="fresh").instructions())

    trajectory, _ = await run(Speaker(lambda r: "answer it adds"), Again(), toolset=Kit(Adds()))
    assert trajectory.answer == "tools: add, sum, more, most"


async def test_concurrent_branches_are_isolated_and_recorded_in_a_fixed_order():
    @dataclass(frozen=True)
    class Race:
        order: tuple[int, ...]

        async def solve(self, episode):
            lines = episode.lines(["draw/2", "draw/10"])
            for n in self.order:
                await lines[n].act([Message("user", "go")])
                await lines[n].control("add", name="sum")
                await lines[n].control("add", name=f"own{n}")
            (later,) = episode.lines(["draw/11"])
            assert later.instructions() == "tools: add"
            assert lines[0].branch("again", tools="fresh").instructions() == "tools: add, sum, own0"
            return Answer("")

    for order in ((0, 1), (1, 0)):
        trajectory, _ = await run(Speaker(lambda r: "answer it adds"), Race(order), toolset=Kit(Adds()))
        assert [spec.name for spec in trajectory.offered] == ["add", "sum", "own0", "own1"]


async def test_trial_is_recorded_and_has_no_side_effects():
    @dataclass(frozen=True)
    class TryThenDo:
        async def choose(self, messages, propose, episode):
            action = await propose()
            tried = await episode.try_(action)
            assert [one.text for one in tried] == ["5"]
            return action

    trajectory, _ = await run(scripted('call count {"n": 5}', "answer 0"), verifier=TryThenDo())
    step = trajectory.steps[0]
    assert [o.observation.text for o in step.tried + step.observed] == ["5", "5"]


async def test_tool_declared_as_not_triable_is_not_tried():
    @dataclass(frozen=True)
    class Dear(Adds):
        traits: ClassVar[ToolTraits] = ToolTraits(triable=False)

    @dataclass(frozen=True)
    class TryThenDo:
        async def choose(self, messages, propose, episode):
            action = await propose()
            assert not action.calls or await episode.try_(action) is None
            return action

    model = scripted('call add {"name": "sum"}', "it adds", "answer 0")
    trajectory, _ = await run(model, toolset=Kit(Dear()), verifier=TryThenDo())
    assert trajectory.stop == "answered" and not any(step.tried for step in trajectory.steps)


async def test_only_the_chosen_of_several_proposals_is_committed():
    @dataclass(frozen=True)
    class Second:
        async def choose(self, messages, propose, episode):
            proposals = await asyncio.gather(propose(), propose())
            return proposals[1]

    replies = iter(["answer 1", "answer 0"])
    trajectory, _ = await run(Speaker(lambda r: next(replies)), verifier=Second())
    assert [(s.reply.text, s.committed) for s in trajectory.steps] == [("answer 1", False), ("answer 0", True)]


async def test_missing_control_is_named():
    @dataclass(frozen=True)
    class Wants:
        async def solve(self, episode):
            await episode.control("start")

    with pytest.raises(ConfigError, match="needs the control 'start'"):
        await run(scripted(), Wants())


async def test_a_blocking_tool_runs_off_the_loop_and_a_tool_may_ask_a_model():
    class Blocking:
        effect, spec = "pure", ToolSpec("slow", "blocks")

        def __call__(self, context):
            import threading

            return Observation(threading.current_thread().name)

    class Asking:
        effect, spec = "pure", ToolSpec("ask", "asks")

        async def __call__(self, context):
            return Observation((await context.ask([Message("user", "inside")])).text)

    trajectory, _ = await run(scripted("call slow {}", "answer 0"), toolset=Kit(Blocking()))
    assert trajectory.steps[0].observed[0].observation.text != "MainThread"
    trajectory, _ = await run(scripted("call ask {}", "from the model", "answer 0"), toolset=Kit(Asking()))
    assert [s.purpose for s in trajectory.steps] == ["act", "tool", "act"]
    assert trajectory.steps[0].observed[0].observation.text == "from the model"


@pytest.mark.parametrize("blocking", [False, True])
async def test_results_and_failures_of_external_tools_are_journalled(blocking):
    calls = []

    def answer():
        calls.append(1)
        if len(calls) == 1:
            raise ToolError("the line is dead", "dead", {"code": 7})
        return Observation(f"page {len(calls)}", {"n": len(calls)})

    class Outside:
        effect, spec = "external", ToolSpec("web", "outside")

        async def __call__(self, context):
            return answer()

    class Blocking(Outside):
        def __call__(self, context):
            return answer()

    class Memory(dict):
        def reserve(self):
            return None

        def put(self, key, payload):
            self[key] = payload

    journal, kit = Memory(), Kit(Blocking() if blocking else Outside())
    seen = []
    for replay in (False, True):
        model = Speaker(lambda r: "call web {}" if len(r.messages) < 5 else "answer 0")
        trajectory, _ = await run_episode(parts(toolset=kit), door(model, journal, replay=replay), SAMPLE, 0)
        assert trajectory.stop == "answered", trajectory.error
        seen.append([(o.observation, o.error) for s in trajectory.steps for o in s.observed])
    assert seen[0] == seen[1] and len(calls) == 2
    assert [error for _, error in seen[0]] == ["dead", None]


async def test_a_run_asks_a_service_again_that_was_unavailable_and_a_replay_does_not():
    calls = []

    class Outside:
        effect, spec = "external", ToolSpec("web", "outside")

        async def __call__(self, context):
            calls.append(1)
            if len(calls) == 1:
                raise ToolError("the line is dead", "unavailable")
            return Observation("a page")

    class Memory(dict):
        def reserve(self):
            return None

        def put(self, key, payload):
            self[key] = payload

    journal, seen = Memory(), []
    for replay in (False, True, False):
        model = Speaker(lambda r: "call web {}" if len(r.messages) < 3 else "answer 0")
        trajectory, _ = await run_episode(parts(toolset=Kit(Outside())), door(model, journal, replay=replay), SAMPLE, 0)
        seen.append(trajectory.steps[0].observed[0].observation.text)
    assert seen == ["the line is dead", "the line is dead", "a page"] and len(calls) == 2


async def test_new_version_of_an_external_tool_is_called_again():
    class Corpus:
        effect, spec = "external", ToolSpec("web", "outside")

        def __init__(self, identity):
            self.traits = ToolTraits(identity=identity)

        async def __call__(self, context):
            return Observation(self.traits.identity)

    class Memory(dict):
        def reserve(self):
            return None

        def put(self, key, payload):
            self[key] = payload

    journal, texts = Memory(), []
    for identity in ("2025", "2026", "2025"):
        model = Speaker(lambda r: "call web {}" if len(r.messages) < 3 else "answer 0")
        trajectory, _ = await run_episode(parts(toolset=Kit(Corpus(identity))), door(model, journal), SAMPLE, 0)
        texts.append(trajectory.steps[0].observed[0].observation.text)
    assert texts == ["2025", "2026", "2025"]


async def test_parallel_tool_calls_that_ask_a_model_get_separate_draws():
    class Asking:
        effect, spec = "pure", ToolSpec("ask", "asks", {"type": "object", "properties": {"n": {}}})

        async def __call__(self, context, n=0):
            return Observation((await context.ask([Message("user", "same words")])).text)

    found = set()
    for _ in range(6):
        model = Speaker(
            lambda r: (
                ("call ask {}; ask {}; ask {}" if len(r.messages) < 3 else "answer 0")
                if r.purpose == "act"
                else str(r.seed)
            ),
            wait=0.01,
        )
        trajectory, _ = await run(model, toolset=Kit(Asking()))
        act = next(s for s in trajectory.steps if s.observed)
        found.add(tuple(o.observation.text for o in act.observed))
    assert len(found) == 1 and len(set(found.pop())) == 3


@pytest.mark.parametrize("kind", ["group", "gather"])
async def test_branches_that_outlive_a_limit_add_no_steps(kind):
    @dataclass(frozen=True)
    class Panel:
        async def solve(self, episode):
            async def line(n):
                branch = episode.branch(f"line/{n}")
                for _ in range(4):
                    await branch.ask([Message("user", "view?")], "vote")

            if kind == "gather":
                await asyncio.gather(*(line(n) for n in range(3)))
            else:
                async with asyncio.TaskGroup() as group:
                    for n in range(3):
                        group.create_task(line(n))
            return Answer("")

    model = Speaker(lambda r: "view", wait=0.01)
    trajectory, scores = await run(model, Panel(), budget=Budget(calls=6))
    assert (trajectory.stop, trajectory.error, len(scores)) == ("limit", "budget.sample.calls=6", 1)
    steps, asked = len(trajectory.steps), len(model.asked)
    await asyncio.sleep(0.05)
    assert len(trajectory.steps) == steps and len(model.asked) == asked


@dataclass(frozen=True)
class Several:
    """Asks on four branches at once, remarks on each, then once more."""

    async def solve(self, episode):
        asks = {f"line/{n}": [Message("user", f"ask {n}")] for n in (1, 2, 10, 9)}
        replies = await episode.ask_each(asks, "vote", Sampling(max_tokens=3))
        for name, reply in zip(asks, replies, strict=True):
            episode.branch(name).remark(label=reply.text)
        return Answer((await episode.ask([Message("user", "all")], "answer")).text)


def echo(request):
    return request.messages[-1].text


async def test_questions_on_several_branches_are_answered_in_order():
    trajectory, _ = await run(Speaker(echo, wait=0.01), Several())
    assert trajectory.answer == "all"
    assert [step.branch for step in trajectory.steps] == ["line/1", "line/2", "line/9", "line/10", "main"]
    assert [step.remarks for step in trajectory.steps[:2]] == [{"label": "ask 1"}, {"label": "ask 2"}]
    assert {step.purpose for step in trajectory.steps[:4]} == {"vote"}


@each_row("calls, steps", [(3, 0), (4, 4), (5, 5)])
async def test_batch_of_questions_fits_the_budget_or_none_is_sent(calls, steps):
    trajectory, _ = await run(Speaker(echo), Several(), budget=Budget(calls=calls))
    assert len(trajectory.steps) == steps and (trajectory.stop == "limit") == (calls < 5)


@dataclass(frozen=True)
class Besides:
    """Runs another agent separately, then answers with its number of steps."""

    async def solve(self, episode):
        separate = await episode.run_separately(Several())
        await episode.ask([Message("user", "mine")], "answer")
        return Answer(f"{separate.stop} {len(separate.steps)}")


async def test_separate_run_of_another_agent_is_not_recorded_or_charged():
    trajectory, _ = await run(Speaker(echo), Besides(), budget=Budget(calls=5))
    assert trajectory.answer == "answered 5" and [step.branch for step in trajectory.steps] == ["main"]


async def test_attempt_with_fresh_tools_has_its_own_steps():
    @dataclass(frozen=True)
    class Tries:
        async def solve(self, episode):
            for name in ("a", "b"):
                line = episode.branch(name, tools="fresh")
                await line.act([Message("user", name)])
            return Answer((await episode.act([Message("user", "c")])).answer)

    trajectory, _ = await run(Speaker(echo), Tries(), budget=Budget(steps=1))
    assert trajectory.stop == "answered" and len(trajectory.steps) == 3
