"""Gains: intervals and tests against published values, statsmodels and values computed by hand."""

import numpy as np
import pytest

from runner.results.formulas import paired_binary, standard_error, student
from runner.results.kinds import NUMBER, Scale
from runner.results.levels import Nested
from runner.results.pairs import difference_of, pairs_of, shares_of
from runner.results.significance import sign_test_p
from tests.runner.results.records import record, records
from tests.runner.results.significance_data import SLEEP

PROPORTION, SHARE, COUNT = Scale("proportion"), Scale("share"), Scale("count")


def gained(mine, theirs, clusters=None, scale=PROPORTION):
    return difference_of(pairs_of(records(mine, clusters), records(theirs, clusters), "score/x", scale))


def test_the_approval_ratings_of_agresti():
    # Agresti 2002, Categorical Data Analysis, 10.1: of 1,600 people 794 approve twice, 150 change to disapproval, 86 to
    # approval. Difference -0.04, standard error 0.0095, interval -0.059 to -0.021; McNemar's z squared is 17.36.
    values = np.array([-1.0] * 150 + [1.0] * 86 + [0.0] * 1364)
    low, high = paired_binary(values, values - values.mean(), varies=True)
    assert values.mean() == -0.04 and (low, high) == pytest.approx((-0.059, -0.021), abs=5e-4)


def test_scores_of_0_and_1_on_independent_samples_have_mcnemars_test():
    found = gained([1.0] * 9 + [0.0] * 6, [1.0] * 1 + [0.0] * 12 + [1.0] * 2)
    assert (found.wins, found.ties, found.losses) == (8, 5, 2) and found.test == "McNemar"
    assert found.p == pytest.approx(2 * (1 + 10 + 45) / 1024) == sign_test_p(8, 2)
    assert found.metric.value == pytest.approx(6 / 15) and found.metric.n == found.clusters == 15
    centre, half = 6 / 17, 1.959964 * np.sqrt((11 / 17 - (6 / 17) ** 2) / 17)  # half a pair more in each cell, by hand
    assert (found.metric.ci_low, found.metric.ci_high) == pytest.approx((centre - half, centre + half), abs=1e-6)


def test_sign_flips_apply_to_whole_patients():
    mine, theirs = [1, 1, 1, 0, 1, 1], [0, 0, 0, 0, 0, 0]
    found = gained(mine, theirs, [0, 0, 0, 1, 2, 2])
    assert (found.test, found.clusters, found.wins, found.ties) == ("permutation", 3, 2, 1)
    assert found.p == 0.5, "of the four signs of two patients two are as extreme"
    spread = np.array([3 - 3 * 5 / 6, -5 / 6, 2 - 2 * 5 / 6])
    pairs = (5 / 6 - (5 / 6) ** 2) / standard_error(
        spread, 6
    ) ** 2  # the number of independent samples with the same information
    of, square = pairs + 2, (5 / 6 * pairs + 1) / (pairs + 2)
    centre = 5 / 6 * pairs / of
    half = student(2) * np.sqrt((square - centre**2) / of)
    assert found.metric.ci_high == 1.0 and found.metric.ci_low == pytest.approx(centre - half)


