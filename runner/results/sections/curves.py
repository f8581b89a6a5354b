"""A score along settings that a sweep varies one at a time: ``compare.curves`` names them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from runner.results.render.figures import scatter, spread
from runner.results.run_metrics import RunMetrics, axis, column, headlines, read_metrics
from runner.results.runs import Run
from runner.results.sheets import Cell, Column, Plot, Section, Sheet, Value

_CALLS = "calls/per_sample"


def section(runs: Sequence[Run]) -> Section | None:
    """A table per curve and dataset, and a plot per curve with a line per dataset; None where no curve is named."""
    keys: Sequence[str] = (runs[0].compare.get("curves") if runs else None) or ()
    if not keys:
        return None
    found = read_metrics(runs)
    parts: list[Sheet | Plot] = []
    missing = []
    for key in keys:
        lines = {name: points for name, of in _series(found, keys).items() if (points := _points(of, key, keys))}
        parts += _parts(found, key, keys, lines)
        missing += [] if lines else [f"compare.curves: no two runs here differ in {key} alone."]
    intro = "One setting varies along a curve; the others have the value that most of its runs have."
    return Section("curves", "Curves", " ".join([intro, *missing]), parts)


def _series(found: Sequence[RunMetrics], keys: Sequence[str]) -> dict[str, list[RunMetrics]]:
    """Dataset, and model where there are several -> the runs that differ in nothing but the settings of curves."""
    series: dict[tuple[Any, ...], list[RunMetrics]] = {}
    for one in found:
        rest = {name: value for of in one.run.flat.values() for name, value in of.items() if name not in keys}
        series.setdefault((one.run.data, *sorted(rest.items())), []).append(one)
    models = len({one.run.model for one in found}) > 1
    names = [" ".join([_dataset(of[0]), *([of[0].run.model] if models else [])]) for of in series.values()]
    return {
        name if names.count(name) == 1 else f"{name} ({number})": of
        for number, (name, of) in enumerate(zip(names, series.values(), strict=True), 1)
    }


def _dataset(one: RunMetrics) -> str:
    return one.run.choices.get("dataset", one.dataset)


def _points(of: Sequence[RunMetrics], key: str, keys: Sequence[str]) -> list[RunMetrics]:
    """The runs on the curve of a setting, in its order; none where it has one value only."""
    fixed = _fixed(of, key, keys)
    on = [one for one in of if all(str(one.run.setting(name)) == value for name, value in fixed.items())]
    values = [one.run.setting(key) for one in on]
    if len(set(map(str, values))) < 2:
        return []
    return sorted(on, key=lambda one: one.run.setting(key)) if all(map(_is_number, values)) else on


def _is_number(value: object) -> bool:
    return isinstance(value, int | float)


def _fixed(of: Sequence[RunMetrics], key: str, keys: Sequence[str]) -> Mapping[str, str]:
    """The other settings with the value that most of the runs have, as text: a value may be a list."""
    return {
        name: Counter(str(one.run.setting(name)) for one in of).most_common(1)[0][0] for name in keys if name != key
    }


def _parts(
    found: Sequence[RunMetrics], key: str, keys: Sequence[str], lines: Mapping[str, Sequence[RunMetrics]]
) -> list[Sheet | Plot]:
    """The plot of a curve, then its table for each dataset."""
    names = headlines(found)[:1]
    if not lines or not names:
        return []
    short = key.rpartition(".")[2]
    columns = [Column(short), column(found, names[0]), Column("episodes", "n"), column(found, _CALLS)]
    sheets = [
        Sheet(
            f"{names[0]} by {short}, {name}",
            columns,
            [_row(one, key, names[0]) for one in points],
            [f"fixed: {other} {value}" for other, value in _fixed(points, key, keys).items()],
        )
        for name, points in lines.items()
    ]
    return [_plot(lines, key, names[0], axis(found, names[0])), *sheets]


def _row(one: RunMetrics, key: str, score: str) -> list[Cell]:
    return [str(one.run.setting(key)), one.value(score), len(one.run.records), one.value(_CALLS)]


def _plot(lines: Mapping[str, Sequence[RunMetrics]], key: str, score: str, title: str) -> Plot:
    """A line per dataset, with intervals."""
    short, data = key.rpartition(".")[2], []
    for name, of in lines.items():
        values: list[Value | None] = [one.value(score) for one in of]
        data.append({
            "mode": "lines+markers", "name": name, "x": [one.run.setting(key) for one in of],
            "y": [None if value is None else value.value for value in values],
            "error_y": spread(values) | {"thickness": 1},
        })  # fmt: skip
    apart = {"scattermode": "group", "scattergap": 0.8}  # intervals of several datasets are side by side
    return Plot(f"{score} by {short}", scatter(data, short, title, 420, **apart))
