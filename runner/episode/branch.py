"""A branch of an episode: asks models through the door, and records and charges every call."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from random import Random
from typing import Any, Literal, Self

from components.core.concurrency import together
from components.core.messages import Message, Purpose, Request, Sampling, ToolSpec
from components.core.protocols import Memory
from components.core.tools import Offer
from components.core.traits import model_traits
from components.core.types import Problem, Step, Trajectory
from runner.episode.budget import Attempt
from runner.episode.door import check_whole, common_prefix, counted, place_of, seed_of
from runner.episode.shared import Shared


class Branch:
    """One line of work on a sample: the episode itself (``main``), or a branch of it."""

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
        self._branches: dict[str, Self] = {}
        self._last: Step | None = None
        self._n = 0
        self._proposed: list[Step] = []
        self._closing = False
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
        """Whether the model of a role takes images."""
        return model_traits(self.shared.door.model(role)[1]).vision

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

    async def _call(
        self, messages: Sequence[Message], purpose: Purpose, sampling: Sampling | None, role: str,
        tools: tuple[ToolSpec, ...] = (), admitted: bool = False,
    ) -> Step:  # fmt: skip
        """One model call: locate it, charge it, record it. What is asked about the agent (judge) is not charged."""
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
        self._record(step)
        check_whole(completion)
        return step

    def _record(self, step: Step) -> None:
        """Add a step to the trajectory; a tool's own question belongs to the step that called the tool."""
        self.shared.trajectory.steps.append(step)
        self.shared.order[id(step)] = (*self._place, (step.index, 1, ""))
        if step.purpose != "tool":
            self._last = step

    def branch(
        self, name: str, tools: Literal["shared", "fresh"] = "shared", sampling: Sampling | None = None,
        role: str | None = None, attempt: Attempt | None = None,
    ) -> Self:  # fmt: skip
        """The branch of this name, made on first use."""
        if name not in self._branches:
            shared = self.shared
            offer = shared.open(None if attempt else self.name) if tools == "fresh" else self.offer
            full = name if self.name == "main" else f"{self.name}/{name}"
            place = (*self._place, (self._n, 0, counted(name)))
            merged = sampling if self._sampling is None else self._sampling.merged(sampling)
            attempt = attempt or (self.attempt if tools == "shared" else self.attempt.fresh())
            self._branches[name] = type(self)(shared, offer, full, place, merged, role or self._role, attempt)
        return self._branches[name]
