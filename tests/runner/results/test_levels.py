"""Means of means, by hand."""

import numpy as np
import pytest

from components.cab.scorers import Cab, ToolUse
from components.core.errors import ConfigError
from components.core.traits import ScorerTraits
from components.scorers.choice import Choice
from runner.experiment.experiment import declared_scores
from runner.results.formulas import wilson
from runner.results.levels import Nested, average, nested_metrics
from runner.results.metrics import summarise
from runner.results.table import Table
from tests.runner.results.test_metrics import record
from tests.slow import slow

LEVELS = {"score/x": ["task", "dimension"]}
KINDS = {"score/x": "proportion"}


def records():
    """Knowledge: tasks a (0.75 of 4) and b (0.5 of 2); data: task c (1 of 2); nothing: task d, unscored."""
    values = {"a": [1, 1, 1, 0], "b": [1, 0], "c": [1, 1], "d": [None, None]}
    of = {"a": "knowledge", "b": "knowledge", "c": "data", "d": "nothing"}
    pairs = [(task, value) for task, found in values.items() for value in found]
    return [record(n, value, task=task, dimension=of[task]) for n, (task, value) in enumerate(pairs)]


def test_tasks_have_equal_weight_in_a_dimension_and_dimensions_in_the_total():
    found = nested_metrics(records(), LEVELS, KINDS)
    assert list(found) == [
        "dimension/data/score/x",
        "dimension/knowledge/score/x",
        "dimension/nothing/score/x",
        "total/score/x",
    ]
    assert found["dimension/knowledge/score/x"].value == pytest.approx((0.75 + 0.5) / 2)
    assert found["dimension/data/score/x"].value == 1.0
    assert found["total/score/x"].value == pytest.approx((0.625 + 1.0) / 2)
    assert (found["total/score/x"].n, found["total/score/x"].unscored) == (8, 2)


def test_dimension_without_a_score_is_empty_and_not_zero():
    found = nested_metrics(records(), LEVELS, KINDS)["dimension/nothing/score/x"]
    assert (found.value, found.ci_low, found.n, found.unscored) == (None, None, 0, 2)


def test_intervals_contain_their_means_also_without_variance():
    for metric in nested_metrics(records(), LEVELS, KINDS).values():
        if metric.value is not None:
            assert 0 <= metric.ci_low <= metric.value <= metric.ci_high <= 1 and metric.ci_low < metric.ci_high
    data = nested_metrics(records(), LEVELS, KINDS)["dimension/data/score/x"]
    assert data.ci_low < 0.8, "two correct answers of two prove little"


def test_intervals_do_not_depend_on_the_order_of_the_records():
    assert nested_metrics(records(), LEVELS, KINDS) == nested_metrics(records()[::-1], LEVELS, KINDS)


def test_interval_matches_the_bootstrap_over_clusters_within_tasks():
    many = [record(n, float(n % 3 > 0), task=f"t{n % 2}", dimension="k") for n in range(600)]
    found = nested_metrics(many, LEVELS, KINDS)["total/score/x"]
    half = 1.96 * np.sqrt(2 / 9 / 600)  # by theory: two tasks of 300, each p (1 - p) = 2/9
    assert found.ci_high - found.ci_low == pytest.approx(2 * half, rel=0.15)
    clustered = [one | {"cluster": f"p{n // 6}"} for n, one in enumerate(many)]
    assert nested_metrics(clustered, LEVELS, KINDS)["total/score/x"].ci_low != found.ci_low


def test_single_cluster_gives_no_interval():
    rows = [record(0, 0.5, task="a", dimension="k"), *records()]
    found = nested_metrics(rows, LEVELS, {"score/x": "number"})
    assert found["dimension/k/score/x"].no_interval == "n too small" == found["total/score/x"].no_interval
    assert found["dimension/knowledge/score/x"].ci_low is not None
    bounded = nested_metrics(rows, LEVELS, {"score/x": "share"})
    assert bounded["dimension/k/score/x"].no_interval == "n too small", "a single sample"
    assert bounded["total/score/x"].ci_low < 0.3, "its bounds say how far a single sample can be off"


