import numpy as np
import pytest

from runner.rating.result import agreement, weighted_agreement
from tests.slow import slow

# Fleiss, Levin & Paik 2003, Statistical Methods for Rates and Proportions, table 18.1: two raters, 100 subjects.
DIAGNOSES = [[75, 1, 4], [5, 4, 1], [0, 0, 10]]
# The worked example of Fleiss' kappa that Wikipedia has: 14 raters, 10 subjects, 5 categories, kappa 0.210.
SUBJECTS = [
    [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
]  # fmt: skip


def two_raters(table):
    pairs = [(i, j) for i, row in enumerate(table) for j, n in enumerate(row) for _ in range(n)]
    return [list(rater) for rater in zip(*pairs, strict=True)]


def apart(n):
    return [str(i) for i in range(n)]


@slow
def test_cohens_kappa_and_its_interval_match_published_values():
    found = agreement(two_raters(DIAGNOSES), apart(100))
    assert found.kind == "Cohen's kappa" and found.n == 100 and found.share == pytest.approx(0.89)
    assert found.kappa == pytest.approx(0.676, abs=5e-4)
    assert (found.ci_low, found.ci_high) == pytest.approx((0.51, 0.85), abs=0.01)


def test_fleiss_kappa_matches_the_published_value():
    raters = np.array([[k for k, n in enumerate(row) for _ in range(n)] for row in SUBJECTS]).T.tolist()
    found = agreement(raters, apart(10))
    assert found.kind == "Fleiss' kappa" and found.kappa == pytest.approx(0.210, abs=5e-4)
    assert found.ci_low < found.kappa < found.ci_high


def test_interval_over_clusters_of_one_item_is_close_to_the_unclustered_one():
    raters = two_raters(DIAGNOSES)
    paired = agreement([[*raters[0], *raters[0]], [*raters[1], *raters[1]]], apart(100) * 2)
    assert paired.kappa == pytest.approx(0.676, abs=5e-4)
    assert (paired.ci_low, paired.ci_high) == pytest.approx((0.51, 0.85), abs=0.03)


def test_perfect_agreement_is_1_without_an_interval():
    found = agreement([["a", "b", "a"], ["a", "b", "a"]], apart(3))
    assert (found.kappa, found.share, found.ci_low) == (1.0, 1.0, None)
    assert agreement([["a", "b"]] * 3, apart(2)).kappa == 1.0


def test_one_category_leaves_kappa_undefined():
    found = agreement([["a", "a"], ["a", "a"]], apart(2))
    assert (found.kappa, found.share) == (None, 1.0)


def test_no_items_have_no_agreement():
    assert agreement([[], []], []).share is None


def test_kappa_and_its_interval_stay_within_their_range():
    found = agreement([["a", "a", "b"], ["a", "b", "b"]], apart(3))
    assert -1 <= found.ci_low <= found.kappa <= found.ci_high == 1


@pytest.mark.parametrize(
    ("raters", "kappa"), [([["a", "b"], ["b", "a"]], -1.0), ([["a", "a", "b"], ["a", "a", "a"]], 0.0)]
)
def test_undefined_standard_error_gives_no_interval(raters, kappa):
    found = agreement(raters, apart(len(raters[0])))
    assert (found.kappa, found.ci_low, found.ci_high) == (pytest.approx(kappa), None, None)


def test_one_cluster_has_no_interval():
    found = agreement([["a", "a", "b"], ["a", "b", "b"]], ["p"] * 3)
    assert found.kappa is not None and (found.ci_low, found.no_interval) == (None, "n too small")


def ordinal(n, spread, seed=0):
    """Two raters of n items on five levels, the second within ``spread`` levels of the first."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 5, n)
    return first.tolist(), np.clip(first + rng.integers(-spread, spread + 1, n), 0, 4).tolist()


def test_weighted_kappa_is_that_of_scikit_learn_and_counts_levels_that_nobody_picked():
    from sklearn.metrics import cohen_kappa_score

    first, second = ordinal(40, 1)
    found = weighted_agreement([first, second], apart(40), range(5))
    assert found.kappa == pytest.approx(cohen_kappa_score(first, second, weights="linear"))
    assert found.ci_low < found.kappa < found.ci_high
    assert found.kappa > agreement([first, second], apart(40)).kappa  # they are near each other
    wide = weighted_agreement([[0, 4, 0, 4], [0, 4, 4, 0]], apart(4), range(5))
    assert wide.kappa == pytest.approx(cohen_kappa_score([0, 4, 0, 4], [0, 4, 4, 0], weights="linear", labels=range(5)))


def test_weighted_kappa_of_three_raters_is_the_mean_over_pairs():
    first, second = ordinal(30, 1)
    pairs = [weighted_agreement(pair, apart(30), range(5)).kappa for pair in ([first, second], [first, first])]
    found = weighted_agreement([first, first, second], apart(30), range(5))
    assert found.kappa == pytest.approx((2 * pairs[0] + pairs[1]) / 3)


def test_weighted_kappa_has_no_interval_where_nothing_says_how_far_it_reaches():
    assert weighted_agreement([["a", "b"], ["a", "b"]], apart(2), "ab").kappa == 1.0
    assert weighted_agreement([["a", "b"], ["b", "a"]], ["p", "p"], "ab").no_interval == "n too small"
    assert weighted_agreement([["a"], ["a"]], ["p"], "ab").kappa is None
    assert weighted_agreement([[], []], [], "ab").share is None