def test_few_differing_patients_are_not_significant():
    clusters = [n // 2 for n in range(40)]
    found = gained([1.0 if n % 10 == 0 else 0.0 for n in range(40)], [0.0] * 40, clusters)
    assert (found.wins, found.losses, found.p) == (4, 0, 0.125)
    assert found.metric.ci_low < 0 < found.metric.ci_high, "four signs alone do not exclude a zero difference"


def test_students_sleep_data():
    found = gained(
        SLEEP[1], SLEEP[0], scale=NUMBER
    )  # R: mean of the differences 1.58, t = 4.0621, df = 9, p-value = 0.002833
    assert (found.metric.value, found.t, found.t_p) == pytest.approx((1.58, 4.0621, 0.002833), abs=5e-5)
    assert (found.wins, found.ties, found.losses) == (9, 1, 0) and found.p == pytest.approx(2 / 512)
    assert found.standard_error == pytest.approx(1.58 / 4.0621, abs=1e-4)


def test_identical_gains_are_not_significant():
    binary = gained([1.0, 0.0, 1.0], [1.0, 0.0, 1.0])
    assert binary.metric.ci_low < 0 < binary.metric.ci_high and binary.p == 1.0 and binary.t is None
    steps = gained([2.5, 1.5], [2.0, 1.0], scale=COUNT).metric
    assert (steps.value, steps.ci_low, steps.ci_high, steps.no_interval) == (0.5, None, None, "does not vary")
    shares = gained([0.7, 0.6, 0.4], [0.7, 0.6, 0.4], scale=SHARE).metric
    assert -1 < shares.ci_low == -shares.ci_high < 0, "three samples leave room for others, which a share bounds"


def test_single_cluster_gives_no_test():
    assert gained([1.0], [0.0]).p is None and gained([0.5, 0.6], [0.1, 0.2], [0, 0], SHARE).p is None
    assert gained([1.0, 1.0], [0.0, 0.0]).p == 0.5


def test_no_pairs_give_no_result():
    found = difference_of(pairs_of(records([1.0]), records([None]), "score/x", SHARE))
    assert (found.metric.value, found.metric.n, found.p, found.standard_error) == (None, 0, None, None)
    assert found.as_dict()["gain"] is None


def test_rounding_errors_do_not_make_a_winner():
    assert gained([0.1 + 0.2], [0.3], scale=SHARE).ties == 1


def test_rounding_errors_do_not_count_as_variance():
    found = gained([0.3, 0.4, 0.5, 0.6, 0.7, 0.8], [0.2, 0.3, 0.4, 0.5, 0.6, 0.7], [0, 0, 0, 1, 2, 3], NUMBER)
    assert found.metric.value == pytest.approx(0.1) and (found.t, found.t_p, found.standard_error) == (None, None, 0.0)
    assert (found.metric.ci_low, found.metric.ci_high) == (None, None) and found.p == 2 / 2**4


def test_small_differences_are_not_rounded_away():
    mine, theirs = [1e-7 * (n % 5) for n in range(20)], [0.0] * 20
    small, large = (gained([size * one for one in mine], theirs, scale=NUMBER) for size in (1, 1e7))
    assert small.metric.ci_low == pytest.approx(large.metric.ci_low * 1e-7) and small.p == large.p
    assert (small.wins, small.ties) == (16, 4) and small.t == pytest.approx(large.t)


def test_interval_of_a_share_difference_stays_within_1():
    found = gained([1.0, 0.9, 0.3], [0.0, 0.2, 0.1], [0, 0, 1], SHARE)
    assert (found.metric.ci_low, found.metric.ci_high) == (-1.0, 1.0), "two patients are not enough"
    nested = pairs_of([record(0, 1.0, task="a"), record(1, 0.5, task="b")], records([0.0, 0.0]), "score/x", SHARE)
    assert difference_of(nested, ["task"]).metric.value == 0.75
    assert gained([9.0, 9.5, 7.0], [0.0, 1.0, 2.5], [0, 0, 1], COUNT).metric.ci_high > 9, "a count of steps may"


def test_counts_of_0_and_1_are_not_treated_as_shares():
    mine, theirs = records([1.0, 0.0, 1.0, 1.0]), records([0.0, 0.0, 0.0, 1.0])
    found = difference_of(pairs_of(mine, theirs, "score/x", COUNT))
    assert (
        found.test == "permutation" and difference_of(pairs_of(mine, theirs, "score/x", PROPORTION)).test == "McNemar"
    )


def test_mean_of_means_weights_groups_equally():
    mine = [record(n, 1.0, task="a") for n in range(4)] + [record("b", 0.0, task="b")]
    theirs = [record(n, 0.0, task="a") for n in range(4)] + [record("b", 1.0, task="b")]
    pairs = pairs_of(mine, theirs, "score/x", PROPORTION)
    found = difference_of(pairs, ["task"])
    nested = Nested(pairs.table, pairs.gains, ["task"], pairs.scale)
    assert found.metric.value == 0.0 == nested.total().value
    shares, weights = shares_of(pairs, ["task"])
    assert shares == pytest.approx([1 / 8, 1 / 8, 1 / 8, 1 / 8, -0.5]) and sum(weights) == pytest.approx(1)
    assert difference_of(pairs).metric.value == pytest.approx(3 / 5), "without levels all pairs weigh the same"
    assert found.test == "permutation" and found.p == 1.0
