"""A score per record: a row for each record (patient), and a plot in which each method is against its baseline.

Source: Zheng et al. 2024, arXiv 2412.09529, Figure 6b: a record has its mean over all questions and trials.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from runner.results.pairs import cluster_of, value_of
from runner.results.render.figures import scatter
from runner.results.rows import Row
from runner.results.run_metrics import axis, better, read_metrics, rows
from runner.results.runs import Run
from runner.results.sheets import Better, Cell, Column, Plot, Section, Sheet
from runner.results.versus import is_one, nearest

Means = Mapping[str, float]  # record -> mean


def section(runs: Sequence[Run]) -> Section | None:
    """Tables and plots by the score that ``compare.per_record`` names; None where it names none."""
    settings = runs[0].compare if runs else {}
    metric = settings.get("per_record")
    if not metric:
        return None
    means = {row.label: found for row in rows(runs) if (found := _means(row, metric))}
    if not means:
        return Section("per-record", "By record", f"No run has {metric}, which compare.per_record names.", [])
    there = [row for row in rows(runs) if row.label in means]
    pairs = _pairs(there, settings.get("baselines") or ())
    way, title = better(read_metrics(runs), metric), axis(read_metrics(runs), metric)
    parts: list[Sheet | Plot] = [_table(metric, means, way)]
    if pairs:
        parts = [_plot(title, pairs, means), *parts]
    trials = " or ".join(map(str, sorted({int(run.notes.get("epochs") or 1) for run in runs})))
    intro = f"{metric} of each record: its mean over all questions, with {trials} trials of each."
    return Section("per-record", "By record", intro, parts)


def _means(row: Row, metric: str) -> Means:
    """The mean of a row's scored episodes by record."""
    values: dict[str, list[float]] = defaultdict(list)
    for record in row.records:
        if (value := value_of(record, metric)) is not None:
            values[cluster_of(record)].append(value)
    return {name: fmean(found) for name, found in values.items()}


def _pairs(there: Sequence[Row], named: Sequence[str]) -> list[tuple[str, str]]:
    """Each method with its baseline: the nearest of those that the config names, else the first method."""
    baselines = [row for row in there if is_one(row, named)] or there[:1]
    return [(row.label, nearest(row, baselines)[0].label) for row in there if row not in baselines]


def _table(metric: str, means: Mapping[str, Means], way: Better) -> Sheet:
    """A row per record."""
    names = sorted({name for of in means.values() for name in of})
    columns = [Column("record"), *(Column(label, "", way) for label in means)]
    lines: list[list[Cell]] = [[name, *(of.get(name) for of in means.values())] for name in names]
    return Sheet(f"{metric} by record", columns, lines)


def _plot(title: str, pairs: Sequence[tuple[str, str]], means: Mapping[str, Means]) -> Plot:
    """A point per record and method; on the line both are equal."""
    data: list[dict[str, Any]] = []
    for label, base in pairs:
        mine, theirs = _shared(means[label], means[base])
        data.append({
            "mode": "markers", "name": label, "x": theirs, "y": mine, "marker": {"size": 8},
            "text": [name for name in means[label] if name in means[base]],
            "hovertemplate": "%{text}<br>%{x:.4g}, %{y:.4g}<extra>%{fullData.name}</extra>",
        })  # fmt: skip
    ends = [value for of in means.values() for value in of.values()]
    line = [min(ends), max(ends)]
    data.append({"mode": "lines", "name": "equal", "x": line, "y": line, "line": {"dash": "dot", "width": 1}})
    figure = scatter(data, f"of the baseline: {title}", title)
    return Plot("Each record, by method and by its baseline", figure)


def _shared(mine: Means, theirs: Means) -> tuple[list[float], list[float]]:
    """The values of the records that both have."""
    both = [name for name in mine if name in theirs]
    return [mine[name] for name in both], [theirs[name] for name in both]
