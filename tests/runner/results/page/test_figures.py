"""Plots that Plotly accepts."""

import plotly.graph_objects as go
import pytest

from runner.results.page.figures import groups, intervals, shades, spread
from runner.results.page.parts import Value

KNOWN, BARE = Value(0.5, 0.4, 0.8, 10), Value(0.25)


@pytest.mark.parametrize(
    "figure",
    [
        intervals(["a", "b"], [KNOWN, BARE], "score"),
        groups(["x", "y"], {"a": [KNOWN, None], "b": [BARE, KNOWN]}, "score", "task"),
        shades(["a"], ["x", "y"], [[0.5, None]]),
    ],
    ids=["intervals", "groups", "shades"],
)
def test_plotly_accepts_them(figure):
    assert go.Figure(figure).layout.height


def test_error_bars_are_distances_and_hidden_where_none_is_known():
    known = spread([KNOWN, BARE])
    assert known["array"] == [pytest.approx(0.3), None] and known["arrayminus"] == [pytest.approx(0.1), None]
    assert spread([BARE, None])["visible"] is False
