"""Which episodes are paired, and how the others are reported."""

from math import isnan

import numpy as np
import pytest

from components.core.score_names import EXPECTED, RATED
from runner.results.kinds import NUMBER, Scale
from runner.results.pairs import difference_of, pairs_of
from runner.results.significance import compare
from runner.results.table import OWN, Table, align
from tests.runner.results.records import record, records
from tests.table import each_row


def test_pairs_are_the_same_sample_and_epoch_scored_on_both_sides():
    mine = [record("a", 1.0), record("a", 0.0, epoch=1), record("b", 1.0), record("c", None), record("d", 1.0)]
    theirs = [
        record("a", 0.0),
        record("a", 0.0, epoch=1),
        record("b", 1.0, stop="error"),
        record("c", 1.0),
        record("e", 1.0),
    ]
    found = pairs_of(mine, theirs, "score/x", NUMBER)
    assert len(found.table) == 2
    assert found.gains.tolist() == [1.0, 0.0]
    assert found.unpaired == {
        "ended in an error": ["b"], "unscored": ["c"], "run on one side only": ["d", "e"],
    }, "an error is never a zero"  # fmt: skip
    assert found.n_unpaired == 4


def test_harm_is_not_compared_where_a_side_has_errors_and_none_is_rated():
    def harms(*cases):
        return [record(f"s{n}", None) | {"scores": {EXPECTED: harm, RATED: rated}} for n, (harm, rated) in
                enumerate(cases)]  # fmt: skip

    right, unrated, bad = (0.0, None), (None, 0.0), (0.7, 1.0)
    theirs = harms(right, right, bad)
    found = pairs_of(harms(right, unrated, right), theirs, EXPECTED, Scale("share"), "lower")
    assert not len(found.gains) and found.unpaired == {"without rated harm": ["s0", "s1", "s2"]}
    found = pairs_of(harms(bad, unrated, right), theirs, EXPECTED, Scale("share"), "lower")
    assert found.gains.tolist() == [-0.7, 0.7] and found.unpaired == {"without rated harm": ["s1"]}


def test_sample_with_a_missing_epoch_is_named():
    assert pairs_of([record("a", 1.0, epoch=2)], [], "score/x", NUMBER).unpaired == {
        "run on one side only": ["a (epoch 2)"]
    }


def test_decrease_is_a_gain_where_low_is_better():
    mine, theirs = records([1.0, 4.0]), records([3.0, 3.0])
    for direction, differences in (("lower", [2.0, -1.0]), ("higher", [-2.0, 1.0])):
        found = pairs_of(mine, theirs, "score/x", NUMBER, direction)
        assert found.gains.tolist() == differences


def test_t_has_the_sign_of_the_gain_where_patients_have_different_numbers_of_samples():
    """Two patients of one sample each lose, one of eight wins: their means lose, the samples win."""
    clusters = [0] * 8 + [1, 2]
    mine, theirs = records([1.0] * 8 + [0.0, 0.0], clusters), records([0.0] * 8 + [1.0, 1.0], clusters)
    for sides, sign in (((mine, theirs), 1), ((theirs, mine), -1)):
        found = difference_of(pairs_of(*sides, "score/x", NUMBER))
        assert (found.metric.value, found.t) == (sign * 0.6, pytest.approx(sign * 0.6 / 0.48))


def test_t_is_that_of_the_paired_test_where_patients_have_as_many_samples():
    mine, theirs = records([3.0, 1.0, 4.0, 1.0, 5.0, 9.0], [0, 0, 1, 1, 2, 2]), records([2.0, 7.0, 1.0, 8.0, 2.0, 8.0])
    found, of = difference_of(pairs_of(mine, theirs, "score/x", NUMBER)), compare([2.0, 2.5, 7.0], [4.5, 4.5, 5.0])
    assert (found.t, found.t_p) == pytest.approx((of.t, of.p_value))


@each_row(
    "metric, value",
    [("score/x", 1.0), ("score/none", None), ("stop/answered", 1.0), ("stop/refused", 0.0), ("calls/per_sample", 3.0),
     ("tokens/input", 20.0), ("cost/usd", None), ("time/seconds", 0.5)],
)  # fmt: skip
def test_scores_endings_and_costs_can_be_compared(metric, value):
    table = Table.of([record("a", 1.0), record("a", 1.0, stop="error")])
    values = [None if isnan(one) else one for one in table.values(metric)]
    assert values == [value, None]
    assert metric.startswith("score") or metric in OWN


def test_tables_are_aligned_by_sample_and_epoch_whatever_their_order():
    one = Table.of([record("b", 1.0), record("a", 0.0, epoch=1), record("a", 0.5)])
    other = Table.of([record("a", 0.5), record("c", 1.0), record("b", 0.0), record("b", 0.25)])
    keys, (left, right) = align(one, other)
    assert keys == (("a", 0), ("a", 1), ("b", 0), ("c", 0))
    assert (left.tolist(), right.tolist()) == ([2, 1, 0, -1], [0, -1, 3, 1]), "of several the last, -1 for none"
    assert align(one, one.take(np.array([2, 0, 1]))).rows[1].tolist() == [0, 2, 1]
    assert hash(one.by_text.keys) == hash(keys[:3]), "tables share them, so they cannot be changed"