def test_a_total_over_some_dimensions():
    table = Table.of(records())
    nested = Nested(table, table["scores/score/x"], ["task", "dimension"])
    assert nested.total(["knowledge"]).value == 0.625 and nested.total([]).value is None


def test_records_without_the_strata_count_as_unscored():
    found = nested_metrics([*records(), record(99, 1.0)], LEVELS, KINDS)["total/score/x"]
    assert (found.value, found.unscored) == (pytest.approx(0.8125), 3)


def test_more_than_two_levels():
    rows = [record(n, float(n < 1), task=f"t{n % 2}", part=f"p{n % 2}", dimension="k") for n in range(4)]
    found = nested_metrics(rows, {"score/x": ["task", "part", "dimension"]}, KINDS)
    assert found["dimension/k/score/x"].value == pytest.approx((0.5 + 0) / 2)


def test_summary_has_means_of_means_after_scores_and_only_on_request():
    found = list(summarise(records(), LEVELS)["metrics"])
    assert found[:5] == [
        "score/x",
        "dimension/data/score/x",
        "dimension/knowledge/score/x",
        "dimension/nothing/score/x",
        "total/score/x",
    ]
    assert not any(name.startswith("total/") for name in summarise(records())["metrics"])
    assert "total/score/y" not in summarise(records(), {"score/y": ["task"]})["metrics"]


def test_single_group_has_no_separate_means():
    one = [record(n, float(n), task="a", dimension="k") for n in range(2)]
    assert nested_metrics(one, LEVELS, KINDS) == nested_metrics([*one, record(9, 1.0)], LEVELS, KINDS) == {}
    two = nested_metrics([*one, record(9, 1.0, task="b", dimension="k")], {"score/x": ["task"]}, KINDS)
    assert list(two) == ["task/a/score/x", "task/b/score/x", "total/score/x"] and two["total/score/x"].value == 0.75


def test_scorers_declare_levels():
    assert declared_scores({"cab": Cab(), "tools": ToolUse()})["levels"] == {
        "score/strict": ["task", "dimension"], "score/official": ["task", "dimension"],
    }  # fmt: skip
    assert declared_scores({"choice": Choice()})["levels"]["score/strict"] == ["task"]
    nameless = type("Nameless", (), {"traits": ScorerTraits(levels=("task",))})()
    with pytest.raises(ConfigError, match=r"scorer\.mine: it has levels \['task'\], but no names"):
        declared_scores({"mine": nameless})


def test_mean_of_no_records_is_empty():
    assert average([]).value is None


@slow
def test_few_samples_per_group_use_students_t_with_welch_degrees_of_freedom():
    from scipy import stats

    values = {"a": [0.1, 2.3, 1.4, 0.2, 1.9], "b": [7.0, 9.5, 6.1, 8.8]}
    pairs = [(task, one) for task, of in values.items() for one in of]
    rows = [record(n, one, task=task) for n, (task, one) in enumerate(pairs)]
    found = nested_metrics(rows, {"score/x": ["task"]}, {"score/x": "number"})["total/score/x"]
    welch = stats.ttest_ind(values["a"], [-one for one in values["b"]], equal_var=False).confidence_interval()
    assert (found.ci_low, found.ci_high) == pytest.approx((welch.low / 2, welch.high / 2))


def test_single_correct_answer_per_group_gives_a_wide_interval():
    rows = [record(n, 1.0, task=f"t{n}") for n in range(3)]
    found = nested_metrics(rows, {"score/x": ["task"]}, KINDS)["total/score/x"]
    assert (found.value, found.ci_low, found.ci_high) == (1.0, pytest.approx(wilson(3, 3)[0]), 1.0)
