"""What the branches of one episode share: its record, what it spent, and what it opened."""

import asyncio
import time
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, TypeVar

from components.core.errors import LimitReached
from components.core.learning import task_of
from components.core.protocols import Agent, ByTask, Condition, Grammar, Memory, Scorer, Toolset, Verifier
from components.core.tools import Offer, Tool
from components.core.traits import requirements_of
from components.core.types import Action, Answer, Failure, Observed, Refusal, Sample, Step, Trajectory, Verdict
from runner.episode.budget import Budget, Spent
from runner.episode.door import Door, counted
from runner.episode.ending import deciding, ended, scored

T = TypeVar("T")


@dataclass(frozen=True)
class Parts:
    """The parts of an experiment that an episode plays with."""

    agent: Agent
    verifier: Verifier
    grammar: Grammar
    toolset: Toolset
    condition: Condition
    scorers: Mapping[str, Scorer] = field(default_factory=dict)
    budget: Budget = field(default_factory=Budget)
    memory: Memory | None = None

    def open(self, sample: Sample, epoch: int, seed: int) -> Offer:
        """What this sample offers under the condition; the same on every call."""
        rng = Random(f"{seed}/{sample.problem.id}/{epoch}/condition")
        offer = self.condition.offer(self.toolset.open(sample), sample, rng)
        agent = requirements_of(self.agent)
        own = {tool.spec.name: tool for tool in agent.tools}
        if agent.only_own_tools:
            offer = replace(offer, tools=own)
        elif own:
            offer = replace(offer, tools={**own, **offer.tools})
        return replace(offer, facts={**offer.facts, **agent.facts}) if agent.facts else offer


@dataclass
class Shared:
    """``order`` sorts steps independently of arrival; ``tried``: what a candidate of pure tools gave, which is
    not run again when it is committed; ``joined``: the tools that were added, and on which branch."""

    parts: Parts
    door: Door
    sample: Sample
    epoch: int
    trajectory: Trajectory
    spent: Spent = field(default_factory=Spent)
    order: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    externals: dict[str, int] = field(default_factory=dict)
    offers: list[Offer] = field(default_factory=list)
    joined: list[tuple[str, Tool]] = field(default_factory=list)
    tried: dict[int, list[Observed]] = field(default_factory=dict)
    closed: bool = False

    @property
    def memory(self) -> Memory | None:
        """What was learnt before the evaluation: for the sample's own task, where the memory has parts for tasks."""
        memory = self.parts.memory
        return memory.for_task(task_of(self.sample)) if isinstance(memory, ByTask) else memory

    def step_of(self, action: Action) -> Step | None:
        """The step that proposed an action, whatever was asked since."""
        return next((step for step in reversed(self.trajectory.steps) if step.action is action), None)

    def note(self, action: Action, verdict: Verdict | str) -> None:
        """Write a verdict to the step that proposed an action."""
        if (step := self.step_of(action)) is not None:
            step.verdict = verdict

    def open(self, line: str | None = None) -> Offer:
        """What the sample offers, with a fresh state; also what was added on a branch, or below it, that goes on so."""
        offer = self.parts.open(self.sample, self.epoch, self.door.run_seed)
        kept = {tool.spec.name: tool for branch, tool in self.joined if line is not None and _is_below(branch, line)}
        self.offers.append(replace(offer, tools={**offer.tools, **kept}) if kept else offer)
        return self.offers[-1]

    def join(self, branch: str, tool: Tool) -> None:
        """One more tool stands in the trajectory, in an order that arrival does not change; of one name the first."""
        ours = {one.spec.name for _, one in self.joined}
        offered = {spec.name: spec for spec in self.trajectory.offered if spec.name not in ours}
        self.joined.append((branch, tool))
        self.joined.sort(key=lambda one: counted(one[0]))
        for _, one in self.joined:
            offered.setdefault(one.spec.name, one.spec)
        self.trajectory.offered = tuple(offered.values())

    def close(self) -> None:
        """The episode is over: steps in an order that does not depend on arrival, states let go of."""
        self.closed = True
        self.trajectory.steps.sort(key=lambda step: self.order[id(step)])
        for offer in self.offers:
            offer.state.close()

    async def within(self, call: Awaitable[T]) -> T:
        """Await a call inside the sample's time limit. Raises LimitReached."""
        limit = self.parts.budget.seconds
        if limit is None:
            return await call
        left = limit - (time.monotonic() - self.spent.started)
        try:
            async with asyncio.timeout(max(left, 0)):
                return await call
        except TimeoutError:
            raise LimitReached(f"budget.sample.seconds={limit}") from None

    async def correct(self, outcome: Answer | Refusal | Failure) -> bool:
        """Whether the score that decides is at its best, as if the episode ended with an outcome."""
        trial = replace(self.trajectory)
        ended(trial, outcome)
        scorers = self.parts.scorers
        return deciding(scorers, await scored(scorers, self.sample, trial)) == 1.0


def _is_below(branch: str, line: str) -> bool:
    """Whether a branch is a line or below it; all are below the main one."""
    return line == "main" or f"{branch}/".startswith(f"{line}/")
