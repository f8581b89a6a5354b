"""The only door: whatever an agent does to the world is recorded, charged and verified here."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any, Literal

from components.errors import ActionError, ConfigError, LimitReached
from components.messages import Message, Purpose, Request, Sampling, ToolCall, ToolSpec
from components.types import Action, Observation, Observed, Offer, Problem, Sample, Step, Trajectory
from runner.calls import Context, apply, run_calls
from runner.door import Door, Spent, common_prefix, place_of, seed_of

if TYPE_CHECKING:
    from runner.play import Parts


@dataclass
class Shared:
    """What the branches of one episode have in common; ``order`` sorts steps independently of arrival."""

    parts: Parts
    door: Door
    sample: Sample
    epoch: int
    trajectory: Trajectory
    spent: Spent = field(default_factory=Spent)
    order: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    externals: dict[str, int] = field(default_factory=dict)
    closed: bool = False


class Episode:
    """One attempt at one sample, or a branch of it (see ``components.protocols.Episode``)."""

    def __init__(
        self,
        shared: Shared,
        offer: Offer,
        name: str = "main",
        place: tuple[Any, ...] = (),
        sampling: Sampling | None = None,
        role: str | None = None,
    ) -> None:
        self.offer, self.name = offer, name
        self.shared, self._place, self._sampling, self._role = shared, place, sampling, role
        self._counts: dict[bytes, int] = {}
        self._previous: tuple[Message, ...] = ()
        self._n = 0
        self._branches: dict[str, Episode] = {}
        self._last: Step | None = None
        self._instructions: str | None = None
        self._rng: Random | None = None

    @property
    def problem(self) -> Problem:
        """What the agent may see of the sample."""
        return self.shared.sample.problem

    @property
    def trajectory(self) -> Trajectory:
        """Everything recorded so far."""
        return self.shared.trajectory

    @property
    def last(self) -> Step:
        """The newest committed step of this branch."""
        assert self._last is not None, "no step yet"
        return self._last

    @property
    def rng(self) -> Random:
        """Random numbers of (seed, sample, epoch, branch), independent of everything else."""
        if self._rng is None:
            shared = self.shared
            self._rng = Random(f"{shared.door.run_seed}/{self.problem.id}/{shared.epoch}/{self.name}/agent")
        return self._rng

    @property
    def instructions(self) -> str:
        """How to act in the experiment's grammar, with the cards of the tools."""
        if self._instructions is None:
            self._instructions = self.shared.parts.grammar.instructions(self.offer)
        return self._instructions

    def parse(self, message: Message) -> Action:
        """Read a message; an unreadable one is an action with ``error``."""
        try:
            return self.shared.parts.grammar.parse(message, self.offer)
        except ActionError as error:
            return Action(message, error=error.label, error_text=str(error))

    async def act(self, messages: Sequence[Message], sampling: Sampling | None = None) -> Action:
        """Ask for an action and have it verified. Raises LimitReached, ModelError."""
        shared = self.shared
        limit = shared.parts.budget.steps
        if limit is not None and shared.spent.steps >= limit:
            raise LimitReached(f"budget.sample.steps={limit}")
        shared.spent.steps += 1
        proposed: list[Step] = []

        async def propose() -> Action:
            specs = shared.parts.grammar.specs(self.offer)
            step = await self._call(messages, "act", sampling, "main", specs)
            step.action = self.parse(step.reply)
            proposed.append(step)
            return step.action

        chosen = await shared.parts.verifier.choose(messages, propose, self)
        for step in proposed:
            step.committed = step.action is chosen
        if not any(step.committed for step in proposed):  # the verifier wrote it itself
            self.last.action, self.last.committed = chosen, True
        else:
            self._last = next(step for step in proposed if step.committed)
        return chosen

    async def ask(
        self, messages: Sequence[Message], purpose: Purpose, sampling: Sampling | None = None, role: str = "main"
    ) -> Message:
        """Ask without verification. Raises LimitReached, ModelError."""
        return (await self._call(messages, purpose, sampling, role)).reply

    async def _call(
        self,
        messages: Sequence[Message],
        purpose: Purpose,
        sampling: Sampling | None,
        role: str,
        tools: tuple[ToolSpec, ...] = (),
    ) -> Step:
        """One model call: place it, charge it, record it."""
        shared, door = self.shared, self.shared.door
        if shared.closed:  # the episode ended while this branch was still at work
            raise asyncio.CancelledError
        if limit := shared.spent.exceeded(shared.parts.budget):
            raise LimitReached(f"budget.sample.{limit}")
        role, model = door.model(self._role if self._role and role == "main" else role)
        messages = tuple(messages)
        merged = model.sampling.merged(self._sampling).merged(sampling)
        tail = merged.wire + b"\0" + b"".join([spec.digest for spec in tools])
        digest = door.digest(role, tail, messages)
        occurrence = self._counts.get(digest, 0)
        self._counts[digest] = occurrence + 1
        place = place_of(door.run_seed, self.problem.id, shared.epoch, self.name, occurrence)
        request = Request(
            messages, tools, merged, purpose, role, self.problem.id, shared.epoch, self.name, occurrence, seed_of(place)
        )
        n, self._n = self._n, self._n + 1
        kept = common_prefix(self._previous, messages)
        self._previous = messages
        started, clock = time.time(), time.monotonic()
        shared.spent.pending += 1
        try:
            call = door.call(role, request, door.key(model, digest, request, place), n)
            completion, replayed = await self._within(call)
        finally:
            shared.spent.pending -= 1
        shared.spent.charge(completion.usage)
        if shared.closed:
            raise asyncio.CancelledError
        step = Step(
            purpose, role, self.name, n, kept, messages[kept:], completion.message, completion.usage,
            completion.finish, started, time.monotonic() - clock, replayed,
        )  # fmt: skip
        shared.trajectory.steps.append(step)
        shared.order[id(step)] = (*self._place, (n, 1, ""))
        if purpose != "tool":  # a tool's own question belongs to the step that called it
            self._last = step
        return step

    async def _within(self, call: Any) -> Any:
        """Await a call inside the sample's time limit."""
        limit = self.shared.parts.budget.seconds
        if limit is None:
            return await call
        left = limit - (time.monotonic() - self.shared.spent.started)
        try:
            async with asyncio.timeout(max(left, 0)):
                return await call
        except TimeoutError:
            raise LimitReached(f"budget.sample.seconds={limit}") from None

    async def observe(self, action: Action) -> list[Message]:
        """Run the action's calls; an unreadable action is answered with what was wrong."""
        render = self.shared.parts.grammar.render
        if action.error is not None:
            text = f"Your reply could not be read: {action.error_text}."
            calls = action.message.tool_calls or (ToolCall("call", "", ""),)
            return [render(call, Observation(text)) for call in calls]
        step = self._step_of(action)
        seen = await run_calls(self, action.calls, self.offer)
        step.observed += seen
        return [render(one.call, one.observation) for one in seen]

    async def try_(self, action: Action) -> list[Message] | None:
        """Run the action on a fork of the offer; None when one of its tools cannot be tried."""
        tools = [self.offer.tools.get(call.name) for call in action.calls]
        if any(tool is not None and tool.effect == "external" for tool in tools):
            return None
        step = self._step_of(action)
        seen = await run_calls(self, action.calls, self.offer.fork())
        step.tried += seen
        return [self.shared.parts.grammar.render(one.call, one.observation) for one in seen]

    def _step_of(self, action: Action) -> Step:
        """The step that proposed an action, whatever was asked since."""
        mine = (step for step in reversed(self.shared.trajectory.steps) if step.action is action)
        return next(mine, None) or self.last

    async def control(self, name: str, **arguments: Any) -> Observation:
        """Use a control of the offer. Raises ToolError."""
        if name not in self.offer.controls:
            have = ", ".join(self.offer.controls) or "none"
            raise ConfigError(f"the agent needs the control {name!r}; this toolset and condition have {have}")
        observation = await apply(self.offer.controls[name], Context(self.offer.state, self.problem, self), arguments)
        if self._last is not None and observation.data:
            # What a control says reaches the model in prompts, which are recorded; its facts only here.
            seen = Observed(ToolCall("control", name, ""), Observation("", observation.data), control=True)
            self._last.observed.append(seen)
        return observation

    def branch(
        self,
        name: str,
        tools: Literal["shared", "fresh"] = "shared",
        sampling: Sampling | None = None,
        role: str | None = None,
    ) -> Episode:
        """The branch of this name, made on first use."""
        if name not in self._branches:
            shared = self.shared
            offer = self.offer
            if tools == "fresh":
                offer = shared.parts.open(shared.sample, shared.epoch, shared.door.run_seed)
            full = name if self.name == "main" else f"{self.name}/{name}"
            place = (*self._place, (self._n, 0, name))
            merged = sampling if self._sampling is None else self._sampling.merged(sampling)
            self._branches[name] = Episode(shared, offer, full, place, merged, role or self._role)
        return self._branches[name]
