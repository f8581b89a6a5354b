"""Superiority, non-inferiority and equivalence: p values and power, held against scipy, statsmodels and simulation."""

import math

import numpy as np
import pytest

from benchmarks.coverage_claims import CASES, EXPECTED, LIMIT, simulated, table_of
from runner.results.claims import Clusters, Planned, adjust_p_values, claim_p
from runner.results.kinds import Scale
from runner.results.pairs import Pairs, difference_of
from runner.results.significance import mcnemar_power, t_power
from runner.results.table import Table
from tests.slow import slow
from tests.table import each_row

INF = math.inf


@pytest.fixture(scope="module")
def stats():
    """The library of reference: imported where it is used, as it takes a second."""
    from scipy import stats

    return stats


@pytest.fixture(scope="module")
def t_test_power():
    """Power of a t test as statsmodels has it."""
    from statsmodels.stats.power import TTestPower

    return TTestPower()


def p_of(case, bounds, gain=EXPECTED, n=120, seed=1):
    pairs = CASES[case].pairs(np.random.default_rng(seed), n, gain)
    return claim_p(difference_of(pairs), bounds), pairs.gains


@each_row("margin", [0.05, 0.1])
def test_graded_claims_of_a_few_are_t_tests_of_scipy_and_statsmodels(margin, stats):
    from statsmodels.stats.weightstats import DescrStatsW

    p, gains = p_of("non-inferiority, graded by sample", (-margin, INF), n=9)
    assert p == pytest.approx(stats.ttest_1samp(gains, -margin, alternative="greater").pvalue)
    p, gains = p_of("equivalence, graded by sample", (-margin, margin), gain=0.0, n=9)
    assert p == pytest.approx(DescrStatsW(gains).ttost_mean(-margin, margin)[0])
    p, gains = p_of("non-inferiority, graded by sample", (-margin, INF))
    theirs = stats.ttest_1samp(gains, -margin, alternative="greater").pvalue
    assert theirs <= p <= 2 * theirs  # of more: with the resampled interval, which is never the narrower one


@each_row("case", list(CASES))
def test_what_is_shown_never_has_an_interval_that_says_otherwise(case):
    for seed in range(4):
        pairs = CASES[case].pairs(np.random.default_rng(seed), 60, 0.05)
        if not CASES[case].binary:
            pairs.gains[:] = np.expm1(2 * pairs.gains)  # skewed
        difference = difference_of(pairs)
        low, high = difference.metric.ci_low, difference.metric.ci_high
        for bound in (low - 0.001, low + 0.001, 0.0):
            p = claim_p(difference, (bound, INF))
            assert bound <= low or p > 0.025
            assert bound > low - 0.001 or by_patient_or_below(case, p)
        assert claim_p(difference, (low - 0.1, high - 0.001)) > 0.025


def by_patient_or_below(case, p):
    """Of several samples of a patient the test may be the stricter one."""
    return p < (0.035 if CASES[case].by_patient else 0.025)


def test_superiority_of_0_and_1_is_mcnemars_exact_test(stats):
    p, gains = p_of("superiority, 0 or 1 by sample", (0.0, INF))
    won, lost = int((gains > 0).sum()), int((gains < 0).sum())
    assert p == pytest.approx(stats.binomtest(won, won + lost, alternative="greater").pvalue)
    p, _ = p_of("superiority, 0 or 1 by sample", (0.0, INF), gain=-EXPECTED)
    assert p > 0.9  # a loss


def test_a_mean_of_means_is_tested_between_whole_patients(stats):
    """Patients who are in every group make these alike; the interval takes the groups for independent."""
    rng = np.random.default_rng(3)
    number = np.repeat(np.arange(12), 6)
    gains = rng.normal(size=12)[number] + 0.1 * rng.normal(size=72)
    table = Table(table_of(number).columns | {"strata": np.arange(72) % 6}, [{"task": str(n)} for n in range(6)])
    difference = difference_of(Pairs(table, gains, {}, Scale("number", difference=True)), ["task"])
    of_patients = stats.ttest_1samp(gains.reshape(12, 6).mean(axis=1), -0.6, alternative="greater").pvalue
    assert difference.metric.ci_low > -0.6 and of_patients > 0.025
    assert claim_p(difference, (-0.6, INF)) == pytest.approx(of_patients)


def test_what_does_not_vary_is_not_tested_unless_it_is_0_or_1():
    case = CASES["non-inferiority, graded by sample"]
    pairs = case.pairs(np.random.default_rng(0), 30, 0.0)
    pairs.gains[:] = 0.25
    assert claim_p(difference_of(pairs), (-0.1, INF)) is None
    pairs = CASES["non-inferiority, 0 or 1 by sample"].pairs(np.random.default_rng(0), 200, 0.0)
    pairs.gains[:] = 0.0
    assert claim_p(difference_of(pairs), (-0.1, INF)) < 1e-6


