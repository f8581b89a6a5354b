"""Evidence of drift: exact cases against a library, and by simulation how often it is a false alarm and how soon true."""

from itertools import pairwise

import numpy as np
import pytest

from benchmarks.coverage_drift import share_of_alarms, watched
from runner.drift.evidence import bets_on, evidence_of, newest_against_all, oddness
from tests.slow import slow

SAME = {"score": 1.0, "length": 5.0, "calls": 1, "answer": "a", "tools": "look", "ending": "answered"}


def test_bets_are_one_at_most_in_the_mean_over_all_ranks():
    found = np.array([bets_on(rank / 1_000, 1_000) for rank in range(1, 1_001)]).mean(axis=0)
    assert found[0] == pytest.approx(1.0) and 0.95 < found[1] <= 1.0


def test_evidence_averages_over_the_check_at_which_drift_begins():
    p_values = [0.5, 0.03, 0.001, 0.9]
    bets = np.array([bets_on(p, 1_000) for p in p_values])
    for n, found in enumerate(evidence_of(p_values, draws=999), 1):
        products = [bets[s - 1 : n].prod(axis=0).mean() / (s * (s + 1)) for s in range(1, n + 1)]
        assert found == pytest.approx(sum(products) + 1 / (n + 1))


def test_an_endpoint_that_always_answers_alike_lowers_the_evidence():
    found = newest_against_all([[SAME] * 6] * 40, seed=1, draws=999)
    assert found.p == 1.0 and set(found.signals.values()) == {1.0}
    assert all(0.5 <= bet < 0.6 for bet in bets_on(1.0, 1_000))


@pytest.mark.parametrize("moved", [1, 3, 5])
def test_p_of_a_signal_is_binomial_where_each_moved_sample_was_one_thing_only(moved):
    """Each of the moved samples is as odd only if its newest answer is drawn, one of six."""
    from scipy.stats import binom

    samples = [[SAME] * 5 + [SAME | {"ending": "refused"}]] * moved + [[SAME] * 6] * (40 - moved)
    found = newest_against_all(samples, seed=2, draws=99_999)
    assert found.signals["ending"] == pytest.approx(binom.sf(moved - 1, moved, 1 / 6), rel=0.2)
    assert found.p == pytest.approx(found.signals["ending"], rel=0.2)


def test_oddness_of_numbers_has_a_sign_and_that_of_words_counts_others():
    assert oddness("score", [1.0, 1.0, 0.0, None]) == pytest.approx([1 / 3, 1 / 3, -2 / 3, 0.0])
    assert oddness("answer", ["a", "a", None]) == [0.5, 0.5, 1.0]
    assert oddness("length", [None, None]) == [0.0, 0.0] and oddness("answer", ["a"]) == [0.0]


def test_the_same_answers_give_the_same_evidence_and_a_drop_gives_more():
    assert watched(3, checks=3) == watched(3, checks=3)
    assert watched(3, checks=3, drop=0.5)[-1] > 100 > watched(3, checks=3)[-1]


def test_order_of_the_baseline_does_not_matter():
    other = SAME | {"score": 0.0, "answer": "b"}
    samples = [[SAME, other, SAME, SAME, other], [SAME, SAME, other, SAME, other]]
    (first, second) = (newest_against_all([one] * 30, seed=4, draws=999) for one in samples)
    assert first == second


ALPHA, PATHS = 0.05, 300


@slow
@pytest.mark.parametrize("settings", [{"repeats": 5}, {"repeats": 2, "samples": 30}, {"concentration": 0.2}])
def test_false_alarms_are_bounded_whenever_one_looks(settings):
    """At any of twenty checks."""
    share, _ = share_of_alarms(PATHS, ALPHA, checks=20, draws=499, **settings)
    assert share <= ALPHA + 2 * (ALPHA * (1 - ALPHA) / PATHS) ** 0.5


@slow
def test_greater_drift_is_found_more_often():
    """60 samples, five repeats, at most eight checks; docs/guides/drift.md has the figures."""
    shares = [
        share_of_alarms(40, 0.01, checks=8, samples=60, drop=drop, draws=9_999)[0] for drop in (0.0, 0.1, 0.2, 0.3)
    ]
    assert all(low <= high for low, high in pairwise(shares)) and shares[0] <= 0.05 and shares[-1] >= 0.95
