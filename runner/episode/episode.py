"""One sample in, one scored trajectory out; and the episode that its agent sees: recorded, charged, verified."""

import asyncio
import re
import traceback
from collections.abc import Awaitable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import orjson

from components.core.concurrency import gather_all
from components.core.errors import ActionError, ConfigError, LimitReached, ModelError, RunLimitReached
from components.core.messages import Message, Purpose, Sampling, ToolCall, ToolSpec, ToolSpecs
from components.core.protocols import Agent
from components.core.redaction import redact
from components.core.task_text import written_out
from components.core.tools import Offer
from components.core.traits import ToolTraits, declared
from components.core.types import (
    Action,
    Answer,
    Failure,
    Observation,
    Observed,
    Refusal,
    Sample,
    Score,
    Trajectory,
    Verdict,
)
from runner.episode.budget import Budget
from runner.episode.calls import Context, apply, run_calls
from runner.episode.confidence import remark_action, remark_outcome
from runner.episode.door import Door
from runner.episode.ending import JUDGING, deciding_value, give_up, record_outcome, score_all, select_error
from runner.episode.shared import Branch, Parts, Shared, T
from runner.storage.disk import Unwritable

_FILE = re.compile(r'File "[^"]*?(?:((?:components|runner)/[^"]+)|([^"/]+))"')


async def run_episode(parts: Parts, door: Door, sample: Sample, epoch: int) -> tuple[Trajectory, list[Score]]:
    """Run and score one sample; what ended in ``error`` is not scored. Raises RunLimitReached, Unwritable."""
    trajectory = await solve_sample(parts, door, sample, epoch)
    return trajectory, await score_sample(parts, door, sample, epoch, trajectory)


async def solve_sample(parts: Parts, door: Door, sample: Sample, epoch: int) -> Trajectory:
    """Let the agent solve one sample. Raises RunLimitReached, Unwritable."""
    trajectory = Trajectory()
    with record_errors(trajectory):
        await solve(Shared(parts, door, sample, epoch, trajectory))
    return trajectory


async def score_sample(parts: Parts, door: Door, sample: Sample, epoch: int, trajectory: Trajectory) -> list[Score]:
    """The scores of what did not end in ``error``; it does where scoring fails. Raises RunLimitReached, Unwritable."""

    def judging() -> Episode:  # recorded, without the sample's budget
        return Episode(Shared(replace(parts, budget=Budget()), door, sample, epoch, trajectory), Offer({}), JUDGING)

    scores: list[Score] = []
    if trajectory.stop != "error":
        with record_errors(trajectory):
            scores = await score_all(parts.scorers, sample, trajectory, judging)
    return scores


@contextmanager
def record_errors(trajectory: Trajectory) -> Iterator[None]:
    """Write what costs one sample, not the run, into its trajectory."""
    try:
        yield
    except ModelError as error:
        if error.kind == "replay_miss":  # a strict replay is refused as a whole, with its first difference
            raise ConfigError(f"run.replay: {error}") from None
        trajectory.stop, trajectory.error = "error", redact(f"{error.kind}: {error}")
    except (RunLimitReached, ConfigError, Unwritable):
        raise
    except (SystemExit, asyncio.CancelledError):
        if is_cancelled():
            raise
        trajectory.stop, trajectory.error = "error", _trace()
    except Exception:  # noqa: BLE001 - the only broad one: a bug costs one sample, not the run
        trajectory.stop, trajectory.error = "error", _trace()


def _trace() -> str:
    """The current error, without the folders of this machine."""
    trace = _FILE.sub(lambda match: f'File "{match[1] or match[2]}"', traceback.format_exc())
    return redact(f"bug: {trace}")


