"""Plots as Plotly's JSON. Colours and fonts are the page's, which knows whether it is light or dark."""

from collections.abc import Mapping, Sequence
from typing import Any

from runner.results.sheets import Value

_LINE = 24  # pixels for a line of a plot with names on its left
_MARGIN = 110
_ROOM = 90  # characters below a plot; names that need more are turned
_WIDE, _HIGH, _BESIDE = 800, 320, 110  # pixels of a plot with names at its points, and of the margin on its right
_LETTER, _TALL, _GAP = 7.5, 16, 8  # pixels of a name: per letter, its height, how far from its point
# Next to error bars, above and below lines that begin at the point.
_SIDES = [f"{up} {across}" for across in ("right", "left") for up in ("top", "bottom")]
_SIDES += ["middle right", "middle left", "top center", "bottom center"]
LEGEND = {"orientation": "h", "y": 1.02, "yanchor": "bottom"}  # above the plot
Figure = dict[str, Any]


def scatter(data: Sequence[Mapping[str, Any]], x: str, y: str, height: int = 460, **layout: Any) -> Figure:
    """Traces of points and lines between two axes with these titles; ``layout`` has what is special about a plot."""
    axes = {"xaxis": {"title": {"text": x}}, "yaxis": {"title": {"text": y}, "automargin": True}}
    return {
        "data": [{"type": "scatter", **one} for one in data],
        "layout": {"height": height, "legend": LEGEND, **axes, **layout},
    }


def intervals(names: Sequence[str], values: Sequence[Value], title: str) -> Figure:
    """A point with its interval for every name, from the bottom up."""
    trace = {
        "type": "scatter", "mode": "markers", "y": list(names), "x": [one.value for one in values],
        "error_x": error_bars(values), "marker": {"size": 9}, "showlegend": False,
        "hovertemplate": "%{y}: %{x:.4g}<extra></extra>",
    }  # fmt: skip
    layout = {
        "height": _MARGIN + _LINE * len(names),
        "xaxis": {"title": {"text": title}, "zeroline": False},
        "yaxis": {"type": "category", "automargin": True, "ticks": ""},
    }
    return {"data": [trace], "layout": layout}


def bars(names: Sequence[str], series: Mapping[str, Sequence[Value | None]], title: str, below: str) -> Figure:
    """Bars with their intervals, one for every series at every name."""
    hover = "%{x}: %{y:.4g}<extra>%{fullData.name}</extra>"
    data = [
        {"type": "bar", "name": label, "x": list(names), **heights(values), "hovertemplate": hover}
        for label, values in series.items()
    ]
    layout = {
        "barmode": "group", "height": 420, "xaxis": {"type": "category", "title": {"text": below}, "automargin": True},
        "yaxis": {"title": {"text": title}, "automargin": True}, "legend": LEGEND,
    }  # fmt: skip
    return {"data": data, "layout": layout}


def heights(values: Sequence[Value | None]) -> Figure:
    """The y of a trace, with thin error bars."""
    return {"y": [one and one.value for one in values], "error_y": error_bars(values) | {"thickness": 1}}


def heatmap(rows: Sequence[str], columns: Sequence[str], z: Sequence[Sequence[float | None]]) -> Figure:
    """A heat map, the first row at the top; with numbers where they have room."""
    longest = max((len(name) for name in columns), default=0)
    trace = {
        "type": "heatmap", "x": list(columns), "y": list(rows), "z": [list(line) for line in z],
        "colorbar": {"thickness": 14}, "hoverongaps": False,
        "hovertemplate": "%{y}, %{x}: %{z:.4g}<extra></extra>", "xgap": 1, "ygap": 1,
    }  # fmt: skip
    if len(columns) <= 12:
        trace["texttemplate"] = "%{z:.2f}"
    layout = {
        "height": _MARGIN - 30 + (min(longest * 4, 110) if longest * len(columns) > _ROOM else 0) + _LINE * len(rows),
        "xaxis": {"type": "category", "automargin": True, "ticks": ""},
        "yaxis": {"type": "category", "automargin": True, "autorange": "reversed", "ticks": ""},
        "margin": {"l": 60, "r": 20, "t": 30, "b": 30},
    }
    return {"data": [trace], "layout": layout}


def sides(names: Sequence[str], xs: Sequence[float], ys: Sequence[float]) -> list[str]:
    """On which side of its point each name is, so that names cover each other and other points least. ``xs``, ``ys``:
    places in the plot, each from 0 to 1."""
    points = [(x * _WIDE, y * _HIGH) for x, y in zip(xs, ys, strict=True)]
    occupied = [(x - _GAP, x + _GAP, y - _GAP, y + _GAP) for x, y in points]  # left, right, lower and upper ends
    best_sides = []
    for n, (name, (x, y)) in enumerate(zip(names, points, strict=True)):
        wide, boxes, covered = len(name) * _LETTER, {}, {}
        for side in _SIDES:
            up, across = side.split()
            left = {"right": x + _GAP, "left": x - _GAP - wide, "center": x - wide / 2}[across]
            lower = y + {"top": _TALL, "middle": 0, "bottom": -_TALL}[up] - _TALL / 2
            right, upper = left + wide, lower + _TALL
            boxes[side] = left, right, lower, upper
            covered[side] = _TALL * (max(0.0, right - _WIDE - _BESIDE) + max(0.0, -left))  # not on the picture
            for a, b, c, d in occupied[:n] + occupied[n + 1 :]:
                covered[side] += max(0.0, min(right, b) - max(left, a)) * max(0.0, min(upper, d) - max(lower, c))
        best = min(_SIDES, key=covered.__getitem__)
        occupied.append(boxes[best])
        best_sides.append(best)
    return best_sides


def error_bars(values: Sequence[Value | None]) -> dict[str, Any]:
    """Error bars of both sides; none where an interval is not known."""
    up, down = [], []
    for one in values:
        value, low, high = (None, None, None) if one is None else (one.value, one.low, one.high)
        up.append(None if value is None or high is None else max(0.0, high - value))
        down.append(None if value is None or low is None else max(0.0, value - low))
    if all(above is None or below is None for above, below in zip(up, down, strict=True)):
        return {"type": "data", "visible": False}
    return {"type": "data", "symmetric": False, "array": up, "arrayminus": down, "thickness": 1.5, "width": 3}
