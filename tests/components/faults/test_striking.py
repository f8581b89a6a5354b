import pytest

from components.conditions.denied import Denied
from components.faults.striking import Striking
from runner.config.build import construct
from runner.config.errors import ConfigErrors
from tests.failing import seen


def test_a_rate_is_a_share():
    for rate in (-0.1, 1.5):
        with pytest.raises(ConfigErrors, match="rate"):
            construct({"_target_": "components.conditions.denied.Denied", "rate": rate}, "condition")


async def test_a_rate_of_nothing_strikes_nothing_and_one_of_all_every_call():
    assert not any(one.error for one in await seen(Denied(0.0), *["echo 1"] * 5))
    assert all(one.error for one in await seen(Denied(1.0), *["echo 1"] * 5))


def test_what_goes_wrong_is_said_by_each_condition():
    with pytest.raises(TypeError, match="strike"):
        Striking()
