"""What pilot samples tell of all samples."""

import math

import pytest

from components.core.messages import Message, Usage
from components.core.types import Step, Trajectory
from runner.job.preflight import Estimate, Pilot, estimate, sum_of, wall_time
from tests.slow import slow


def pilot(usages, seconds=3.0, replayed=False, **more):
    """Samples of one call each."""
    made = Pilot("job", **({"owed": 10, "connections": 2, "window": None} | more))
    for usage in usages:
        step = Step("act", "main", "", 0, 0, (), Message("assistant", "x"), usage, seconds=seconds, replayed=replayed)
        made.add(Trajectory([step], stop="answered"), seconds)
    return made


ONE = [Usage(10, 2, 0.1)]


@slow
def test_a_total_is_the_mean_times_the_number_and_its_interval_students():
    found = estimate([1.0, 2.0, 3.0, 4.0], 100)
    spread = 100 * math.sqrt((1 - 0.04) * (5 / 3) / 4)
    assert found.value == 250 and found.half == pytest.approx(3.182446 * spread)
    assert estimate([3.0], 100) == Estimate(300.0) and estimate([2.0, 2.0], 10).half == 0


@slow
def test_when_all_was_played_nothing_is_left_to_chance():
    assert estimate([1.0, 5.0], 2).half == 0


def test_totals_add_up_unless_one_is_not_known():
    one = estimate([1.0, 3.0], 10)
    both = sum_of([one, one])
    assert (both.value, both.variance) == (2 * one.value, 2 * one.variance)
    assert math.isnan(sum_of([one, estimate([], 10)]).value)


def test_time_is_that_of_connections_or_of_the_limits_per_minute():
    assert wall_time([pilot(ONE)]) == 15.0
    assert wall_time([pilot(ONE, per_minute=(5, None))]) == 120.0
    assert wall_time([pilot(ONE, per_minute=(None, 60))]) == 120.0
    assert math.isnan(wall_time([pilot([])]))


def test_jobs_of_one_model_share_its_connections_and_those_of_others_run_beside_them():
    wide = [pilot(ONE, connections=100, lane="a") for _ in range(4)]
    assert wall_time(wide) == 3.0, "all forty samples run at once"
    assert wall_time([*wide, pilot(ONE, lane="b")]) == 15.0
    paced = [pilot(ONE, per_minute=(5, None), lane="a") for _ in range(2)]
    assert wall_time(paced) == 240.0
    assert math.isnan(wall_time([*wide, pilot([], lane="b")]))


def test_what_the_journal_answers_at_once_is_given_the_time_of_a_call():
    found = pilot(ONE)
    replayed = Step("act", "main", "", 0, 0, (), Message("assistant", "x"), ONE[0], replayed=True)
    found.add(Trajectory([replayed], stop="answered"), 0.0)
    assert found.per_sample == 3.0
    assert math.isnan(pilot(ONE, 0.0, replayed=True).per_sample)


def test_the_longest_of_many_is_longer_than_the_longest_of_a_few():
    lengths = [Usage(n, 0, 0.1) for n in (20, 40, 60, 80)]
    assert pilot(lengths, owed=1).expected_longest == 80
    assert pilot(lengths, owed=1000).expected_longest == math.ceil(50 + 3.0905 * math.sqrt(2000 / 3))
    assert pilot(lengths[:1], owed=1000).expected_longest == 20
