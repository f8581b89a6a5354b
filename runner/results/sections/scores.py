"""Scores of all runs: next to each other, by every choice that the runs vary, by the strata of the samples, and against
what they cost, with the runs that no other beats in both (the Pareto front)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import log10
from typing import Any

from runner.results.kinds import Better, grouped
from runner.results.metrics import OVERFLOWS, per_question
from runner.results.render.figures import bars, heatmap, heights, intervals, scatter, sides
from runner.results.rows import RunMetrics, axis, better, column, headlines, named, read_metrics
from runner.results.runs import Run
from runner.results.sections.report import status_line
from runner.results.table import USD, Cell, Plot, Section, Sheet, Value, columns

_COSTS = ("errors/rate", OVERFLOWS, "calls/per_sample", "tokens/input", "tokens/output", "cost/usd", "time/seconds_p50")
_PLOTTED = 2
_NOT_VARIED = ("tracking", "scorer", "experiment", "run", "hydra", "name")
_FIRST = ("condition", "agent", "model", "verifier", "dataset")
_SETTINGS_SCORES, _SETTINGS_SERIES = 4, 8  # scores of a table; bars of a plot
_STRATA_SCORES, _STRATA_SERIES = 3, 6  # more runs than these are a heat map
_VALUES = 40  # of a stratum that are shown, those of the most samples
_NAMED = 10  # points that all have labels; of more only those of the front have
_WHY = {
    USD: "the price of every call is known",
    "tokens": "in and out, since prices are not known or zero",
    "calls": "neither prices nor tokens are known",
}
_WIDE = 20  # times the least cost: from there on the axis is logarithmic


def leaderboard(runs: Sequence[Run]) -> Section | None:
    """Tables of scores and of costs, a line per run, and plots of the first scores with their intervals."""
    found = read_metrics(*runs)
    if not found:
        return None
    names, plots = headlines(found), []
    for name in names[:_PLOTTED]:  # the best at the top
        scored = [(one.label, value) for one in found if (value := one.value(name)) is not None]
        scored.sort(key=lambda pair: pair[1].value or 0.0, reverse=better(found, name) == "lower")
        figure = intervals([label for label, _ in scored], [value for _, value in scored], axis(found, name))
        plots.append(Plot(f"{name} of every run", figure))
    costs = [name for name in _COSTS if any(one.value(name) is not None for one in found)]
    lines = [[one.label, *(one.value(name) for name in costs)] for one in found]
    notes = ["cost/usd, tokens/input and tokens/output are totals of a run; unknown costs are left empty."]
    table = Sheet("Cost, tokens, time", columns("run", *(column(found, name) for name in costs)), lines, notes)
    intro = "One line per run. Small numbers are 95 % intervals; an arrow shows in which direction a column improves."
    return Section("leaderboard", "Leaderboard", intro, [_scores(found, names), *plots, table])


def _scores(found: Sequence[RunMetrics], names: Sequence[str]) -> Sheet:
    """The headline scores; runs that are not complete are named below."""
    several = len({one.run.dataset for one in found}) > 1
    rows: list[list[Cell]] = []
    for one in found:
        counts, data = one.run.manifest.get("counts"), [one.run.dataset] if several else []
        rows.append([one.label, *data, counts and counts["finished"], *(one.value(name) for name in names)])
    notes = [
        f"{one.label}: {status_line(one.run.manifest)}" for one in found if one.run.manifest.get("status") != "complete"
    ]
    heads = columns(
        "run", *(["dataset"] if several else []), ("episodes", "n"), *(column(found, name) for name in names)
    )
    return Sheet("Scores", heads, rows, notes)


def settings(runs: Sequence[Run]) -> Section | None:
    """One table per field that is varied together with others: its values are columns; None below two fields."""
    found, fields = read_metrics(*runs), varied(runs)
    if len(fields) < 2:
        return None
    parts: list[Sheet | Plot] = []
    for field, values in fields.items():
        parts += _setting_parts(found, field, values, [name for name in fields if name != field])
    intro = "What each varied field changes while the others are fixed: a line per score and setting of the others."
    return Section("settings", "By what the runs vary", intro, parts)


def varied(runs: Sequence[Run]) -> dict[str, list[str]]:
    """Field -> its values, of all in which the runs differ, conditions first; without those that follow from others."""
    names = [*_FIRST, *(name for run in runs for name in (*run.choices, *(run.manifest.get("swept") or ())))]
    values = {
        name: [_setting(run, name) for run in runs] for name in names if name.partition(".")[0] not in _NOT_VARIED
    }
    values = {name: of for name, of in values.items() if len(set(of)) > 1}
    found, order = {}, list(values)

    def follows(name: str, other: str) -> bool:
        """Whether a field's values follow from another's; of two that follow from each other the later one does."""
        pairs = len(set(zip(values[name], values[other], strict=True)))
        later = order.index(other) < order.index(name)
        return pairs == len(set(values[other])) and (later or pairs > len(set(values[name])))

    for name, of in values.items():
        if not any(follows(name, other) for other in order if other != name):
            found[name] = list(dict.fromkeys(of))
    return found


def _setting(run: Run, name: str) -> str:
    """A choice, or a value as it was set; a dash where a run has neither."""
    value = run.choices.get(name, (run.manifest.get("varied") or {}).get(name))
    return "-" if value is None else str(value)


def _setting_parts(
    found: Sequence[RunMetrics], field: str, values: Sequence[str], others: Sequence[str]
) -> list[Sheet | Plot]:
    """The table of a field, a line per score and setting of the other fields, and bars of the first score that has any
    value. A cell that two runs share is empty, and a line without any value is left out."""
    settings = [", ".join(_setting(one.run, other) for other in others) for one in found]
    runs = grouped(zip(settings, found, strict=True), lambda pair: (pair[0], _setting(pair[1].run, field)))
    single = {place: of[0][1] for place, of in runs.items() if len(of) == 1}
    tables: dict[str, dict[str, list[Value | None]]] = {}
    for name in headlines(found)[:_SETTINGS_SCORES]:
        cells = {place: one.value(name) for place, one in single.items()}
        lines = {one: [cells.get((one, value)) for value in values] for one in dict.fromkeys(settings)}
        tables[name] = {setting: line for setting, line in lines.items() if any(line)}
    rows = [[named(found, name), setting, *line] for name, of in tables.items() for setting, line in of.items()]
    sheet = Sheet(f"By {field}", columns("score", ", ".join(others), *values), rows, keys=2)
    name, series = next(((name, of) for name, of in tables.items() if of), ("", {}))
    if not 1 <= len(series) <= _SETTINGS_SERIES:
        return [sheet]
    places = [n for n in range(len(values)) if any(line[n] for line in series.values())]
    series = {setting: [line[n] for n in places] for setting, line in series.items()}
    figure = bars([values[n] for n in places], series, axis(found, name), field)
    return [Plot(f"{name} by {field}", figure), sheet]


def strata(runs: Sequence[Run]) -> Section | None:
    """A table per stratum, its values are columns, and a plot of the first score: bars for few runs, a heat map for
    many; None where no stratum has two values."""
    found = read_metrics(*runs)
    parts: list[Sheet | Plot] = []
    names = headlines(found)[:_STRATA_SCORES]
    for stratum in dict.fromkeys(stratum for one in found for stratum in one.strata):
        values = sorted({value for one in found for value in one.strata.get(stratum, {})})
        if len(values) < 2:
            continue
        sizes = Counter(str(record["strata"].get(stratum)) for one in found for record in one.run.records)
        labels = sorted(sorted(values, key=lambda value: -sizes[value])[:_VALUES])
        lines: dict[tuple[str, str], list[Value | None]] = {}
        for name, one in product(names, found):
            cells = [Value.stored(one.strata.get(stratum, {}).get(value, {}).get(name)) for value in labels]
            lines |= {(name, one.label): cells} if any(cells) else {}
        rows = [[named(found, name), label, *cells] for (name, label), cells in lines.items()]
        others = len(values) - len(labels)
        notes = [f"{others} values of fewer samples are left out"] if others else []
        series = {label: cells for (name, label), cells in lines.items() if name == names[0]}
        if names:
            z = [[None if cell is None else cell.value for cell in cells] for cells in series.values()]
            title, few = axis(found, names[0]), len(series) <= _STRATA_SERIES
            figure = bars(labels, series, title, stratum) if few else heatmap(list(series), labels, z)
            parts.append(Plot(f"{title} by {stratum}", figure))
        parts.append(Sheet(f"By {stratum}", columns("score", "run", *labels), rows, notes, keys=2))
    intro = "The first scores by the strata of the samples; the tooltip of a cell has the number of samples."
    return Section("strata", "By task, complexity and other strata", intro, parts) if parts else None


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
    for dataset, found in grouped(read_metrics(*runs), lambda one: one.run.dataset).items():
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
        "for at most the same cost, and better in one of the two."
    )
    return Section("frontier", "Cost against quality", intro, parts) if parts else None


def cost_of(found: Sequence[RunMetrics]) -> tuple[str, list[float | None]]:
    """The unit, and what a question costs each run in it: US dollars where all are known and not all zero, else tokens,
    else calls."""
    used = [per_question(one.run.records) if one.run.records else {} for one in found]
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
                "x": [point.cost for point in part], **heights([point.quality for point in part]),
                "text": [names[id(point)][0] for point in part],
                "textposition": [names[id(point)][1] for point in part],
                "customdata": [_short(point) for point in part],
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
    groups = grouped(zip(points, xs, ys, strict=True), lambda one: one[1:])
    labelled = {
        place: [point for point, *_ in of] for place, of in groups.items() if of[0][0].front or len(points) <= _NAMED
    }
    texts = [_short(of[0]) + f" and {len(of) - 1} more" * (len(of) > 1) for of in labelled.values()]
    positions = sides(texts, [x for x, _ in labelled], [y for _, y in labelled])
    labels = dict.fromkeys(map(id, points), ("", "top right"))
    for of, text, position in zip(labelled.values(), texts, positions, strict=True):
        labels[id(of[0])] = (text, position)
    return labels


def _short(point: Point) -> str:
    return point.one.label.removesuffix(f" {point.one.run.dataset}")


def _unit(values: Sequence[float], ends: Sequence[float] = ()) -> list[float]:
    """Values as places between the least and the greatest of them and of ``ends``, 0 to 1."""
    low, high = min([*values, *ends]), max([*values, *ends])
    return [(value - low) / (high - low) if high > low else 0.5 for value in values]
