"""What may be spent, what was, and how the jobs of a sweep share it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from components.messages import Usage


@dataclass
class Budget:
    """Limits; None = none. ``calls`` are model calls, ``steps`` actions of one attempt, money in US dollars."""

    usd: float | None = None
    tokens: int | None = None
    calls: int | None = None
    steps: int | None = None
    seconds: float | None = None


@dataclass
class Spent:
    """What was charged so far. ``pending`` calls are on their way, ``unpriced`` ones have no known price."""

    usd: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    calls: int = 0
    pending: int = 0
    unpriced: int = 0
    started: float = field(default_factory=time.monotonic)

    @property
    def tokens(self) -> int:
        """Input and output."""
        return self.input_tokens + self.output_tokens

    def charge(self, usage: Usage) -> None:
        """Add one call."""
        self.calls += 1
        self.input_tokens += usage.input_tokens or 0
        self.output_tokens += usage.output_tokens or 0
        if usage.cost_usd is None:
            self.unpriced += 1
        else:
            self.usd += usage.cost_usd

    def exceeded(self, budget: Budget, more: int = 1) -> str | None:
        """The first limit that leaves no room for one or ``more`` calls, or None."""
        if budget.calls is not None and self.calls + self.pending + more > budget.calls:
            return f"calls={budget.calls}"
        if budget.tokens is not None and self.tokens >= budget.tokens:
            return f"tokens={budget.tokens}"
        if budget.usd is not None and self.usd >= budget.usd:
            return f"usd={budget.usd:g}"
        if budget.seconds is not None and time.monotonic() - self.started >= budget.seconds:
            return f"seconds={budget.seconds}"
        return None


@dataclass
class Purse:
    """The budget of all jobs of a process. Each may take an equal part of what the finished ones have left, and no
    job begins a call that the calls on their way, at the mean price so far, leave no room for."""

    budget: Budget
    jobs: int = 1
    total: Spent = field(default_factory=Spent)
    _over: Spent = field(default_factory=Spent, init=False)  # what finished jobs took
    _finished: int = field(default=0, init=False)

    def limit(self, spent: Spent) -> str | None:
        """Which limit leaves a job, that has ``spent`` so far, no room for one more call; None: there is room."""
        if whole := self._expected(self.total).exceeded(self.budget):
            return whole
        left = self.jobs - self._finished
        if left < 2:
            return None
        budget, over = self.budget, self._over
        part = Budget(
            usd=None if budget.usd is None else (budget.usd - over.usd) / left,
            tokens=None if budget.tokens is None else (budget.tokens - over.tokens) // left,
            calls=None if budget.calls is None else (budget.calls - over.calls) // left,
        )
        part_of = self._expected(spent).exceeded(part)
        return part_of and f"{part_of} (this job's part of the sweep's budget)"

    def finish(self, spent: Spent) -> None:
        """A job is over: what it left is the others'."""
        self._finished += 1
        self._over.usd += spent.usd
        self._over.calls += spent.calls
        self._over.input_tokens += spent.input_tokens
        self._over.output_tokens += spent.output_tokens

    @staticmethod
    def _expected(spent: Spent) -> Spent:
        """With the calls on their way, each at the mean of those that came back."""
        if not (spent.pending and spent.calls):
            return spent
        share = 1 + spent.pending / spent.calls
        return Spent(
            spent.usd * share, int(spent.input_tokens * share), int(spent.output_tokens * share), spent.calls,
            spent.pending, spent.unpriced, spent.started,
        )  # fmt: skip