def test_adjusted_by_holm_or_by_order_and_secondary_after_primary():
    assert adjust_p_values([0.01, 0.02], [], by_order=False) == ([0.02, 0.02], [])
    assert adjust_p_values([0.01, 0.02], [0.001], by_order=False) == ([0.02, 0.02], [0.02])
    assert adjust_p_values([0.02, 0.01, 0.04], [0.001, 0.5], by_order=True) == ([0.02, 0.02, 0.04], [0.04, 0.5])
    assert adjust_p_values([0.001, None], [0.001], by_order=False) == ([0.002, 1.0], [1.0])


@each_row("n, alpha", [(20, 0.05), (50, 0.025), (200, 0.01)])
def test_power_of_a_t_test_is_that_of_statsmodels(n, alpha, t_test_power):
    for effect in (0.1, 0.3, 0.6):
        theirs = t_test_power.power(effect, n, alpha / 2, alternative="larger")
        assert t_power(effect, n, alpha) == pytest.approx(theirs, abs=1e-6)


@each_row("alpha", [0.05, 0.0333, 0.025, 0.0167, 0.01, 0.001])
def test_power_of_mcnemars_test_is_the_sum_over_all_tables(alpha, stats):
    for n, won, lost in ((30, 0.3, 0.1), (80, 0.2, 0.08), (200, 0.1, 0.03)):
        found = 0.0
        for differ in range(6, n + 1):
            wins = np.arange(differ + 1)
            p = np.minimum(1, 2 * stats.binom.cdf(np.minimum(wins, differ - wins), differ, 0.5))
            chance = stats.binom.pmf(wins, differ, won / (won + lost))
            found += stats.binom.pmf(differ, n, won + lost) * chance[p <= alpha].sum()
        assert mcnemar_power(n, won, lost, alpha) == pytest.approx(found, abs=1e-6), (n, won, lost)


def test_needed_samples_have_the_power_and_one_less_has_not(t_test_power):
    samples = Clusters.of(list(map(str, range(100))))
    for planned in (Planned((0.1, INF), 0.5), Planned((0.1, 0.1), 0.5), Planned((0.1, INF), 0.5, 0.0, (0.2, 0.1))):
        n = planned.needed(samples, 0.05, 0.8)
        assert planned.power(samples.scaled(n), 0.05) >= 0.8 > planned.power(samples.scaled(n - 1), 0.05)
    theirs = t_test_power.solve_power(0.2, power=0.8, alpha=0.025, alternative="larger")
    assert Planned((0.1, INF), 0.5).needed(samples, 0.05, 0.8) == math.ceil(theirs)
    assert Planned((1e-9, INF), 0.5).needed(samples, 0.05, 0.8) is None


def test_patients_with_several_samples_have_kishs_design_effect():
    names = [name for k in range(40) for name in [str(k)] * (1 + k % 5)]
    clusters, planned = Clusters.of(names), Planned((0.1, INF), 0.5, within=0.3)
    sizes = np.bincount([int(name) for name in names])
    design = 1 + ((sizes**2).sum() / sizes.sum() - 1) * 0.3
    effect = 0.1 / (0.5 * math.sqrt(design * 40 / len(names)))
    assert planned.power(clusters, 0.05) == pytest.approx(t_power(effect, 40))
    assert planned.needed(clusters, 0.05, 0.8) > Planned((0.1, INF), 0.5).needed(clusters, 0.05, 0.8)


def test_samples_that_weigh_more_than_others_count_for_less():
    """Of a mean of two means, of 10 and of 90 samples, the variance is that of 36 equal ones."""
    names, paths = [str(n) for n in range(100)], [("a",)] * 10 + [("b",)] * 90
    clusters, planned = Clusters.of(names, paths), Planned((0.1, INF), 0.5)
    effect = 0.1 / (0.5 * math.sqrt((1 / 10 + 1 / 90) / 4 * 100))
    assert planned.power(clusters, 0.05) == pytest.approx(t_power(effect, 100))
    exact = Planned((0.1, INF), 0.5, 0.0, (0.2, 0.1))  # McNemar's test is of equal samples
    assert exact.power(clusters, 0.05) < exact.power(Clusters.of(names), 0.05)


def test_needed_samples_are_six_at_least():
    assert Planned((0.9, INF), 0.1).needed(Clusters.of([*"abcdefgh"]), 0.05, 0.01) == 6


@slow
@each_row("case", list(CASES))
def test_type_1_error_and_power_in_simulation(case):
    """Measured with 4,000 studies each by ``python -m benchmarks coverage_claims``; here with fewer."""
    false, power, _ = simulated(case, 400)
    assert false <= LIMIT + 1.7 and power >= 72.0
