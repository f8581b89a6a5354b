"""The state of an episode: the parts it runs with, what its branches share, and a branch with its calls of models."""

import asyncio
import time
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from random import Random
from typing import Any, Literal, Self, TypeVar

from components.core.cached import cached_property
from components.core.concurrency import gather_all
from components.core.errors import CUT_OFF, OVERFLOW, LimitReached, ModelError
from components.core.learning import task_of
from components.core.messages import NO_TOOLS, Message, Purpose, Request, Sampling, ToolSpecs
from components.core.protocols import Agent, Condition, Grammar, Memory, Scorer, Toolset, Verifier
from components.core.tools import Offer, Tool
from components.core.traits import MemoryTraits, ModelTraits, Requirements, declared
from components.core.types import Action, Observed, Problem, Sample, Step, Trajectory, Turn
from runner.episode.budget import Attempt, Budget, Spent
from runner.episode.confidence import ENDINGS, LOGPROBS, Confidence, take_line, with_request
from runner.episode.door import Door, padded
from runner.episode.prefix import FREE, UNFORKED, Unforked, repeat
from runner.storage.replay_miss import n_common

T = TypeVar("T")


@dataclass(frozen=True)
class Parts:
    """The parts of an experiment that an episode runs with."""

    agent: Agent
    verifier: Verifier
    grammar: Grammar
    toolset: Toolset
    condition: Condition
    scorers: Mapping[str, Scorer] = field(default_factory=dict)
    budget: Budget = field(default_factory=Budget)
    memory: Memory | None = None
    confidence: Confidence | None = None

    @cached_property
    def required(self) -> Requirements:
        """What the agent declares."""
        return declared(self.agent, Requirements)

    def open(self, sample: Sample, epoch: int, seed: int) -> Offer:
        """What this sample offers under the condition; the same on every call."""
        rng = Random(f"{seed}/{sample.problem.id}/{epoch}/condition")
        offer = self.condition.offer(self.toolset.open(sample), sample, rng)
        agent = self.required
        if agent.tools or agent.only_own_tools:
            own = {tool.spec.name: tool for tool in agent.tools}
            offer = replace(offer, tools=own if agent.only_own_tools else {**own, **offer.tools})
        return replace(offer, facts={**offer.facts, **agent.facts}) if agent.facts else offer


@dataclass
class Shared:
    """What all branches share. ``order`` sorts steps independently of arrival; ``tried``: observations of a candidate
    of pure tools, which is not run again when it is committed; ``added``: branch and tool; ``fork``: the recorded
    beginning of an episode that is continued in another way."""

    parts: Parts
    door: Door
    sample: Sample
    epoch: int
    trajectory: Trajectory
    spent: Spent = field(default_factory=Spent)
    order: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    externals: dict[str, int] = field(default_factory=dict)
    offers: list[Offer] = field(default_factory=list)
    added: list[tuple[str, Tool]] = field(default_factory=list)
    tried: dict[int, list[Observed]] = field(default_factory=dict)
    fork: Unforked = UNFORKED
    closed: bool = False

    def step_of(self, action: Action) -> Step | None:
        """The step that proposed an action, whatever was asked since."""
        for step in reversed(self.trajectory.steps):
            if step.action is action:
                return step
        return None

    def open(self, above: str | None = None) -> Offer:
        """What the sample offers, with a fresh state, and the tools added on a branch ``above`` or below it."""
        offer = self.parts.open(self.sample, self.epoch, self.door.run_seed)
        if above is not None:
            added = {tool.spec.name: tool for name, tool in self.added
                     if above == "main" or f"{name}/".startswith(f"{above}/")}  # fmt: skip
            offer = replace(offer, tools={**offer.tools, **added}) if added else offer
        self.offers.append(offer)
        return offer

    def add(self, branch: str, tool: Tool) -> None:
        """Add a tool to the trajectory, in an order that does not depend on arrival; of one name the first."""
        names = {one.spec.name for _, one in self.added}
        offered = {spec.name: spec for spec in self.trajectory.offered if spec.name not in names}
        self.added.append((branch, tool))
        self.added.sort(key=lambda one: padded(one[0]))
        for _, one in self.added:
            offered.setdefault(one.spec.name, one.spec)
        self.trajectory.offered = tuple(offered.values())

    def close(self) -> None:
        """Sort the steps in an order that does not depend on arrival, and close states."""
        self.closed = True
        self.trajectory.steps.sort(key=lambda step: self.order[id(step)])
        for offer in self.offers:
            offer.state.close()

    async def within(self, call: Awaitable[T]) -> T:
        """Await a call inside the sample's time limit, where it has one. Raises LimitReached."""
        if (limit := self.parts.budget.seconds) is None:
            return await call
        try:
            async with asyncio.timeout(max(limit - (time.monotonic() - self.spent.started), 0)):
                return await call
        except TimeoutError:
            raise LimitReached(f"budget.sample.seconds={limit}") from None


