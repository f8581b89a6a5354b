"""Budgets and spending of a sample, of an attempt at it, and of the jobs of a sweep."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from components.core.errors import AttemptOver, LimitReached
from components.core.messages import Usage

_UNREPORTED = "replies do not state their number of tokens, so the spending is unknown"
_ROUNDED = 1 + 1e-9  # a sum of prices may be a little more than it is


@dataclass
class Budget:
    """Limits; None = none. ``calls`` are model calls, ``steps`` actions of one attempt, money in US dollars."""

    usd: float | None = None
    tokens: int | None = None
    calls: int | None = None
    steps: int | None = None
    seconds: float | None = None

    def share(self, spent: "Spent", n: int) -> "Budget":
        """An ``n``-th of the money, tokens and calls that are left."""
        return Budget(
            usd=None if self.usd is None else (self.usd - spent.usd) / n,
            tokens=None if self.tokens is None else (self.tokens - int(spent.likely_tokens)) // n,
            calls=None if self.calls is None else (self.calls - spent.calls - spent.pending) // n,
        )


@dataclass
class Spent:
    """The charges so far. Of the calls, ``pending`` are in flight, ``unpriced`` have no known price and ``unreported``
    no known tokens."""

    usd: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    calls: int = 0
    pending: int = 0
    unpriced: int = 0
    unreported: int = 0
    started: float = field(default_factory=time.monotonic)

    @property
    def tokens(self) -> int:
        """Input and output."""
        return self.input_tokens + self.output_tokens

    @property
    def likely_tokens(self) -> float:
        """Input and output, where calls that did not report them took the mean of those that did."""
        reported = self.calls - self.unreported
        return self.tokens * self.calls / reported if reported > 0 else self.tokens

    def charge(self, usage: Usage) -> None:
        """Add one call."""
        sent, received, cost, _, _ = usage
        self.calls += 1
        self.input_tokens += sent or 0
        self.output_tokens += received or 0
        if sent is None or received is None:
            self.unreported += 1
        if cost is None:
            self.unpriced += 1
        else:
            self.usd += cost

    def exceeded(self, budget: Budget, more: int = 1) -> str | None:
        """The first limit that leaves no room for one or ``more`` calls, or None."""
        if budget.calls is not None and self.calls + self.pending + more > budget.calls:
            return f"calls={budget.calls}"
        if budget.tokens is not None and self.calls and self.unreported >= self.calls:
            return f"tokens={budget.tokens} ({_UNREPORTED})"
        if budget.tokens is not None and self.likely_tokens >= budget.tokens:
            return f"tokens={budget.tokens}"
        if budget.usd is not None and self.usd >= budget.usd:
            return f"usd={budget.usd:g}"
        if budget.seconds is not None and time.monotonic() - self.started >= budget.seconds:
            return f"seconds={budget.seconds}"
        return None


@dataclass
class Attempt:
    """The budget of one attempt: a branch with fresh tools, and those that share them. ``budget`` None: that of the
    attempt ``above``. Attempts at once each have an equal share of what is left; it counts for those above them too."""

    budget: Budget | None
    spent: Spent = field(default_factory=Spent)
    above: "Attempt | None" = None
    steps: int = 0
    _accounts: Sequence[Spent] = field(init=False)  # of this attempt and of all above it
    _limits: tuple[Budget, Spent, bool] = field(init=False)  # the budget that counts, its account, whether a share

    def __post_init__(self) -> None:
        above = () if self.above is None else self.above._accounts
        self._accounts = (self.spent, *above)
        if self.budget is not None:
            self._limits = self.budget, self.spent, self.above is not None
        else:
            assert self.above is not None, "the first attempt of a sample has a budget"
            self._limits = self.above._limits

    def act(self, limit: int | None) -> None:
        """Count an action. Raises AttemptOver."""
        if limit is not None and self.steps >= limit:
            raise AttemptOver(f"budget.sample.steps={limit}")
        self.steps += 1

    def admit(self, calls: int = 1) -> None:
        """Reserve room for calls at once. Raises LimitReached; for a share AttemptOver."""
        budget, spent, is_share = self._limits
        if limit := spent.exceeded(budget, calls):
            if is_share:
                raise AttemptOver(f"share of budget.sample.{limit}")
            raise LimitReached(f"budget.sample.{limit}")
        self.pend(calls)

    def pend(self, calls: int) -> None:
        """Add to the calls in flight."""
        for spent in self._accounts:
            spent.pending += calls

    def charge(self, usage: Usage) -> None:
        """Add one call."""
        for spent in self._accounts:
            spent.charge(usage)

    def fresh(self) -> "Attempt":
        """Another attempt with the same budget."""
        return Attempt(None, above=self)

    def shares(self, n: int) -> "list[Attempt]":
        """``n`` attempts at once. Raises LimitReached where there is not one call for each."""
        budget, spent, _ = self._limits
        if limit := spent.exceeded(budget, n):
            raise LimitReached(f"budget.sample.{limit}: no room for {n} attempts at once")
        share = budget.share(spent, n)
        share.tokens = None if share.tokens is None else max(share.tokens, 1)
        return [Attempt(share, above=self) for _ in range(n)]


@dataclass
class BudgetPool:
    """The budget of all jobs of a process. Each may use an equal part of what finished jobs have left, and starts no
    call that, at the mean price and with the calls in flight, would exceed it. ``total``: with the spending of earlier
    starts."""

    budget: Budget
    jobs: int = 1
    total: Spent = field(default_factory=Spent)
    back: asyncio.Event = field(default_factory=asyncio.Event, init=False)  # set when a call comes back
    _over: Spent = field(init=False)  # what finished jobs spent, and what was spent before
    _boundless: bool = field(init=False)
    _finished: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._over = replace(self.total)
        self._boundless = self.budget == Budget()

    def blind(self, spent: Spent) -> bool:
        """Whether a job that has ``spent`` so far must wait for the cost of its first call, or of that of all jobs."""
        bounded = self.budget.usd is not None or self.budget.tokens is not None
        return bounded and any(one.pending > 0 and one.calls == 0 for one in (spent, self.total))

    def limit(self, spent: Spent) -> str | None:
        """Which limit leaves a job that has ``spent`` so much no room for one more call, or None."""
        if self._boundless:
            return None
        if whole := _full(self.total, self.budget):
            return whole
        left = self.jobs - self._finished
        if left < 2:
            return None
        part_of = _full(spent, self.budget.share(self._over, left))
        return part_of and f"{part_of} (this job's part of the sweep's budget)"

    def finish(self, spent: Spent) -> None:
        """A job is over: what it left is shared by the others."""
        self._finished += 1
        for name in ("usd", "calls", "input_tokens", "output_tokens", "unreported"):
            vars(self._over)[name] += vars(spent)[name]


def _full(spent: Spent, budget: Budget) -> str | None:
    """The limit that leaves no room for one more call, where it and those in flight take the mean of the others."""
    if limit := spent.exceeded(budget):
        return limit
    share = 1 + (spent.pending + 1) / spent.calls if spent.calls else 0.0
    if budget.tokens is not None and spent.likely_tokens * share > budget.tokens:
        return f"tokens={budget.tokens}"
    if budget.usd is not None and spent.usd * share > budget.usd * _ROUNDED:
        return f"usd={budget.usd:g}"
    return None
