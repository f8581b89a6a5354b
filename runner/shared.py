"""What the branches of one episode share: its record, what it spent, and what it opened."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from components.errors import LimitReached
from components.types import Action, Answer, Failure, Observed, Offer, Refusal, Sample, Step, Trajectory
from runner.budget import Spent
from runner.door import Door
from runner.ending import deciding, ended, scored

if TYPE_CHECKING:
    from runner.play import Parts

T = TypeVar("T")


@dataclass
class Shared:
    """``order`` sorts steps independently of arrival; ``tried``: what a candidate of pure tools gave, which is
    not run again when it is committed."""

    parts: Parts
    door: Door
    sample: Sample
    epoch: int
    trajectory: Trajectory
    spent: Spent = field(default_factory=Spent)
    order: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    externals: dict[str, int] = field(default_factory=dict)
    offers: list[Offer] = field(default_factory=list)
    tried: dict[int, list[Observed]] = field(default_factory=dict)
    closed: bool = False

    def step_of(self, action: Action) -> Step | None:
        """The step that proposed an action, whatever was asked since."""
        return next((step for step in reversed(self.trajectory.steps) if step.action is action), None)

    def note(self, action: Action, verdict: str) -> None:
        """Write a verdict to the step that proposed an action."""
        if (step := self.step_of(action)) is not None:
            step.verdict = verdict

    def open(self) -> Offer:
        """What the sample offers, with a fresh state."""
        self.offers.append(self.parts.open(self.sample, self.epoch, self.door.run_seed))
        return self.offers[-1]

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
        return deciding(self.parts, await scored(self.parts, self.sample, trial)) == 1.0
