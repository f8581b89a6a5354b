"""Superiority, non-inferiority and equivalence: p values and power, held against scipy, statsmodels and simulation."""

import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import TTestPower
from statsmodels.stats.weightstats import DescrStatsW

from benchmarks.coverage_claims import CASES, EXPECTED, LIMIT, simulated
from runner.results.claims import Clusters, Planned, adjusted, claim_p
from runner.results.pairs import difference_of
from runner.results.significance import mcnemar_power, t_power
from tests.slow import slow
from tests.table import each_row

INF = math.inf


def p_of(case, bounds, gain=EXPECTED, n=120, seed=1):
    pairs = CASES[case].pairs(np.random.default_rng(seed), n, gain)
    return claim_p(pairs, difference_of(pairs), bounds), pairs.gains


@each_row("margin", [0.05, 0.1, 0.3])
def test_graded_claims_are_t_tests_of_scipy_and_statsmodels(margin):
    p, gains = p_of("non-inferiority, graded by sample", (-margin, INF))
    assert p == pytest.approx(stats.ttest_1samp(gains, -margin, alternative="greater").pvalue)
    p, gains = p_of("equivalence, graded by sample", (-margin, margin), gain=0.0)
    assert p == pytest.approx(DescrStatsW(gains).ttost_mean(-margin, margin)[0])


def test_superiority_of_0_and_1_is_mcnemars_exact_test():
    p, gains = p_of("superiority, 0 or 1 by sample", (0.0, INF))
    won, lost = int((gains > 0).sum()), int((gains < 0).sum())
    assert p == pytest.approx(stats.binomtest(won, won + lost, alternative="greater").pvalue)
    p, _ = p_of("superiority, 0 or 1 by sample", (0.0, INF), gain=-EXPECTED)
    assert p > 0.9  # a loss


def test_margins_of_0_and_1_agree_with_the_interval():
    """The lower end of the 95 % interval is the margin at which p is 0.025."""
    for case in ("non-inferiority, 0 or 1 by sample", "non-inferiority, 0 or 1 by patient"):
        pairs = CASES[case].pairs(np.random.default_rng(2), 150, 0.0)
        difference = difference_of(pairs)
        low, high = difference.metric.ci_low, difference.metric.ci_high
        assert claim_p(pairs, difference, (low, INF)) == pytest.approx(0.025)
        assert claim_p(pairs, difference, (low, high)) == pytest.approx(0.025)
        assert (
            claim_p(pairs, difference, (low - 0.01, high + 0.2)) < 0.025 < claim_p(pairs, difference, (low + 0.01, INF))
        )


def test_what_does_not_vary_is_not_tested_unless_it_is_0_or_1():
    case = CASES["non-inferiority, graded by sample"]
    pairs = case.pairs(np.random.default_rng(0), 30, 0.0)
    pairs.gains[:] = 0.25
    assert claim_p(pairs, difference_of(pairs), (-0.1, INF)) is None
    pairs = CASES["non-inferiority, 0 or 1 by sample"].pairs(np.random.default_rng(0), 200, 0.0)
    pairs.gains[:] = 0.0
    assert claim_p(pairs, difference_of(pairs), (-0.1, INF)) < 1e-6


def test_adjusted_by_holm_or_by_order_and_secondary_after_primary():
    assert adjusted([0.01, 0.02], [], by_order=False) == ([0.02, 0.02], [])
    assert adjusted([0.01, 0.02], [0.001], by_order=False) == ([0.02, 0.02], [0.02])
    assert adjusted([0.02, 0.01, 0.04], [0.001, 0.5], by_order=True) == ([0.02, 0.02, 0.04], [0.04, 0.5])
    assert adjusted([0.001, None], [0.001], by_order=False) == ([0.002, 1.0], [1.0])


@each_row("n, alpha", [(20, 0.05), (50, 0.025), (200, 0.01)])
def test_power_of_a_t_test_is_that_of_statsmodels(n, alpha):
    for effect in (0.1, 0.3, 0.6):
        theirs = TTestPower().power(effect, n, alpha / 2, alternative="larger")
        assert t_power(effect, n, alpha) == pytest.approx(theirs, abs=1e-6)


