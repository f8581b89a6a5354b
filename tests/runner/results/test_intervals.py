"""Intervals of means: published values, clusters, skewed scores. How often they hold the truth: benchmarks/coverage.py."""

import numpy as np
import pytest

from runner.results.bounds import clustered_wilson, standard_error, student, wilson
from runner.results.intervals import mean, settle, unsettled
from runner.results.kinds import NUMBER, Scale

PATIENTS = np.repeat(np.arange(12), 3)
VALUES = np.array([n % 5 for n in range(36)], dtype=float) ** 2


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_is_as_published(successes, n, low, high):  # Newcombe 1998, Statistics in Medicine 17:857, table I
    assert wilson(successes, n) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize(("df", "quantile"), [(1, 12.706), (9, 2.262), (29, 2.045), (10**6, 1.960)])
def test_students_quantiles_are_those_of_tables(df, quantile):
    assert student(df) == pytest.approx(quantile, abs=5e-4)


def test_the_standard_error_is_that_of_a_clustered_regression():
    import statsmodels.api as sm

    fit = sm.OLS(VALUES, np.ones(36)).fit(cov_type="cluster", cov_kwds={"groups": PATIENTS, "use_correction": False})
    spread = np.bincount(PATIENTS, weights=VALUES - VALUES.mean())
    assert standard_error(spread, 36) == pytest.approx(fit.bse[0] * np.sqrt(12 / 11))


def test_patients_that_are_all_alike_within_count_as_one_sample_each():
    values = np.repeat([1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0], 4)
    spread = np.bincount(np.repeat(np.arange(8), 4), weights=values - 0.75)
    low, high = clustered_wilson(0.75, spread, 32)
    effective = 8 - 1  # the small-sample factor takes one
    assert (low, high) == pytest.approx(wilson(0.75 * effective, effective, student(7)))
    assert mean(list(values), [n // 4 for n in range(32)], Scale("proportion")).ci_low == pytest.approx(low)


def test_a_skewed_score_reaches_further_on_its_long_side():
    values = [0.0] * 12 + [0.2, 0.1, 0.3, 0.2, 0.4, 0.1, 0.9, 1.0]
    found = mean(values, list(range(20)), Scale("share"))
    assert found.value - found.ci_low < found.ci_high - found.value
    assert found.ci_low >= 0.0 and found.ci_high <= 1.0, "shares stay in 0 to 1"


@pytest.mark.parametrize("values", [[0.1, 0.5, 0.2, 0.9, 0.3], [3.0] * 19 + [5.0]])
def test_few_clusters_or_hardly_any_spread_have_students_t(values):
    found = mean(values, list(range(len(values))), NUMBER)
    n, value = len(values), sum(values) / len(values)
    half = student(n - 1) * np.std(values, ddof=1) / np.sqrt(n)
    assert (found.ci_low, found.ci_high) == pytest.approx((value - half, value + half), abs=1e-9)


def test_metrics_that_are_settled_together_have_the_intervals_they_have_alone():
    clusters = PATIENTS.astype(np.intp)
    together = [unsettled(VALUES * size, clusters, NUMBER) for size in (1, 10, 0.01)]
    settle(together)
    alone = unsettled(VALUES, clusters, NUMBER)
    settle([alone])
    assert together[0].metric == alone.metric
    assert together[1].metric.ci_low == pytest.approx(10 * alone.metric.ci_low, rel=1e-5)
