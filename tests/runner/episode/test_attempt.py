import pytest

from components.core.errors import AttemptOver, LimitReached
from components.core.messages import Usage
from runner.episode.budget import Attempt, Budget


def test_concurrent_attempts_share_the_remaining_budget():
    root = Attempt(Budget(calls=10, tokens=100))
    root.admit(1)
    root.pend(-1)
    root.charge(Usage(5, 5))
    one, two = root.shares(2)
    assert (one.budget.calls, one.budget.tokens) == (4, 45)
    for _ in range(4):
        one.admit()
        one.pend(-1)
        one.charge(Usage(10, 0))
    with pytest.raises(AttemptOver, match=r"share of budget\.sample\.calls=4"):
        one.admit()
    two.admit(4), two.pend(-4)
    assert root.spent.calls == 5 and root.spent.input_tokens == 45 and root.spent.pending == 0
    with pytest.raises(AttemptOver, match="tokens"):
        for _ in range(3):
            two.charge(Usage(20, 0)), two.admit(), two.pend(-1)


def test_share_can_be_divided_but_not_below_one_call():
    root = Attempt(Budget(calls=12))
    line = root.shares(2)[0]
    assert [one.budget.calls for one in line.shares(3)] == [2, 2, 2]
    with pytest.raises(LimitReached, match="no room for 7 attempts at once"):
        line.shares(7)


def test_fresh_attempt_charges_the_parent_budget_and_has_its_own_steps():
    root = Attempt(Budget(calls=1))
    root.act(1)
    again = root.fresh()
    again.act(1)
    with pytest.raises(AttemptOver, match="steps=1"):
        again.act(1)
    again.admit(), again.pend(-1), again.charge(Usage())
    with pytest.raises(LimitReached) as error:
        root.admit()
    assert not isinstance(error.value, AttemptOver)


def test_attempt_without_limits_never_ends_early():
    for one in Attempt(Budget()).shares(3):
        one.admit(1000)
