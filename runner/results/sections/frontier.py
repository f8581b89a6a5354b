"""Cost against quality, and the runs that no other beats in both (the Pareto front)."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10
from typing import Any

from runner.results.metrics import per_question
from runner.results.render.figures import scatter, sides, spread
from runner.results.run_metrics import RunMetrics, axis, better, column, headlines, read_metrics
from runner.results.runs import Run
from runner.results.sheets import USD, Better, Cell, Column, Plot, Section, Sheet, Value

_NAMED = 10  # points that all have labels; of more only those of the front have
_WIDE = 20  # times the least cost: from there on the axis is logarithmic


@dataclass(frozen=True)
class Point:
    """A run: what a question costs it, how good it is, whether it is on the front."""

    one: RunMetrics
    cost: float
    quality: Value
    front: bool = False


def section(runs: Sequence[Run]) -> Section | None:
    """A plot and a table per dataset of two or more runs; None where there is none."""
    found = read_metrics(runs)
    parts: list[Sheet | Plot] = []
    for dataset in dict.fromkeys(one.dataset for one in found):
        parts += _parts([one for one in found if one.dataset == dataset], dataset)
    if not parts:
        return None
    intro = (
        "What a question costs against the deciding score. A run is on the front where no other is at least as good "
        "for at most the same cost, and better in one of the two."
    )
    return Section("frontier", "Cost against quality", intro, parts)


def _parts(found: Sequence[RunMetrics], dataset: str) -> list[Sheet | Plot]:
    """Plot and table of one dataset."""
    names = headlines(found)
    way = better(found, names[0]) if names else ""
    unit, costs = cost_of(found)
    points = [
        Point(one, cost, value)
        for one, cost in zip(found, costs, strict=True)
        if names and cost is not None and (value := one.value(names[0])) is not None
    ]
    if len(points) < 2:
        return []
    points = sorted(front(points, way), key=lambda point: point.cost)
    title = f"{names[0]} against {unit} per question, {dataset}"
    columns = [Column("run"), Column("cost per question", unit, "lower"), column(found, names[0])]
    columns.append(Column("on the front"))
    rows: list[list[Cell]] = [
        [point.one.label, point.cost, point.quality, ("yes" if point.front else "no") if way else None]
        for point in points
    ]
    notes = [f"Cost is counted in {unit}: {_why(unit)}."]
    notes += [] if way else [f"The direction in which {names[0]} improves is not known: there is no front."]
    figure = _figure(points, unit, axis(found, names[0]))
    return [Plot(title, figure), Sheet(f"Cost and quality, {dataset}", columns, rows, notes)]


def cost_of(found: Sequence[RunMetrics]) -> tuple[str, list[float | None]]:
    """The unit, and what a question costs each run in it: US dollars where all are known and not all nothing, else
    tokens, else calls."""
    used = [per_question(one.run.records) if one.run.records else {} for one in found]
    dollars = [one.get("USD") for one in used]
    if None not in dollars and any(dollars):
        return USD, dollars
    tokens = [_sum(one.get("tokens in"), one.get("tokens out")) for one in used]
    if any(tokens):
        return "tokens", tokens
    return "calls", [one.get("calls") for one in used]


def _sum(one: float | None, two: float | None) -> float | None:
    return None if one is None or two is None else one + two


def _why(unit: str) -> str:
    return {
        USD: "the price of every call is known",
        "tokens": "in and out, since prices are not known or nothing",
        "calls": "neither prices nor tokens are known",
    }[unit]


def front(points: Sequence[Point], way: Better) -> list[Point]:
    """The points, those marked that no other one dominates; none is where the direction is not known."""
    sign = {"higher": 1.0, "lower": -1.0, "": 0.0}[way]
    pairs = [(point.cost, sign * (point.quality.value or 0.0)) for point in points]
    return [
        Point(point.one, point.cost, point.quality, bool(sign) and not any(_beats(other, pair) for other in pairs))
        for point, pair in zip(points, pairs, strict=True)
    ]


def _beats(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Whether one (cost, gain) is nowhere worse than another and somewhere better."""
    return one != other and one[0] <= other[0] and one[1] >= other[1]


def _figure(points: Sequence[Point], unit: str, title: str) -> dict[str, Any]:
    """Points with their intervals; those of the front are filled and joined."""
    wide = min(point.cost for point in points) * _WIDE < max(point.cost for point in points)
    logarithmic = wide and all(point.cost > 0 for point in points)
    names = _labels(points, logarithmic)
    data: list[dict[str, Any]] = []
    for name, wanted, symbol in (("on the front", True, "circle"), ("beaten", False, "circle-open")):
        part = [point for point in points if point.front is wanted]
        if part:
            mode = "markers" + "+lines" * wanted + "+text" * (wanted or len(points) <= _NAMED)
            data.append({
                "mode": mode, "name": name,
                "x": [point.cost for point in part], "y": [point.quality.value for point in part],
                "text": [names[id(point)][0] for point in part],
                "textposition": [names[id(point)][1] for point in part],
                "customdata": [_short(point) for point in part],
                "error_y": spread([point.quality for point in part]) | {"thickness": 1},
                "marker": {"size": 10, "symbol": symbol}, "cliponaxis": False,
                "line": {"shape": "hv", "dash": "dot", "width": 1.5},
                "hovertemplate": "%{customdata}<br>%{x:.4g} " + unit + "<br>%{y:.4g}<extra></extra>",
            })  # fmt: skip
    figure = scatter(data, f"{unit} per question (↓ lower is better)", title)
    figure["layout"]["xaxis"]["type"] = "log" if logarithmic else "linear"
    figure["layout"]["margin"] = {"l": 70, "r": 110, "t": 40, "b": 60}
    return figure


def _labels(points: Sequence[Point], logarithmic: bool) -> dict[int, tuple[str, str]]:
    """Identity of a point -> its label, and on which side: its run without the dataset, which the title has;
    of those in one place the first and how many more there are; of very many those on the front."""
    xs = _unit([log10(point.cost) if logarithmic else point.cost for point in points])
    ends = [end for point in points for end in (point.quality.low, point.quality.high)]
    ys = _unit([point.quality.value or 0.0 for point in points], [end for end in ends if end is not None])
    places: dict[tuple[float, float], list[Point]] = {}
    for point, x, y in zip(points, xs, ys, strict=True):
        places.setdefault((x, y), []).append(point)
    names = dict.fromkeys(map(id, points), ("", "top right"))
    shown = {place: of for place, of in places.items() if of[0].front or len(points) <= _NAMED}
    names_shown = [_short(of[0]) + f" and {len(of) - 1} more" * (len(of) > 1) for of in shown.values()]
    where = sides(names_shown, [x for x, _ in shown], [y for _, y in shown])
    return names | {
        id(of[0]): pair for of, pair in zip(shown.values(), zip(names_shown, where, strict=True), strict=True)
    }


def _short(point: Point) -> str:
    return point.one.label.removesuffix(f" {point.one.dataset}")


def _unit(values: Sequence[float], ends: Sequence[float] = ()) -> list[float]:
    """Values as places between the least and the greatest of them and of ``ends``, 0 to 1."""
    low, high = min([*values, *ends]), max([*values, *ends])
    return [(value - low) / (high - low) if high > low else 0.5 for value in values]
