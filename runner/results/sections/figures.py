"""Plots that a config asks for, with their tables: a score along settings that a sweep varies one at a time
(``compare.curves``), and per record (patient), each method against its baseline (``compare.per_record``).

Source of those per record: Zheng et al. 2024, arXiv 2412.09529, Figure 6b: a mean over all questions and trials.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import isnan
from statistics import fmean

from runner.results.kinds import group_by
from runner.results.render.figures import Mark, Series, scatter
from runner.results.rows import RunMetrics, axis, better, column, headlines, is_named, nearest_rows, read_metrics, rows
from runner.results.runs import Run
from runner.results.sheets import Column, Plot, Section, Sheet, Value, columns

_CALLS = "calls/per_sample"
Means = Mapping[str, float]  # record -> mean


def curves(runs: Sequence[Run]) -> Section | None:
    """A table per curve and dataset, and a plot per curve with a line per dataset; None where no curve is named."""
    keys: Sequence[str] = (runs[0].compare.get("curves") if runs else None) or ()
    if not keys:
        return None
    found, parts, missing = read_metrics(*runs), list[Sheet | Plot](), []
    series = _series(found, keys)
    for key in keys:
        lines = {name: points for name, of in series.items() if (points := _points(of, key, keys))}
        parts += _curve(found, key, keys, lines)
        missing += [] if lines else [f"compare.curves: no two runs here differ in {key} alone."]
    intro = "One setting varies along a curve; the others have the value that most of its runs have."
    return Section("curves", "Curves", " ".join([intro, *missing]), parts)


def _series(found: Sequence[RunMetrics], keys: Sequence[str]) -> dict[str, list[RunMetrics]]:
    """Dataset, and model where there are several -> the runs that differ in nothing but the settings of curves."""

    def fixed_settings(one: RunMetrics) -> tuple[object, ...]:
        settings = {name: value for of in one.run.flat.values() for name, value in of.items() if name not in keys}
        return one.run.data, *sorted(settings.items())

    series = list(group_by(found, fixed_settings).values())
    models = len({one.run.model for one in found}) > 1
    first = [of[0].run for of in series]
    names = [" ".join([run.choices.get("dataset", run.dataset), *([run.model] if models else [])]) for run in first]
    return {
        name if names.count(name) == 1 else f"{name} ({number})": of
        for number, (name, of) in enumerate(zip(names, series, strict=True), 1)
    }


def _points(of: Sequence[RunMetrics], key: str, keys: Sequence[str]) -> list[RunMetrics]:
    """The runs on the curve of a setting, in its order; none where it has one value only."""
    fixed = _fixed_settings(of, key, keys)
    on = [one for one in of if all(str(one.run.setting(name)) == value for name, value in fixed.items())]
    values = [one.run.setting(key) for one in on]
    if len(set(map(str, values))) < 2:
        return []
    numbers = all(isinstance(value, int | float) for value in values)
    return sorted(on, key=lambda one: one.run.setting(key)) if numbers else on


def _fixed_settings(of: Sequence[RunMetrics], key: str, keys: Sequence[str]) -> Mapping[str, str]:
    """The other settings with the value that most of the runs have, as text: a value may be a list."""
    return {
        name: Counter(str(one.run.setting(name)) for one in of).most_common(1)[0][0] for name in keys if name != key
    }


def _curve(
    found: Sequence[RunMetrics], key: str, keys: Sequence[str], lines: Mapping[str, Sequence[RunMetrics]]
) -> list[Sheet | Plot]:
    """The plot of a curve, a line per dataset with intervals, then its table for each dataset."""
    names = headlines(found)[:1]
    if not lines or not names:
        return []
    score, short, lined, sheets = names[0], key.rpartition(".")[2], list[Series](), list[Sheet]()
    heads = columns(short, column(found, score), ("episodes", "n"), column(found, _CALLS))
    for name, points in lines.items():
        values, x = [one.value(score) for one in points], [one.run.setting(key) for one in points]
        marks = [Mark(_place(at), value, name) for at, value in zip(x, values, strict=True) if value is not None]
        lined.append(Series(name, marks, "solid"))
        cells = [
            [str(place), value, len(one.run.table), one.value(_CALLS)]
            for one, place, value in zip(points, x, values, strict=True)
        ]
        notes = [f"fixed: {other} {value}" for other, value in _fixed_settings(points, key, keys).items()]
        sheets.append(Sheet(f"{score} by {short}, {name}", heads, cells, notes))
    return [Plot(f"{score} by {short}", scatter(lined, short, axis(found, score), 420)), *sheets]


def _place(value: object) -> float | str:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def per_record(runs: Sequence[Run]) -> Section | None:
    """Tables and plots by the score that ``compare.per_record`` names; None where it names none."""
    settings = runs[0].compare if runs else {}
    if not (metric := settings.get("per_record")):
        return None
    means: dict[str, Means] = {}
    for row in rows(*runs):
        values = zip(row.table["cluster"].tolist(), row.table.values(metric).tolist(), strict=True)
        of = group_by((pair for pair in values if not isnan(pair[1])), lambda pair: pair[0])
        means |= {row.label: {name: fmean(value for _, value in own) for name, own in of.items()}} if of else {}
    if not means:
        return Section("per-record", "By record", f"No run has {metric}, which compare.per_record names.", [])
    scored = [row for row in rows(*runs) if row.label in means]
    baselines = [row for row in scored if is_named(row, settings.get("baselines") or ())] or scored[:1]
    pairs = [(row.label, nearest_rows(row, baselines)[0].label) for row in scored if row not in baselines]
    every, names = read_metrics(*runs), sorted({name for of in means.values() for name in of})
    heads = columns("record", *(Column(label, "", better(every, metric)) for label in means))
    table = Sheet(f"{metric} by record", heads, [[name, *(of.get(name) for of in means.values())] for name in names])
    plots = [_plot(axis(every, metric), pairs, means)] if pairs else []
    trials = " or ".join(map(str, sorted({int(run.manifest.get("epochs") or 1) for run in runs})))
    intro = f"{metric} of each record: its mean over all questions, with {trials} trials of each."
    return Section("per-record", "By record", intro, [*plots, table])


def _plot(title: str, pairs: Sequence[tuple[str, str]], means: Mapping[str, Means]) -> Plot:
    """A point per record and method; on the line both are equal."""
    series = []
    for label, base in pairs:
        both = [name for name in means[label] if name in means[base]]
        series.append(Series(label, [Mark(means[base][one], Value(means[label][one]), one) for one in both]))
    values = [value for of in means.values() for value in of.values()]
    series.append(Series("equal", [Mark(end, Value(end)) for end in (min(values), max(values))], "dotted", ""))
    return Plot("Each record, by method and by its baseline", scatter(series, f"of the baseline: {title}", title))
