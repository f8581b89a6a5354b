"""What an attempt may spend: the sample's budget, or a share of it where several lines work at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from components.core.errors import AttemptOver, LimitReached
from components.core.messages import Usage
from runner.budget import Budget, Spent


@dataclass
class Attempt:
    """A branch with fresh tools, and those that share them. ``budget`` None: that of the attempt ``above``.

    Lines that work at once each have an equal share of what is left, so that it does not depend on arrival which of
    them ends; what they spend counts for the attempts above them too.
    """

    budget: Budget | None
    spent: Spent = field(default_factory=Spent)
    above: Attempt | None = None
    steps: int = 0

    def act(self, limit: int | None) -> None:
        """Count an action. Raises AttemptOver."""
        if limit is not None and self.steps >= limit:
            raise AttemptOver(f"budget.sample.steps={limit}")
        self.steps += 1

    def admit(self, calls: int = 1) -> None:
        """Keep room for calls at once, of which each takes its own. Raises LimitReached; of a share AttemptOver."""
        holder, budget = self._holder
        if limit := holder.spent.exceeded(budget, calls):
            if holder.above is not None:
                raise AttemptOver(f"share of budget.sample.{limit}")
            raise LimitReached(f"budget.sample.{limit}")
        self.pend(calls)

    def pend(self, calls: int) -> None:
        """Calls that are on their way from now on, or, below 0, no longer are."""
        for one in self._chain:
            one.spent.pending += calls

    def charge(self, usage: Usage) -> None:
        """Add one call."""
        for one in self._chain:
            one.spent.charge(usage)

    def fresh(self) -> Attempt:
        """Another attempt with the same budget."""
        return Attempt(None, above=self)

    def shares(self, n: int) -> list[Attempt]:
        """``n`` attempts at once. Raises LimitReached where there is not one call for each."""
        holder, budget = self._holder
        if limit := holder.spent.exceeded(budget, n):
            raise LimitReached(f"budget.sample.{limit}: no room for {n} attempts at once")
        spent = holder.spent
        calls = None if budget.calls is None else (budget.calls - spent.calls - spent.pending) // n
        used = int(spent.likely_tokens)
        tokens = None if budget.tokens is None else max((budget.tokens - used) // n, 1)
        usd = None if budget.usd is None else (budget.usd - spent.usd) / n
        return [Attempt(Budget(usd=usd, tokens=tokens, calls=calls), above=self) for _ in range(n)]

    @property
    def _holder(self) -> tuple[Attempt, Budget]:
        """The attempt whose budget this one spends."""
        for one in self._chain:
            if one.budget is not None:
                return one, one.budget
        raise AssertionError("the first attempt of a sample has its budget")

    @property
    def _chain(self) -> Iterator[Attempt]:
        one: Attempt | None = self
        while one is not None:
            yield one
            one = one.above
