"""Statistical power, against published sample sizes."""

import math
from math import comb

import pytest

from runner.results.kinds import Scale
from runner.results.pairs import difference_of, pairs_of
from runner.results.significance import (
    clusters_for,
    least_difference,
    least_effect,
    mcnemar_power,
    pairs_for,
    sign_test_p,
)
from tests.runner.results.records import records
from tests.slow import slow
from tests.table import each_row


@each_row("effect, pairs", [(0.2, 199), (0.5, 34), (0.8, 15)])
def test_sample_sizes_of_the_paired_t_test_match_published_ones(effect, pairs):
    # G*Power (Faul et al. 2007) and Lakens 2022, ch. 8: d_z of 0.2, 0.5, 0.8 at 80 % and 5 %, two-sided
    assert clusters_for(effect) == pairs and least_effect(pairs) <= effect < least_effect(pairs - 1)


@slow
@each_row("clusters", [3, 4, 5, 10, 34, 199, 2200])
def test_power_matches_statsmodels(clusters):
    from statsmodels.stats.power import TTestPower

    wanted = TTestPower().solve_power(nobs=clusters, alpha=0.05, power=0.8, alternative="two-sided")
    assert least_effect(clusters) == pytest.approx(wanted, rel=1e-5)


@slow
@each_row("effect", [0.05, 0.1, 0.3, 0.7, 1.0, 1.5, 2.0, 3.0, 3.2])
def test_number_of_clusters_matches_statsmodels(effect):
    from statsmodels.stats.power import TTestPower

    wanted = TTestPower().solve_power(effect_size=effect, alpha=0.05, power=0.8, alternative="two-sided")
    assert clusters_for(effect) == max(6, math.ceil(wanted)), "with fewer no test by signs comes below 5 %"


def test_very_small_and_very_large_effects_are_solved():
    assert clusters_for(0.001) == pytest.approx(7.8489 / 1e-6, rel=1e-4)
    assert clusters_for(0.0199) == pytest.approx(clusters_for(0.0201), rel=0.03)
    assert clusters_for(5.0) == clusters_for(1000.0) == 6


def detectable(differences, clusters=None):
    zeros = records([0.0] * len(differences), clusters)
    scale = Scale("proportion" if set(differences) <= {0.0, 1.0} else "number")
    return difference_of(pairs_of(records(differences, clusters), zeros, "score/x", scale))


def test_detectable_difference_has_80_percent_power():
    gain = detectable([0.5, -1.0, 2.0, 0.0, 1.5, -0.5, 1.0, 0.25, 0.75, -2.0] * 3)
    deviation = gain.standard_error * math.sqrt(30)
    least = gain.least_detectable()
    assert clusters_for(least / deviation * 1.0001) == 30, "one sample less would not be enough"
    assert 0 < gain.metric.value < least and gain.more_samples() == clusters_for(gain.metric.value / deviation) - 30


def test_new_patients_have_as_many_samples_as_the_observed_ones():
    differences, clusters = [0.5, 0.7, -1.0, -0.6, 2.0, 1.0, 0.0, 0.2], [0, 0, 1, 1, 2, 2, 3, 3]
    gain = detectable(differences, clusters)
    effect = gain.metric.value / (gain.standard_error * 2)
    assert gain.clusters == 4 and gain.more_samples() == 2 * (clusters_for(effect) - 4)


@each_row("differences", [[0.5] * 5, [0.0] * 5, [1.0, 2.0], []])
def test_no_variance_gives_no_estimate(differences):
    assert detectable(differences).least_detectable() is None and detectable(differences).more_samples() is None


def test_clear_difference_needs_no_more_samples():
    assert detectable([5.0, 5.1, 4.9, 5.0, 5.2] * 200).more_samples() == 0


def test_few_differing_pairs_give_no_estimate():
    assert detectable([0.5, *[0.0] * 20]).least_detectable() is None
    assert detectable([0.5, 0.4, 0.3, -0.2, 0.6, 0.1, *[0.0] * 20]).least_detectable() > 0


def test_fewer_than_six_clusters_never_reach_significance():
    gain = detectable([5.0, 5.1, 4.9, 5.0, 5.2])
    assert gain.p == 2 / 2**5 and gain.least_detectable() is None and gain.more_samples() == 1


def summed(pairs, won, lost):
    """The power by adding up every outcome."""
    share = won + lost
    return sum(
        comb(pairs, differ) * share**differ * (1 - share) ** (pairs - differ)
        * comb(differ, wins) * (won / share) ** wins * (lost / share) ** (differ - wins)
        for differ in range(pairs + 1) for wins in range(differ + 1) if sign_test_p(wins, differ - wins) <= 0.05
    )  # fmt: skip


@each_row("pairs, won, lost", [(5, 1.0, 0.0), (6, 0.8, 0.1), (15, 0.5, 0.0), (40, 0.3, 0.1), (100, 0.2, 0.1)])
def test_power_of_mcnemars_test_is_the_sum_over_all_outcomes(pairs, won, lost):
    assert mcnemar_power(pairs, won, lost) == pytest.approx(summed(pairs, won, lost), abs=1e-9)


def test_mcnemars_test_needs_six_differing_pairs():
    # 5 of 6 won, none lost: p = 0.0625, which a t-test with its t of 5 would call significant
    gain = detectable([1.0] * 5 + [0.0])
    assert gain.p == 0.0625 and gain.more_samples() > 0, "the available pairs are not enough"
    assert summed(6 + gain.more_samples(), 5 / 6, 0.0) >= 0.8
    least = detectable([1.0] + [0.0] * 39).least_detectable()
    assert least == least_difference(40, 1) and least * 40 > 6, (
        "a t-test would say 0.07: three pairs of 40, whose p is 0.25"
    )
    assert mcnemar_power(40, least, 0.0) >= 0.8 > mcnemar_power(40, least - 0.001, 0.0)


@each_row("won, lost", [(0.5, 0.0), (0.1, 0.02), (0.3, 0.25)])
def test_computed_number_of_pairs_has_the_required_power(won, lost):
    about = clusters_for((won - lost) / math.sqrt(won + lost))
    wanted = pairs_for(won, lost, about)
    assert mcnemar_power(wanted, won, lost) >= 0.8 and about <= wanted < 1.5 * about


def test_impossible_gains_are_not_reported_as_detectable():
    wide = detectable([1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 0.5])
    assert wide.least_detectable() > 1 and wide.least_detectable(reach=1.0) is None
