"""Directions and units of metrics: declared by scorers, known to the runner, and where they are used."""

from components.cab.scorers import ToolUse
from components.ehr.scorer import Ehr
from components.panel.scorer import Panel
from components.radiology.scorers.planning import Chain
from components.scorers.choice import Choice
from runner.experiment.experiment import declared_scores
from runner.results.kinds import as_gain, better, unit, units_of
from tests.table import each_row


@each_row(
    "metric, direction",
    [
        ("planning/levenshtein", "lower"), ("planning/fdr", "lower"), ("planning/tma", "higher"),
        ("total/planning/levenshtein", "lower"), ("task/x/planning/levenshtein", "lower"),
        ("planning/levenshtein_of_another", "higher"), ("cost/usd", "lower"), ("calls/per_sample", "lower"),
        ("time/seconds_p50", "lower"), ("errors/rate", "lower"), ("stop/failed", "lower"), ("stop/limit", "lower"),
        ("stop/answered", ""), ("stop/refused", ""),
    ],
)  # fmt: skip
def test_directions_of_metrics(metric, direction):
    assert better(metric, [{"lower": Chain.traits.lower}]) == direction


@each_row(
    "scorer, low, high",
    [
        (Choice, "score/unreadable", "score/strict"), (Ehr(), "ehr/failed_executions", "ehr/completed"),
        (ToolUse, "tools/misuse", "tools/matching"), (Panel, "draws/unreadable", "panel/consensus"),
        (Chain, "planning/levenshtein_decision_free", "planning/tma_decision"),
    ],
)  # fmt: skip
def test_scorers_declare_scores_that_are_better_low(scorer, low, high):
    found = declared_scores({"one": scorer, "other": object()})
    assert low in found["lower"] and high not in found["lower"]
    assert better(low, [{}, found]) == "lower"


@each_row(
    "scorer, score, what",
    [
        (ToolUse, "tools/actions", "actions"), (ToolUse, "tools/share", ""), (Panel, "panel/rounds", "rounds"),
        (Panel, "panel/dissent", ""), (Panel, "draws/n", "draws"), (Panel, "draws/agreement", ""),
        (Ehr(), "ehr/abstained", ""),
    ],
)  # fmt: skip
def test_metric_without_a_direction_has_only_a_unit(scorer, score, what):
    manifest = declared_scores({"one": scorer})
    assert better(score, [manifest]) == "" == better(f"task/x/{score}", [manifest]) and unit(score, [manifest]) == what


def test_counts_have_units_and_metrics_with_units_are_not_shares():
    manifest = declared_scores({"chain": Chain, "ehr": Ehr()})
    assert unit("total/planning/levenshtein", [manifest]) == "steps" and unit("planning/tma", [manifest]) == ""
    assert unit("cost/usd") == "USD" and unit("time/seconds_p50") == "s"
    assert "ehr/calls" in units_of(manifest) and "score/strict" not in units_of(manifest)
    assert units_of({"count_scores": ["ehr/calls"]}) == {"ehr/calls": "n"}, "older runs name them only"


def test_a_gain_is_positive_where_better():
    assert as_gain(-2.0, "lower") == 2.0 == as_gain(2.0, "higher") == as_gain(2.0, "")
