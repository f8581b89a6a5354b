"""The only door: whatever an agent does to the world is recorded, charged and verified here."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from random import Random
from typing import TYPE_CHECKING, Any, Literal

from components.core.concurrency import together
from components.core.errors import ActionError
from components.core.messages import Message, Purpose, Request, Sampling, ToolCall, ToolSpec
from components.core.task_text import written_out
from components.core.types import (
    Action,
    Answer,
    Failure,
    Observation,
    Observed,
    Offer,
    Problem,
    Refusal,
    Step,
    Trajectory,
    Verdict,
)
from runner.attempt import Attempt
from runner.calls import run_calls, try_calls, use_control
from runner.door import check_whole, common_prefix, counted, place_of, seed_of
from runner.play import play_beside
from runner.proposing import Proposing

if TYPE_CHECKING:
    from components.core.protocols import Agent, Memory
    from runner.shared import Shared


class Episode:
    """One attempt at one sample, or a branch of it (see ``components.core.protocols.Episode``)."""

    def __init__(
        self,
        shared: Shared,
        offer: Offer,
        name: str = "main",
        place: tuple[Any, ...] = (),
        sampling: Sampling | None = None,
        role: str | None = None,
        attempt: Attempt | None = None,
    ) -> None:
        self.offer, self.name = offer, name
        self.attempt = attempt or Attempt(shared.parts.budget, shared.spent)
        self.shared, self._place, self._sampling, self._role = shared, place, sampling, role
        self._counts: dict[bytes, int] = {}
        self._previous: tuple[Message, ...] = ()
        self._branches: dict[str, Episode] = {}
        self._last: Step | None = None
        self._proposed: list[Step] = []
        self._n, self._closing = 0, False
        self._instructions: dict[tuple[bool, int], str] = {}

    @property
    def problem(self) -> Problem:
        """What the agent may see of the sample."""
        return self.shared.sample.problem

    @property
    def trajectory(self) -> Trajectory:
        """All steps so far."""
        return self.shared.trajectory

    @property
    def last(self) -> Step:
        """The newest committed step of this branch."""
        assert self._last is not None, "no step yet"
        return self._last

    @cached_property
    def rng(self) -> Random:
        """Random numbers of (seed, sample, epoch, branch), independent of everything else."""
        shared = self.shared
        return Random(f"{shared.door.run_seed}/{self.problem.id}/{shared.epoch}/{self.name}/agent")

    @property
    def memory(self) -> Memory | None:
        """What was learnt before the evaluation."""
        return self.shared.memory

    @property
    def sees_images(self) -> bool:
        """Whether the model takes images."""
        return self.takes_images(self._role or "main")

    def takes_images(self, role: str) -> bool:
        """Whether the model of a role does."""
        return getattr(self.shared.door.model(role)[1], "vision", True) is not False

    def instructions(self, closing: bool = False) -> str:
        """How to act in the experiment's grammar, with the cards of the tools; ``closing``: how to end only."""
        if (key := (closing, len(self.offer.tools))) not in self._instructions:
            self._instructions[key] = self.shared.parts.grammar.instructions(self._shown(closing))
        return self._instructions[key]

    def _shown(self, closing: bool) -> Offer:
        return replace(self.offer, tools={}) if closing else self.offer

    def parse(self, message: Message) -> Action:
        """Read a message; an unreadable one is an action with ``error``."""
        try:
            return self.shared.parts.grammar.parse(message, self.offer)
        except ActionError as error:
            return Action(message, error=error.label, error_text=str(error))

    async def act(self, messages: Sequence[Message], sampling: Sampling | None = None, closing: bool = False) -> Action:
        """Ask for an action and have it verified. Raises LimitReached, ModelError."""
        shared = self.shared
        self.attempt.act(shared.parts.budget.steps)
        self._closing, self._proposed = closing, []
        proposing = Proposing(self, messages, sampling or Sampling())
        chosen = await shared.parts.verifier.choose(messages, proposing, self)
        for step in self._proposed:
            step.committed = step.action is chosen
            self._last = step if step.committed else self._last
        return chosen

    async def suggest(
        self, messages: Sequence[Message], sampling: Sampling | None = None, role: str = "verifier",
        purpose: Purpose = "verify", admitted: bool = False,
    ) -> Action:  # fmt: skip
        """Ask for an action that may take a proposal's place. Raises LimitReached, ModelError."""
        specs = self.shared.parts.grammar.specs(self._shown(self._closing))
        step = await self._call(messages, purpose, sampling, role, specs, admitted)
        action = self.parse(step.reply)
        step.action = written_out(action) if purpose == "verify" else action
        self._proposed.append(step)
        return step.action

    async def ask(
        self, messages: Sequence[Message], purpose: Purpose, sampling: Sampling | None = None, role: str = "main"
    ) -> Message:
        """Ask without verification. Raises LimitReached, ModelError."""
        return (await self._call(messages, purpose, sampling, role)).reply

    async def ask_each(
        self, asks: Mapping[str, Sequence[Message]], purpose: Purpose, sampling: Sampling | None = None
    ) -> list[Message]:
        """Ask on branches at once; the budget has room for all or none is asked."""
        self.attempt.admit(len(asks))
        calls = (self.branch(name)._call(one, purpose, sampling, "main", admitted=True) for name, one in asks.items())
        return [step.reply for step in await together(calls)]

    def lines(self, names: Sequence[str], sampling: Sampling | None = None) -> Sequence[Episode]:
        """Branches that work at once, each with fresh tools and a share of what is left. Raises LimitReached."""
        shares = self.attempt.shares(len(names))
        return [self.branch(name, "fresh", sampling, None, one) for name, one in zip(names, shares, strict=True)]

    def remark(self, **facts: Any) -> None:
        """Write facts to the newest step of this branch."""
        if self._last is not None:
            self._last.remarks.update(facts)

    async def beside(self, agent: Agent) -> Trajectory:
        """What another agent does on this sample, not charged here."""
        return await play_beside(self.shared, agent)

    async def _call(
        self, messages: Sequence[Message], purpose: Purpose, sampling: Sampling | None, role: str,
        tools: tuple[ToolSpec, ...] = (), admitted: bool = False,
    ) -> Step:  # fmt: skip
        """One model call: place it, charge it, record it. What is asked about the agent (judge) is not its own."""
        shared, door, charged = self.shared, self.shared.door, purpose != "judge"
        if shared.closed:  # the episode ended while this branch was still at work
            raise asyncio.CancelledError
        if charged and not admitted:
            self.attempt.admit()
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
        try:
            call = door.call(role, request, door.key(model, digest, request, place), n)
            completion, replayed = await shared.within(call)
        finally:
            self.attempt.pend(-charged)
        if charged:
            self.attempt.charge(completion.usage)
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
        check_whole(completion)
        return step

    async def observe(self, action: Action) -> list[Message]:
        """Run the action's calls; an unreadable action is answered with what was wrong."""
        render = self.shared.parts.grammar.render
        if action.error is not None:
            text = f"Your reply could not be read: {action.error_text}."
            calls = action.message.tool_calls or (ToolCall("call", "", ""),)
            return [render(call, Observation(text)) for call in calls]
        step = self.shared.step_of(action) or self._last
        n = -1 if step is None else step.index
        seen = self.shared.tried.pop(id(action), None) or await run_calls(self, n, action.calls, self.offer)
        if step is not None:
            step.observed += seen
        return [render(one.call, one.observation) for one in seen]

    async def try_(self, action: Action) -> list[Observation] | None:
        """Run the action on a fork of the offer; None when one of its tools cannot be tried."""
        return await try_calls(self, action)

    def note(self, action: Action, verdict: Verdict | str) -> None:
        """Write the verifier's verdict to the step that proposed an action."""
        self.shared.note(action, verdict)

    async def correct(self, outcome: Answer | Refusal | Failure) -> bool:
        """Whether an outcome is right: only for agents that the results name as told so."""
        return await self.shared.correct(outcome)

    async def control(self, name: str, /, **arguments: Any) -> Observation:
        """Use a control of the offer, or a tool as one. Raises ToolError."""
        observation = await use_control(self, name, arguments)
        if self._last is not None and observation.data:
            # What a control says reaches the model in prompts, which are recorded; its facts only here.
            seen = Observed(ToolCall("control", name, ""), Observation("", observation.data), control=True)
            self._last.observed.append(seen)
        return observation

    def branch(
        self, name: str, tools: Literal["shared", "fresh"] = "shared", sampling: Sampling | None = None,
        role: str | None = None, attempt: Attempt | None = None,
    ) -> Episode:  # fmt: skip
        """The branch of this name, made on first use."""
        if name not in self._branches:
            shared = self.shared
            offer = shared.open(None if attempt else self.name) if tools == "fresh" else self.offer
            full = name if self.name == "main" else f"{self.name}/{name}"
            place = (*self._place, (self._n, 0, counted(name)))
            merged = sampling if self._sampling is None else self._sampling.merged(sampling)
            attempt = attempt or (self.attempt if tools == "shared" else self.attempt.fresh())
            self._branches[name] = Episode(shared, offer, full, place, merged, role or self._role, attempt)
        return self._branches[name]
