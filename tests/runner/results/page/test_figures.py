"""Plots that Plotly accepts."""

import plotly.graph_objects as go
import pytest

from runner.results.render.figures import bars, error_bars, heatmap, intervals, sides
from runner.results.sheets import Value
from tests.slow import slow
from tests.table import each_row

KNOWN, BARE = Value(0.5, 0.4, 0.8, 10), Value(0.25)


@each_row(
    "figure",
    [
        intervals(["a", "b"], [KNOWN, BARE], "score"),
        bars(["x", "y"], {"a": [KNOWN, None], "b": [BARE, KNOWN]}, "score", "task"),
        heatmap(["a"], ["x", "y"], [[0.5, None]]),
    ],
)
@slow
def test_plotly_accepts_the_plots(figure):
    assert go.Figure(figure).layout.height


def test_error_bars_are_distances_and_hidden_where_unknown():
    known = error_bars([KNOWN, BARE])
    assert known["array"] == [pytest.approx(0.3), None] and known["arrayminus"] == [pytest.approx(0.1), None]
    assert error_bars([BARE, None])["visible"] is False


def test_point_labels_do_not_overlap():
    assert sides(["one"], [0.5], [0.5]) == ["top right"]
    assert sides(["last"], [1.0], [0.5]) == ["top right"], "the margin has room for a short name"
    assert sides(["a name that is too long for it"], [1.0], [0.5]) == ["top left"]
    assert sides(["left one", "right one"], [0.5, 0.53], [0.5, 0.5]) == ["top right", "bottom right"]
    assert len(set(sides(["same"] * 4, [0.5] * 4, [0.5] * 4))) == 4