@each_row("alpha", [0.05, 0.0333, 0.025, 0.0167, 0.01, 0.001])
def test_power_of_mcnemars_test_is_the_sum_over_all_tables(alpha):
    for n, won, lost in ((30, 0.3, 0.1), (80, 0.2, 0.08), (200, 0.1, 0.03)):
        found = 0.0
        for differ in range(6, n + 1):
            wins = np.arange(differ + 1)
            p = np.minimum(1, 2 * stats.binom.cdf(np.minimum(wins, differ - wins), differ, 0.5))
            chance = stats.binom.pmf(wins, differ, won / (won + lost))
            found += stats.binom.pmf(differ, n, won + lost) * chance[p <= alpha].sum()
        assert mcnemar_power(n, won, lost, alpha) == pytest.approx(found, abs=1e-6), (n, won, lost)


def test_needed_samples_have_the_power_and_one_less_has_not():
    alone = Clusters.of(map(str, range(100)))
    for planned in (Planned((0.1, INF), 0.5), Planned((0.1, 0.1), 0.5), Planned((0.1, INF), 0.5, 0.0, (0.2, 0.1))):
        n = planned.needed(alone, 0.05, 0.8)
        assert planned.power(alone.scaled(n), 0.05) >= 0.8 > planned.power(alone.scaled(n - 1), 0.05)
    theirs = TTestPower().solve_power(0.2, power=0.8, alpha=0.025, alternative="larger")
    assert Planned((0.1, INF), 0.5).needed(alone, 0.05, 0.8) == math.ceil(theirs)
    assert Planned((1e-9, INF), 0.5).needed(alone, 0.05, 0.8) is None


def test_patients_with_several_samples_have_kishs_design_effect():
    names = [name for k in range(40) for name in [str(k)] * (1 + k % 5)]
    clusters, planned = Clusters.of(names), Planned((0.1, INF), 0.5, within=0.3)
    sizes = np.bincount([int(name) for name in names])
    design = 1 + ((sizes**2).sum() / sizes.sum() - 1) * 0.3
    effect = 0.1 / (0.5 * math.sqrt(design * 40 / len(names)))
    assert planned.power(clusters, 0.05) == pytest.approx(t_power(effect, 40))
    assert planned.needed(clusters, 0.05, 0.8) > Planned((0.1, INF), 0.5).needed(clusters, 0.05, 0.8)


@slow
@each_row("case", list(CASES))
def test_type_1_error_and_power_in_simulation(case):
    """Measured with 4,000 studies each by ``python -m benchmarks coverage_claims``; here with fewer."""
    false, power, _ = simulated(case, 400)
    assert false <= LIMIT + 1.7 and power >= 72.0


def test_a_mean_of_means_by_uneven_groups_needs_more_samples():
    """By two groups of 10 and 30, 40 samples vary as 30 do by n times the sum of squared weights; even ones as all."""
    samples, planned = Clusters.of(map(str, range(40))), Planned((0.3, INF), 0.5, changes=(0.2, 0.1))
    uneven, even = (samples.levelled([{"task": str(n < size)} for n in range(40)], ["task"]) for size in (10, 20))
    assert (uneven.unequal, even.unequal) == pytest.approx((40 * (0.5**2 / 10 + 0.5**2 / 30), 1))
    assert samples.levelled([{"task": "a"}] * 40, ["task"]) == samples == samples.levelled([{}] * 40, ["task"])
    nested = samples.levelled([{"task": str(n // 10), "ward": str(n < 30)} for n in range(40)], ["task", "ward"])
    assert nested.unequal == pytest.approx(40 * (3 * (1 / 6) ** 2 + (1 / 2) ** 2) / 10)
    assert uneven.scaled(80).unequal == uneven.unequal
    assert planned.power(even, 0.05) == pytest.approx(t_power(0.6, 40, 0.05))
    assert planned.power(uneven, 0.05) < planned.power(even, 0.05)