class Branch:
    """The episode itself (``main``) or a branch of it: asks models through the door, records and charges every call."""

    def __init__(
        self, shared: Shared, offer: Offer, name: str = "main", place: tuple[Any, ...] = (),
        sampling: Sampling | None = None, role: str | None = None, attempt: Attempt | None = None,
    ) -> None:  # fmt: skip
        self.offer, self.name = offer, name
        self.past: Sequence[Turn] = ()  # of an agent that another one left the episode to
        self.attempt = attempt or Attempt(shared.parts.budget, shared.spent)
        self.shared, self._place, self._sampling, self._role = shared, place, sampling, role
        self._counts: dict[bytes, int] = {}
        self._previous: list[bytes] = []
        self._branches: dict[str, Self] = {}
        self._last: Step | None = None
        self._n = 0
        self._proposed: list[Step] = []  # by the present ``act``
        self._closing = False
        self._functions: ToolSpecs | None = None  # of a program, in place of the grammar's
        self.early: list[Observed] = []  # of calls before the first step
        self._calling = asyncio.Lock()  # for whoever acts from outside
        self._instructions: dict[tuple[bool, int], str] = {}  # (closing, number of tools) -> text
        self._specs: dict[tuple[bool, int], ToolSpecs] = {}

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
        """The memory learnt before the evaluation: the part for the sample's task, if there is one."""
        memory = self.shared.parts.memory
        if memory is None:
            return None
        return declared(memory, MemoryTraits).tasks.get(task_of(self.shared.sample), memory)

    @property
    def sees_images(self) -> bool:
        """Whether the model takes images."""
        return self.takes_images(self._role or "main")

    @property
    def model_name(self) -> str:
        """The name of the model that it asks."""
        return self.shared.door.model(self._role or "main")[1].name

    def takes_images(self, role: str) -> bool:
        """Whether the model of a role takes images."""
        return declared(self.shared.door.model(role)[1], ModelTraits).vision

    async def ask(
        self, messages: Sequence[Message], purpose: Purpose, sampling: Sampling | None = None, role: str = "main"
    ) -> Message:
        """Ask without verification. Raises LimitReached, ModelError."""
        self.shared.fork.decide(self.name, self._n, purpose)
        states = self.shared.parts.confidence == "verbal" and role == "main" and purpose in ENDINGS
        step = await self._call(with_request(messages) if states else messages, purpose, sampling, role)
        return take_line(step) if states else step.reply

    async def ask_each(
        self, asks: Mapping[str, Sequence[Message]], purpose: Purpose, sampling: Sampling | None = None
    ) -> list[Message]:
        """Ask on branches at once; the budget has room for all or none is asked."""
        self.attempt.admit(len(asks))
        lines = [self.branch(name) for name in asks]
        for line in lines:
            self.shared.fork.decide(line.name, line._n, purpose)
        each = zip(lines, asks.values(), strict=True)
        calls = (line._call(one, purpose, sampling, "main", admitted=True) for line, one in each)
        return [step.reply for step in await gather_all(calls)]

    async def _call(
        self, messages: Sequence[Message], purpose: Purpose, sampling: Sampling | None, role: str,
        tools: ToolSpecs = NO_TOOLS, admitted: bool = False,
    ) -> Step:  # fmt: skip
        """One model call: locate it, charge it, record it. What is asked about the agent (judge) is not charged."""
        shared, charged = self.shared, purpose != "judge"
        door, sample_id = shared.door, shared.sample.problem.id
        if shared.closed:  # the episode ended while this branch was still at work
            raise asyncio.CancelledError
        recorded, messages = shared.fork.reply_to(self.name, self._n, purpose, tuple(messages))
        if charged and not admitted:
            self.attempt.admit()
        role, model = door.model(self._role if self._role and role == "main" else role)
        merged = model.sampling.merged(self._sampling).merged(sampling)
        if shared.parts.confidence == "logprobs" and purpose in ENDINGS:
            merged = merged.merged(LOGPROBS)
        tail = merged.wire + b"\0" + tools.digests
        digests = [message.digest for message in messages]
        digest = door.digest(role, tail, digests)
        occurrence = self._counts.get(digest, 0)
        self._counts[digest] = occurrence + 1
        place = f"{door.run_seed}\0{sample_id}\0{shared.epoch}\0{self.name}\0{occurrence}".encode()
        place += shared.fork.place_in_seeds
        seed = int.from_bytes(sha256(place).digest()[:4], "little") & 0x7FFFFFFF
        request = Request(messages, tools, merged, purpose, role, sample_id, shared.epoch, self.name, occurrence, seed)
        n, self._n = self._n, self._n + 1
        kept, self._previous = n_common(self._previous, digests), digests
        started, clock = time.time(), time.monotonic()
        try:
            key = door.key(model, digest, request, place)
            call = door.call(role, request, key, n) if recorded is None else repeat(recorded)
            completion, replayed = await shared.within(call)
        finally:
            self.attempt.pend(-charged)
        if charged:
            self.attempt.charge(completion.usage)
        if shared.closed:
            raise asyncio.CancelledError
        usage = completion.usage if recorded is None else FREE
        return self._add(Step(
            purpose, role, self.name, n, kept, messages[kept:], completion.message, usage,
            completion.finish, started, time.monotonic() - clock, replayed, logprobs=completion.logprobs,
        ))  # fmt: skip

    def _add(self, step: Step) -> Step:
        """Put a step into the trajectory. Raises ModelError for one whose reply was cut off."""
        self.shared.trajectory.steps.append(step)
        self.shared.order[id(step)] = (*self._place, (step.index, 1, ""))
        if step.purpose != "tool":  # a tool's own question belongs to the step that called the tool
            self._last = step
            if self.early:
                step.observed, self.early = self.early, []
        if step.finish == CUT_OFF:
            text = f"the reply was cut off at the end of the context window (finish reason {CUT_OFF!r})"
            raise ModelError(text, OVERFLOW)
        return step

    def continue_from(self, other: "Branch") -> None:
        """Count calls on from where another one is, which makes none any more."""
        self._n, self._counts, self._previous = other._n, other._counts, other._previous

    def branch(
        self, name: str, tools: Literal["shared", "fresh"] = "shared", sampling: Sampling | None = None,
        role: str | None = None, attempt: Attempt | None = None,
    ) -> Self:  # fmt: skip
        """The branch of this name, made on first use."""
        if name not in self._branches:
            shared = self.shared
            offer = shared.open(None if attempt else self.name) if tools == "fresh" else self.offer
            full = name if self.name == "main" else f"{self.name}/{name}"
            place = (*self._place, (self._n, 0, padded(name)))
            merged = sampling if self._sampling is None else self._sampling.merged(sampling)
            attempt = attempt or (self.attempt if tools == "shared" else self.attempt.fresh())
            self._branches[name] = type(self)(shared, offer, full, place, merged, role or self._role, attempt)
        return self._branches[name]
