"""Intervals of means: published values, clusters, skewed scores. Coverage is measured in benchmarks/coverage.py."""

import numpy as np
import pytest

from runner.results import formulas
from runner.results.formulas import clustered_wilson, standard_error, student, wilson
from runner.results.intervals import resample_intervals, unfinished_mean
from runner.results.kinds import NUMBER, Scale
from tests.slow import slow
from tests.table import each_row

PATIENTS = np.repeat(np.arange(12), 3)
VALUES = np.array([n % 5 for n in range(36)], dtype=float) ** 2


def mean(*given, **options):
    """The metric with its interval."""
    return unfinished_mean(*given, **options).finished


@each_row(
    "successes, n, low, high",
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_interval_matches_published_values(
    successes, n, low, high
):  # Newcombe 1998, Statistics in Medicine 17:857, table I
    assert wilson(successes, n) == pytest.approx((low, high), abs=5e-5)


@each_row("df, quantile", [(1, 12.706), (9, 2.262), (29, 2.045), (10**6, 1.960)])
def test_students_quantiles_match_tables(df, quantile):
    assert student(df) == pytest.approx(quantile, abs=5e-4)


@slow
def test_standard_error_matches_a_clustered_regression():
    import statsmodels.api as sm

    fit = sm.OLS(VALUES, np.ones(36)).fit(cov_type="cluster", cov_kwds={"groups": PATIENTS, "use_correction": False})
    spread = np.bincount(PATIENTS, weights=VALUES - VALUES.mean())
    assert standard_error(spread, 36) == pytest.approx(fit.bse[0] * np.sqrt(12 / 11))


def test_patients_with_identical_samples_count_once_each():
    values = np.repeat([1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0], 4)
    spread = np.bincount(np.repeat(np.arange(8), 4), weights=values - 0.75)
    low, high = clustered_wilson(0.75, spread, 32)
    effective = 8 - 1  # the small-sample factor takes one
    assert (low, high) == pytest.approx(wilson(0.75 * effective, effective, student(7)))
    assert mean(list(values), [n // 4 for n in range(32)], Scale("proportion")).ci_low == pytest.approx(low)


def test_interval_of_a_skewed_score_is_asymmetric():
    values = [0.0] * 12 + [0.2, 0.1, 0.3, 0.2, 0.4, 0.1, 0.9, 1.0]
    found = mean(values, list(range(20)), Scale("share"))
    assert found.value - found.ci_low < found.ci_high - found.value
    assert found.ci_low >= 0.0 and found.ci_high <= 1.0, "shares stay in 0 to 1"


@pytest.mark.parametrize("values", [[0.1, 0.5, 0.2, 0.9, 0.3], [3.0] * 19 + [5.0]])
def test_few_clusters_or_little_variance_use_students_t(values):
    found = mean(values, list(range(len(values))), NUMBER)
    n, value = len(values), sum(values) / len(values)
    half = student(n - 1) * np.std(values, ddof=1) / np.sqrt(n)
    assert (found.ci_low, found.ci_high) == pytest.approx((value - half, value + half), abs=1e-9)


def test_intervals_computed_together_equal_those_computed_alone():
    clusters = PATIENTS.astype(np.intp)
    together = [unfinished_mean(VALUES * size, clusters, NUMBER) for size in (1, 10, 0.01)]
    resample_intervals(together)
    alone = unfinished_mean(VALUES, clusters, NUMBER)
    resample_intervals([alone])
    assert together[0].metric == alone.metric
    assert together[1].metric.ci_low == pytest.approx(10 * alone.metric.ci_low, rel=1e-5)


def test_interval_does_not_depend_on_other_metrics():
    rng, clusters = np.random.default_rng(3), np.arange(60)
    values = rng.beta(0.6, 3.0, 60)
    others = [unfinished_mean(rng.beta(0.6, 3.0, 60), clusters, Scale("share")) for _ in range(40)]
    means = [unfinished_mean(values, clusters, Scale("share")) for _ in range(3)]
    resample_intervals([means[0], *others[:7], means[1], *others[7:]])
    resample_intervals([means[2]])
    assert means[0].metric == means[1].metric == means[2].metric


@each_row("kind", ["proportion", "share", "count", "amount", "number"])
@each_row("value", [0.0, 1.0])
@each_row("difference", [False, True])
def test_identical_values_never_give_an_interval_of_zero_width(kind, value, difference):
    for n in (2, 5, 40):
        found = mean([value] * n, list(range(n)), Scale(kind, difference))
        unbounded = kind in ("amount", "number") or (kind == "count" and difference)
        assert found.no_interval == ("does not vary" if unbounded else None)
        assert unbounded or found.ci_low < found.ci_high
    for kinds in (mean([value], [0], Scale(kind, difference)), mean([value] * 3, [0] * 3, Scale(kind, difference))):
        assert (kinds.ci_low, kinds.no_interval) == (None, "n too small")


def test_patients_with_equal_means_count_by_their_number():
    found = mean([0.2, 0.4] * 3, [0, 0, 1, 1, 2, 2], Scale("share"))
    others = wilson(0, 3)[1]
    assert (found.ci_low, found.ci_high) == pytest.approx((0.3 - 0.3 * others, 0.3 + 0.7 * others))


def test_wilson_interval_contains_its_proportion_exactly():
    for n in range(1, 200):
        for successes in range(n + 1):
            low, high = wilson(successes, n)
            assert 0.0 <= low <= successes / n <= high <= 1.0
        assert wilson(0, n)[0] == 0.0 and wilson(n, n)[1] == 1.0


def test_few_shares_use_wilsons_interval_with_an_effective_sample_size():
    values = [0.1, 0.5, 0.2, 0.9, 0.3]
    found = mean(values, list(range(5)), Scale("share"))
    variance = np.var(values, ddof=1) / 5
    n = 0.4 * 0.6 / variance
    assert (found.ci_low, found.ci_high) == pytest.approx(wilson(0.4 * n, n, student(4)))


def test_few_counts_have_the_score_interval_of_an_overdispersed_poisson():
    found = mean([0.0, 1.0, 0.0, 4.0], list(range(4)), Scale("count"))
    variance, t = np.var([0.0, 1.0, 0.0, 4.0], ddof=1) / 4, student(3)
    for end in (found.ci_low, found.ci_high):
        assert (1.25 - end) ** 2 == pytest.approx(t * t * variance / 1.25 * end), "by what the interval solves"
    assert 0 < found.ci_low < 1.25 < found.ci_high


def test_few_amounts_have_the_same_interval_in_any_unit_and_never_below_zero():
    few, many = [0.0, 1.0, 0.0, 4.0], [0.0] * 9 + [1.0, 40.0]
    count, amount = (
        mean([one * by for one in few], range(4), Scale(kind)) for kind, by in (("count", 1), ("amount", 25))
    )
    assert (amount.ci_low, amount.ci_high) == pytest.approx((25 * count.ci_low, 25 * count.ci_high))
    assert mean(many, range(11), Scale("amount")).ci_low == 0 > mean(many, range(11), NUMBER).ci_low


def test_score_outside_its_declared_bounds_widens_them():
    found = mean([1.0, 1.2, 0.4], [0, 1, 2], Scale("share"))
    assert found.ci_low < 0.4 and found.ci_high == 1.2
    assert mean([3.0, 3.0], [0, 1], Scale("proportion")).ci_high >= 3.0, "a wrong declaration does not end the run"


@each_row("kind", ["share", "count", "amount", "number"])
def test_variance_that_underflows_is_zero(kind):
    found = mean([5.7e-193, 0.0], [0, 1], Scale(kind))
    assert found.no_interval == "does not vary" if kind in ("amount", "number") else found.ci_low < found.ci_high


def test_weights_that_are_kept_are_those_of_many_clusters(monkeypatch):
    columns = np.random.default_rng(1).normal(size=(5, 700))
    kept = formulas.resampled_sums(columns, 1000)
    monkeypatch.setattr(formulas, "_FEW", 0)
    assert np.array_equal(formulas.resampled_sums(columns, 1000), kept)
