"""Budgets of a single run and of the jobs of a sweep."""

import pytest

from components.core.messages import Usage
from runner.episode.budget import Budget, BudgetPool, Spent
from tests.table import each_row


def spent(calls=0, usd=0.0, tokens=0):
    return Spent(usd=usd, input_tokens=tokens, calls=calls)


@each_row(
    "budget, so_far, limit",
    [
        (Budget(calls=3), spent(calls=2), None),
        (Budget(calls=3), spent(calls=3), "calls=3"),
        (Budget(tokens=10), spent(tokens=10), "tokens=10"),
        (Budget(usd=0.5), spent(usd=0.5), "usd=0.5"),
        (Budget(seconds=0), spent(), "seconds=0"),
    ],
)
def test_reached_limit_is_named(budget, so_far, limit):
    assert so_far.exceeded(budget) == limit


def test_jobs_share_the_remaining_budget_equally():
    budget_pool = BudgetPool(Budget(usd=9.0), jobs=3)
    assert budget_pool.limit(spent(usd=2.9)) is None
    assert budget_pool.limit(spent(usd=3.0)) == "usd=3 (this job's part of the sweep's budget)"
    budget_pool.finish(spent(usd=1.0))
    assert budget_pool.limit(spent(usd=3.9)) is None and budget_pool.limit(spent(usd=4.0)) is not None
    budget_pool.finish(spent(usd=4.0))
    assert budget_pool.limit(spent(usd=3.9)) is None


def test_jobs_together_stay_within_the_budget():
    budget_pool = BudgetPool(Budget(calls=4), jobs=1)
    for _ in range(4):
        budget_pool.total.charge(Usage(1, 1, 0.1))
    assert budget_pool.limit(spent()) == "calls=4"


def test_calls_in_flight_count_at_the_mean_price():
    budget_pool = BudgetPool(Budget(usd=1.0))
    for _ in range(5):
        budget_pool.total.charge(Usage(1, 1, 0.1))
    budget_pool.total.pending = 4
    assert budget_pool.limit(spent()) is None
    budget_pool.total.pending = 5
    assert budget_pool.limit(spent()) == "usd=1"


@pytest.mark.parametrize("budget", [Budget(usd=1.0), Budget(tokens=20)])
def test_call_that_would_exceed_the_budget_is_not_started(budget):
    budget_pool = BudgetPool(budget)
    budget_pool.total.charge(Usage(4, 3, 0.35))
    assert budget_pool.limit(spent()) is None
    budget_pool.total.charge(Usage(4, 3, 0.35))
    assert budget_pool.limit(spent()) is not None, "a third would make 1.05 dollars, 21 tokens"


def test_spending_before_the_jobs_is_not_charged_to_a_job():
    """For example by the pilot of a preflight, or by finished batches of a search."""
    budget_pool = BudgetPool(Budget(calls=10), jobs=2, total=spent(calls=6))
    assert budget_pool.limit(spent(calls=1)) is None
    assert budget_pool.limit(spent(calls=2)) == "calls=2 (this job's part of the sweep's budget)"


@each_row(
    "budget, so_far, blind",
    [
        (Budget(usd=1.0), Spent(pending=1), True),
        (Budget(tokens=10), Spent(pending=1), True),
        (Budget(usd=1.0), Spent(), False),
        (Budget(usd=1.0), Spent(pending=1, calls=1), False),
        (Budget(calls=9), Spent(pending=1), False),
    ],
)
def test_price_of_a_call_is_unknown_until_the_first_reply(budget, so_far, blind):
    assert BudgetPool(budget).blind(so_far) is blind
    assert BudgetPool(budget, 2, so_far).blind(Spent()) is blind


def test_unreported_tokens_are_not_counted_as_zero():
    so_far = Spent()
    so_far.charge(Usage(None, None, 0.1))
    assert "do not state their number of tokens" in so_far.exceeded(Budget(tokens=10))
    assert so_far.exceeded(Budget(calls=2)) is None


def test_call_without_reported_tokens_counts_at_the_mean():
    so_far = Spent()
    for usage in (Usage(3, 1), Usage(), Usage(3, 1)):
        so_far.charge(usage)
    assert so_far.likely_tokens == 12
    assert so_far.exceeded(Budget(tokens=12)) == "tokens=12" and so_far.exceeded(Budget(tokens=13)) is None