def is_cancelled() -> bool:
    """Whether the current task itself is being cancelled, not only what it waits for."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def solve(shared: Shared) -> None:
    """Let the agent solve the sample, and write its outcome into the trajectory."""
    trajectory, offer = shared.trajectory, shared.open()
    trajectory.offered = tuple([tool.spec for tool in offer.tools.values()])
    trajectory.facts = offer.facts
    try:
        record_outcome(trajectory, await shared.parts.agent.solve(Episode(shared, offer)))
    except BaseExceptionGroup as group:  # of an agent that works on several lines at once
        give_up(trajectory, select_error(group))
    except (LimitReached, ModelError) as error:
        give_up(trajectory, error)
    finally:
        shared.close()
    remark_outcome(shared.parts.confidence, trajectory, shared.sample.problem)


class Episode(Branch):
    """One attempt at one sample, or a branch of it (see ``components.core.protocols.Episode``)."""

    async def act(
        self, messages: Sequence[Message], sampling: Sampling | None = None, closing: bool = False,
        functions: Sequence[ToolSpec] | None = None,
    ) -> Action:  # fmt: skip
        """Ask for an action and have it verified. Raises LimitReached, ModelError."""
        shared = self.shared
        verifier = shared.fork.decide_action(self.name, self._n, shared.parts.verifier)
        self.attempt.act(shared.parts.budget.steps)
        self._closing, self._proposed = closing, []
        self._functions = None if functions is None else ToolSpecs(functions)
        propose = Proposals(self, messages, sampling)
        chosen = await verifier.choose(messages, propose, self)
        for step in self._proposed:
            step.committed = step.action is chosen
            self._last = step if step.committed else self._last
        return chosen

    async def suggest(
        self, messages: Sequence[Message], sampling: Sampling | None = None, role: str = "verifier",
        purpose: Purpose = "verify", admitted: bool = False,
    ) -> Action:  # fmt: skip
        """Ask for an action that may take a proposal's place. Raises LimitReached, ModelError."""
        specs, key = self._functions, (self._closing, len(self.offer.tools))
        if specs is None and (specs := self._specs.get(key)) is None:
            specs = self._specs[key] = ToolSpecs(self.shared.parts.grammar.specs(self._shown(self._closing)))
        step = await self._call(messages, purpose, sampling, role, specs, admitted)
        action = self.parse(step.reply)
        step.action = written_out(action) if purpose == "verify" else action
        if self.shared.parts.confidence == "verbal":
            remark_action(step, action)
        self._proposed.append(step)
        return step.action

    async def observe(self, action: Action) -> list[Message]:
        """Run the action's calls; an unreadable action is answered with the reason."""
        render = self.shared.parts.grammar.render
        if action.error is not None:
            text = f"Your reply could not be read: {action.error_text}."
            calls = action.message.tool_calls or (ToolCall("call", "", ""),)
            return [render(call, Observation(text)) for call in calls]
        step = self.shared.step_of(action) or self._last
        n, fork = -1 if step is None else step.index, self.shared.fork
        fork.begin_calls(self.name, n)
        observed = self.shared.tried.pop(id(action), None) or await run_calls(
            self, n, action.calls, self.offer, self.name
        )
        observed = fork.end_calls(self.name, observed, self.offer.tools)
        if step is not None:
            step.observed += observed
        return [render(one.call, one.observation) for one in observed]

    async def call(self, name: str, arguments: str) -> Observed:
        """Run one call now, for an external agent; calls run one after the other."""
        async with self._calling:
            step = self._last
            seen = self.early if step is None else step.observed
            named = () if step is None or step.action is None else step.action.calls
            left = (one.id for one in named if one.name == name and all(one.id != done.call.id for done in seen))
            call = ToolCall(next(left, f"call_{len(seen)}"), name, arguments)
            (observed,) = await run_calls(self, -1 if step is None else step.index, (call,), self.offer, self.name)
            seen.append(observed)
            return observed

    async def within(self, work: Awaitable[T]) -> T:
        """Await work that is not a call within the time of the sample. Raises LimitReached."""
        return await self.shared.within(work)

    async def try_(self, action: Action) -> list[Observation] | None:
        """Run the action on a fork of the offer; None when one of its tools cannot be tried."""
        offer, shared = self.offer, self.shared
        tools = [tool for call in action.calls if (tool := offer.tools.get(call.name)) is not None]
        effects = {tool.effect for tool in tools}
        foreign = {one.name for one in self._functions or ()} - offer.tools.keys()
        if (
            "external" in effects
            or any(call.name in foreign for call in action.calls)
            or not all(declared(tool, ToolTraits).triable for tool in tools)
        ):
            return None
        step, fork = shared.step_of(action), offer.fork()
        assert step is not None, "a candidate was proposed"
        try:
            seen = await run_calls(self.branch(f"try/{step.index}"), step.index, action.calls, fork, self.name)
        finally:
            if fork.state is not offer.state:
                fork.state.close()
        step.tried += seen
        if action.calls and "episode" not in effects:
            shared.tried[id(action)] = seen
        return [one.observation for one in seen]

    def note(self, action: Action, verdict: Verdict | str) -> None:
        """Write the verifier's verdict to the step that proposed an action."""
        if (step := self.shared.step_of(action)) is not None:
            step.verdict = verdict

    async def control(self, name: str, /, **arguments: Any) -> Observation:
        """Use a control of the offer, or a tool as one. Raises ConfigError, ToolError."""
        used = self.offer.controls.get(name) or self.offer.tools.get(name)
        if used is None:
            have = ", ".join(self.offer.controls) or "none"
            raise ConfigError(f"the agent needs the control {name!r}; this toolset and condition have {have}")
        if used.effect == "external":
            self.shared.fork.refuse_control(self.name, name)
        call = ToolCall("control", name, orjson.dumps(arguments).decode())
        context = Context(self.offer.state, self.problem, self, call, self.name)
        observation = await apply(used, context, arguments)
        if self._last is not None and observation.data:
            # The text of a control reaches the model in prompts, which are recorded; its facts only here.
            facts = Observation("", observation.data)
            self._last.observed.append(Observed(ToolCall("control", name, ""), facts, control=True))
        return observation

    def instructions(self, closing: bool = False) -> str:
        """How to act in the experiment's grammar, with the cards of the tools; ``closing``: only how to end."""
        if (key := (closing, len(self.offer.tools))) not in self._instructions:
            text, note = self.shared.parts.grammar.instructions(self._shown(closing)), self.offer.note
            self._instructions[key] = f"{note}\n\n{text}" if note else text
        return self._instructions[key]

    def _shown(self, closing: bool) -> Offer:
        return replace(self.offer, tools={}) if closing else self.offer

    def parse(self, message: Message) -> Action:
        """Read a message; an unreadable one is an action with ``error``."""
        try:
            return self.shared.parts.grammar.parse(message, self.offer)
        except ActionError as error:
            return Action(message, error=error.label, error_text=str(error))

    def lines(self, names: Sequence[str], sampling: Sampling | None = None) -> "Sequence[Episode]":
        """Branches that work at once, each with fresh tools and a share of what is left. Raises LimitReached."""
        shares = self.attempt.shares(len(names))
        return [self.branch(name, "fresh", sampling, None, one) for name, one in zip(names, shares, strict=True)]

    async def run_separately(self, agent: Agent) -> Trajectory:
        """The trajectory of another agent on this sample in a separate episode, not charged here."""
        shared, trajectory = self.shared, Trajectory()
        parts = replace(shared.parts, agent=agent)
        await solve(Shared(parts, shared.door, shared.sample, shared.epoch, trajectory))
        shared.door.separate_calls += len(trajectory.steps)
        return trajectory

    async def correct(self, outcome: Answer | Refusal | Failure) -> bool:
        """Whether an outcome is right: only for agents with a true ``oracle``, which results name."""
        trial, scorers = replace(self.trajectory), self.shared.parts.scorers
        record_outcome(trial, outcome)
        return deciding_value(scorers, await score_all(scorers, self.shared.sample, trial)) == 1.0

    def remark(self, **facts: Any) -> None:
        """Write facts to the newest step of this branch."""
        if self._last is not None:
            self._last.remarks.update(facts)


class Proposals:
    """Proposals of the next action, for a verifier (see ``components.core.protocols.Propose``)."""

    def __init__(self, episode: Episode, messages: Sequence[Message], sampling: Sampling | None) -> None:
        self._episode, self._messages, self._sampling = episode, messages, sampling

    def __call__(self, sampling: Sampling | None = None) -> Coroutine[Any, Any, Action]:
        """One more proposal."""
        self._episode.attempt.admit()
        return self._ask(sampling)

    async def at_once(self, n: int, sampling: Sampling | None = None) -> list[Action]:
        """``n`` proposals together: the budget has room for all or none is asked, and all are completed."""
        self._episode.attempt.admit(n)
        return await gather_all(self._ask(sampling) for _ in range(n))

    def _ask(self, sampling: Sampling | None) -> Coroutine[Any, Any, Action]:
        sampling = sampling if self._sampling is None else self._sampling.merged(sampling)
        return self._episode.suggest(self._messages, sampling, "main", "act", admitted=True)
