"""In which direction metrics improve: what scorers say, what the runner knows, and who follows it."""

import pytest

from components.scorers.chain import Chain
from components.scorers.choice import Choice
from components.scorers.ehr import Ehr
from components.scorers.panel import Panel
from components.scorers.tool_use import ToolUse
from runner.results.directions import better, declared_lower, improved, lower_of


@pytest.mark.parametrize(
    ("metric", "direction"),
    [
        ("planning/levenshtein", "lower"), ("planning/fdr", "lower"), ("planning/tma", "higher"),
        ("total/planning/levenshtein", "lower"), ("task/x/planning/levenshtein", "lower"),
        ("planning/levenshtein_of_another", "higher"), ("cost/usd", "lower"), ("calls/per_sample", "lower"),
        ("time/seconds_p50", "lower"), ("errors/rate", "lower"), ("stop/failed", "lower"), ("stop/limit", "lower"),
        ("stop/answered", ""), ("stop/refused", ""),
    ],
)  # fmt: skip
def test_directions(metric, direction):
    assert better(metric, Chain.lower) == direction


@pytest.mark.parametrize(
    ("scorer", "low", "high"),
    [
        (Choice, "score/unreadable", "score/strict"), (Ehr, "ehr/failed_executions", "ehr/completed"),
        (ToolUse, "tools/misuse", "tools/matching"), (Panel, "draws/unreadable", "panel/consensus"),
        (Chain, "planning/levenshtein_decision_free", "planning/tma_decision"),
    ],
)  # fmt: skip
def test_scorers_name_what_is_better_low(scorer, low, high):
    found = declared_lower({"one": scorer, "two": object()})
    assert low in found and high not in found
    assert lower_of([{"lower": found}, {}]) == set(found)


def test_a_gain_is_positive_where_better():
    assert improved(-2.0, "lower") == 2.0 == improved(2.0, "higher") == improved(2.0, "")
