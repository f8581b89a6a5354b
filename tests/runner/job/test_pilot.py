"""Estimates for all samples from pilot samples."""

import math

import pytest

from components.core.messages import Message, Usage
from components.core.types import Step, Trajectory
from runner.job.preflight import Estimate, Pilot, estimate, sum_of, wall_time
from tests.slow import slow


def pilot(usages, seconds=3.0, replayed=False, **more):
    """Samples of one call each."""
    made = Pilot("job", **({"remaining": 10, "connections": 2, "window": None} | more))
    for usage in usages:
        step = Step("act", "main", "", 0, 0, (), Message("assistant", "x"), usage, seconds=seconds, replayed=replayed)
        made.add(Trajectory([step], stop="answered"), seconds)
    return made


ONE = [Usage(10, 2, 0.1)]


@slow
def test_total_is_mean_times_number_with_students_interval():
    found = estimate([1.0, 2.0, 3.0, 4.0], 100)
    spread = 100 * math.sqrt((1 - 0.04) * (5 / 3) / 4)
    assert found.value == 250 and found.half == pytest.approx(3.182446 * spread)
    assert estimate([3.0], 100) == Estimate(300.0) and estimate([2.0, 2.0], 10).half == 0


@slow
def test_estimate_is_exact_when_all_samples_were_run():
    assert estimate([1.0, 5.0], 2).half == 0


def test_totals_are_summed_unless_one_is_unknown():
    one = estimate([1.0, 3.0], 10)
    both = sum_of([one, one])
    assert (both.value, both.variance) == (2 * one.value, 2 * one.variance)
    assert math.isnan(sum_of([one, estimate([], 10)]).value)


def test_time_follows_connections_or_rate_limits():
    assert wall_time([pilot(ONE)]) == 15.0
    assert wall_time([pilot(ONE, per_minute=(5, None))]) == 120.0
    assert wall_time([pilot(ONE, per_minute=(None, 60))]) == 120.0
    assert math.isnan(wall_time([pilot([])]))


def test_jobs_of_a_model_share_connections_and_other_models_run_in_parallel():
    wide = [pilot(ONE, connections=100, lane="a") for _ in range(4)]
    assert wall_time(wide) == 3.0, "all forty samples run at once"
    assert wall_time([*wide, pilot(ONE, lane="b")]) == 15.0
    paced = [pilot(ONE, per_minute=(5, None), lane="a") for _ in range(2)]
    assert wall_time(paced) == 240.0
    assert math.isnan(wall_time([*wide, pilot([], lane="b")]))


def test_journalled_replies_are_estimated_at_the_time_of_a_call():
    found = pilot(ONE)
    replayed = Step("act", "main", "", 0, 0, (), Message("assistant", "x"), ONE[0], replayed=True)
    found.add(Trajectory([replayed], stop="answered"), 0.0)
    assert found.per_sample == 3.0
    assert math.isnan(pilot(ONE, 0.0, replayed=True).per_sample)


def test_estimated_maximum_grows_with_the_number_of_samples():
    lengths = [Usage(n, 0, 0.1) for n in (20, 40, 60, 80)]
    assert pilot(lengths, remaining=1).expected_longest == 80
    assert pilot(lengths, remaining=1000).expected_longest == math.ceil(50 + 3.0905 * math.sqrt(2000 / 3))
    assert pilot(lengths[:1], remaining=1000).expected_longest == 20
