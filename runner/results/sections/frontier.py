"""The frontier: which runs score most for what they cost."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log10

from runner.results.kinds import Better, group_by
from runner.results.metrics import per_question
from runner.results.render.figures import Mark, Series, scatter
from runner.results.rows import RunMetrics, axis, better, column, headlines, read_metrics
from runner.results.runs import Run
from runner.results.sheets import USD, Plot, Section, Sheet, Value, columns

_FIELDS = 30  # of an axis: a label is about as high as one
_NAMED = 10  # points that all have labels; of more only those of the front have

_WHY = {
    USD: "the price of every call is known",
    "tokens": "in and out, since prices are not known or zero",
    "calls": "neither prices nor tokens are known",
}

_WIDE = 20  # times the least cost: from there on the axis is logarithmic


@dataclass(frozen=True)
class Point:
    """A run: what a question costs it, how good it is, whether it is on the front."""

    one: RunMetrics
    cost: float
    quality: Value
    front: bool = False


def frontier(runs: Sequence[Run]) -> Section | None:
    """A plot and a table per dataset of two or more runs; None where there is none."""
    parts: list[Sheet | Plot] = []
    for dataset, found in group_by(read_metrics(*runs), lambda one: one.run.dataset).items():
        if not (names := headlines(found)):
            continue
        score, way, (unit, costs) = names[0], better(found, names[0]), cost_of(found)
        values = [(one, cost, one.value(score)) for one, cost in zip(found, costs, strict=True)]
        points = [Point(one, cost, value) for one, cost, value in values if cost is not None and value is not None]
        if len(points) < 2:
            continue
        points = sorted(front(points, way), key=lambda point: point.cost)
        heads = columns("run", ("cost per question", unit, "lower"), column(found, score), "on the front")
        rows = [
            [point.one.label, point.cost, point.quality, ("yes" if point.front else "no") if way else None]
            for point in points
        ]
        notes = [f"Cost is counted in {unit}: {_WHY[unit]}."]
        notes += [] if way else [f"The direction in which {score} improves is not known: there is no front."]
        figure = _figure(points, unit, axis(found, score))
        parts += [
            Plot(f"{score} against {unit} per question, {dataset}", figure),
            Sheet(f"Cost and quality, {dataset}", heads, rows, notes),
        ]
    intro = (
        "What a question costs against the deciding score. A run is on the front where no other is at least as good "
        "for at most the same cost, and better in one of the two; +2 is two more runs in about the same place."
    )
    return Section("frontier", "Cost against quality", intro, parts) if parts else None


def cost_of(found: Sequence[RunMetrics]) -> tuple[str, list[float | None]]:
    """The unit, and what a question costs each run in it: US dollars where all are known and not all zero, else tokens,
    else calls."""
    used = [per_question(one.run.table) if len(one.run.table) else {} for one in found]
    dollars = [one.get("USD") for one in used]
    if None not in dollars and any(dollars):
        return USD, dollars
    both = [(one.get("tokens in"), one.get("tokens out")) for one in used]
    tokens = [None if read is None or written is None else read + written for read, written in both]
    return ("tokens", tokens) if any(tokens) else ("calls", [one.get("calls") for one in used])


def front(points: Sequence[Point], way: Better) -> list[Point]:
    """The points, those marked that no other one dominates; none is where the direction is not known."""
    sign = {"higher": 1.0, "lower": -1.0, "": 0.0}[way]
    pairs = [(point.cost, sign * (point.quality.value or 0.0)) for point in points]
    beaten = [any(o != one and o[0] <= one[0] and o[1] >= one[1] for o in pairs) for one in pairs]
    return [replace(point, front=bool(sign) and not worse) for point, worse in zip(points, beaten, strict=True)]


def _figure(points: Sequence[Point], unit: str, title: str) -> str:
    """Points with their intervals; those of the front are filled and joined."""
    wide = min(point.cost for point in points) * _WIDE < max(point.cost for point in points)
    logarithmic = wide and all(point.cost > 0 for point in points)
    labels = _labels(points, logarithmic)
    series = []
    for name, wanted, line, symbol in (("on the front", True, "steps", "full"), ("beaten", False, "", "hollow")):
        part = [point for point in points if point.front is wanted]
        marks = [Mark(one.cost, one.quality, _short_label(one), labels.get(id(one), "")) for one in part]
        series += [Series(name, marks, line, symbol)] if part else []
    return scatter(series, f"{unit} per question (↓ lower is better)", title, logarithmic=logarithmic)


def _labels(points: Sequence[Point], logarithmic: bool) -> dict[int, str]:
    """Identity of a point -> its label: its run without the dataset, which the title has; of those in about one place
    the first on the front and how many more there are; of very many those on the front."""
    xs = _fields([log10(point.cost) if logarithmic else point.cost for point in points])
    ys = _fields([point.quality.value or 0.0 for point in points])
    labels = {}
    for of in group_by(zip(points, xs, ys, strict=True), lambda one: one[1:]).values():
        first = max((point for point, *_ in of), key=lambda point: point.front)
        if first.front or len(points) <= _NAMED:
            labels[id(first)] = _short_label(first) + f" +{len(of) - 1}" * (len(of) > 1)
    return labels


def _fields(values: Sequence[float]) -> list[int]:
    """In which of the fields between the least and the greatest each value is."""
    low, high = min(values), max(values)
    return [round((value - low) / ((high - low) or 1.0) * _FIELDS) for value in values]


def _short_label(point: Point) -> str:
    return point.one.label.removesuffix(f" {point.one.run.dataset}")
