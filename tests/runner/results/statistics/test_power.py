"""What samples can tell, against published sample sizes."""

import math

import pytest

from runner.results.statistics.gains import gain_of
from runner.results.statistics.pairing import pairs_of
from runner.results.statistics.power import clusters_for, detectable, least_effect, more_samples
from tests.runner.results.statistics.records import records


@pytest.mark.parametrize(("effect", "pairs"), [(0.2, 199), (0.5, 34), (0.8, 15)])
def test_sample_sizes_of_the_paired_t_test_are_those_in_print(effect, pairs):
    # G*Power (Faul et al. 2007) and Lakens 2022, ch. 8: d_z of 0.2, 0.5, 0.8 at 80 % and 5 %, two-sided
    assert clusters_for(effect) == pairs and least_effect(pairs) <= effect < least_effect(pairs - 1)


@pytest.mark.parametrize("clusters", [3, 4, 5, 10, 34, 199, 2200])
def test_the_power_is_that_of_statsmodels(clusters):
    from statsmodels.stats.power import TTestPower

    wanted = TTestPower().solve_power(nobs=clusters, alpha=0.05, power=0.8, alternative="two-sided")
    assert least_effect(clusters) == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize("effect", [0.05, 0.1, 0.3, 0.7, 1.0, 1.5, 2.0, 3.0, 3.2])
def test_the_number_of_clusters_is_that_of_statsmodels(effect):
    from statsmodels.stats.power import TTestPower

    wanted = TTestPower().solve_power(effect_size=effect, alpha=0.05, power=0.8, alternative="two-sided")
    assert clusters_for(effect) == math.ceil(wanted)


def test_very_small_and_very_large_effects_are_solved_too():
    assert clusters_for(0.001) == pytest.approx(7.8489 / 1e-6, rel=1e-4)
    assert clusters_for(0.0199) == pytest.approx(clusters_for(0.0201), rel=0.03)
    assert clusters_for(5.0) == clusters_for(1000.0) == 3


def found(differences, clusters=None):
    return gain_of(pairs_of(records(differences, clusters), records([0.0] * len(differences), clusters), "score/x"))


def test_the_detectable_difference_is_found_with_80_percent_by_as_many_samples():
    gain = found([0.5, -1.0, 2.0, 0.0, 1.5, -0.5, 1.0, 0.25, 0.75, -2.0] * 3)
    deviation = gain.standard_error * math.sqrt(30)
    least = detectable(gain)
    assert clusters_for(least / deviation * 1.0001) == 30, "one sample less would not do"
    assert 0 < gain.metric.value < least and more_samples(gain) == clusters_for(gain.metric.value / deviation) - 30


def test_patients_bring_as_many_samples_as_those_at_hand():
    differences, clusters = [0.5, 0.7, -1.0, -0.6, 2.0, 1.0, 0.0, 0.2], [0, 0, 1, 1, 2, 2, 3, 3]
    gain = found(differences, clusters)
    effect = gain.metric.value / (gain.standard_error * 2)
    assert gain.clusters == 4 and more_samples(gain) == 2 * (clusters_for(effect) - 4)


@pytest.mark.parametrize("differences", [[0.5] * 5, [0.0] * 5, [1.0, 2.0], []])
def test_nothing_is_told_where_nothing_varies(differences):
    assert detectable(found(differences)) is None and more_samples(found(differences)) is None


@pytest.mark.parametrize("n", [5, 1000])
def test_a_clear_difference_needs_no_more(n):
    assert more_samples(found([5.0, 5.1, 4.9, 5.0, 5.2] * (n // 5))) == 0
