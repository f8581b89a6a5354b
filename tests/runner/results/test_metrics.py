"""Metrics by hand: means, Wilson's interval, the bootstrap over patients, strata, unknown values."""

import pytest

from runner.results.formulas import wilson
from runner.results.intervals import unfinished_mean
from runner.results.kinds import Scale
from runner.results.metrics import metrics, summarise
from tests.table import each_row

PROPORTION, SHARE, KINDS = Scale("proportion"), Scale("share"), {"score/x": "proportion"}


def mean(*given, **options):
    """The metric with its interval."""
    return unfinished_mean(*given, **options).finished


def record(n, value, cluster=None, stop="answered", cost=0.5, **strata):
    usage = {"calls": 2, "input_tokens": 10, "output_tokens": 3, "cost_usd": cost}
    return {
        "sample_id": f"s{n}", "epoch": 0, "cluster": cluster, "strata": strata, "stop": stop, "scores": {"score/x": value},
        "ceilings": {"score/x": 1.0}, "usage": usage | {"purposes": {"act": usage}}, "seconds": float(n),
    }  # fmt: skip


def test_a_plain_proportion_gets_wilson_and_clusters_get_the_bootstrap():
    values = [1.0] * 8 + [0.0] * 2
    plain = mean(values, list(range(10)), PROPORTION)
    assert (plain.ci_low, plain.ci_high) == pytest.approx(wilson(8, 10))
    clustered = mean(values, [0, 0, 1, 1, 2, 2, 3, 3, 4, 4], PROPORTION)
    assert clustered.ci_low < plain.ci_low < clustered.value == 0.8


def test_proportion_without_variance_is_not_reported_as_certain():
    metric = mean([1.0] * 10, [0, 0, 1, 1, 2, 2, 3, 3, 4, 4], PROPORTION)
    assert (metric.ci_low, metric.ci_high) == pytest.approx(wilson(5, 5))


def test_unscored_samples_are_left_out_and_counted():
    metric = mean([1.0, None, 0.0, None], [0, 1, 2, 3], PROPORTION, ceiling=0.75)
    assert (metric.value, metric.n, metric.unscored, metric.ceiling) == (0.5, 2, 2, 0.75)
    assert mean([None], [0], SHARE).value is None


def test_strata_endings_and_totals():
    rows = [record(0, 1.0, part="a"), record(1, 0.0, part="b"), record(2, None, stop="error", part="b")]
    out = summarise(rows)
    assert out["metrics"]["score/x"]["value"] == 0.5
    assert out["metrics"]["errors/rate"]["value"] == pytest.approx(1 / 3)
    assert (out["metrics"]["stop/answered"]["value"], out["metrics"]["stop/answered"]["n"]) == (1.0, 2)
    assert out["strata"]["part"]["b"]["score/x"]["value"] == 0.0
    assert out["metrics"]["cost/usd"]["value"] == 1.5 and out["metrics"]["calls/act"]["value"] == 6
    assert out["metrics"]["time/seconds_p50"]["value"] == 1.0


def test_an_unknown_price_makes_the_cost_unknown():
    found = metrics([record(0, 1.0), record(1, 1.0, cost=None)], {})["cost/usd"]
    assert (found.value, found.n, found.unscored) == (None, 1, 1)


def test_no_records_give_no_metrics():
    assert metrics([], {}) == {}


def test_count_is_never_treated_as_a_proportion():
    rows = [record(n, 1.0) for n in range(4)]
    assert summarise(rows, kinds=KINDS)["metrics"]["score/x"]["ci_low"] == pytest.approx(wilson(4, 4)[0])
    found = summarise(rows, kinds={"score/x": "count"})["metrics"]["score/x"]
    assert (found["ci_low"], found["ci_high"]) == pytest.approx((0.2725, 2.5604), abs=1e-4), "Garwood 1936: 4 events"
    undeclared = summarise(rows)["metrics"]["score/x"]
    assert (undeclared["ci_low"], undeclared["no_interval"]) == (None, "does not vary")


def test_interval_of_a_count_does_not_go_below_zero():
    rows = [record(n, float(n > 42) * 3) for n in range(44)]
    summary = summarise(rows, kinds={"score/x": "count"})["metrics"]["score/x"]
    assert summary["ci_low"] == 0.0 < summary["value"] < summary["ci_high"]


def test_means_per_stratum_value_are_next_to_the_overall_mean():
    rows = [record(0, 0.0, level="I"), record(1, 0.0, level="I"), record(2, 1.0, level="II")]
    summary = summarise(rows, by={"score/x": ["level"]})["metrics"]
    assert summary["score/x"]["value"] == pytest.approx(1 / 3) and "total/score/x" not in summary
    assert summary["level/I/score/x"] == summarise(rows)["strata"]["level"]["I"]["score/x"]
    assert "level/I/score/x" not in summarise(rows[:2], by={"score/x": ["level"]})["metrics"]


def test_undefined_score_has_no_strata():
    rows = [record(n, None, level="I" if n < 2 else "II") for n in range(5)]
    summary = summarise(rows, by={"score/x": ["level"]})["metrics"]
    assert summary["score/x"]["value"] is None and not [name for name in summary if name.startswith("level/")]


@each_row("lost", [{1}, {0, 1}, {0, 1, 2, 3}])
def test_stratum_with_only_errors_has_no_value_and_counts_them(lost):
    rows = [record(n, 1.0, level="I" if n < 2 else "II") for n in range(4)]
    for n in lost:
        rows[n] |= {"stop": "error", "scores": {}, "ceilings": {}}
    found = summarise(rows, {"score/x": ["level"]}, {"score/x": ["level"]}, KINDS)
    if len(lost) == 4:
        assert found["strata"]["level"] == {"I": {}, "II": {}}, "no sample has any score"
        return
    of = found["strata"]["level"]["I"]["score/x"]
    assert (of["n"], of["unscored"]) == (2 - len(lost), len(lost)) and (of["value"] is None) == (len(lost) == 2)
    assert found["metrics"]["level/I/score/x"] == of and found["metrics"]["score/x"]["unscored"] == len(lost)
