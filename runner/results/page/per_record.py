"""A score per record: a row for every record (patient), and a point for it in a plot of each method against the baseline.

Source: Zheng et al. 2024, arXiv 2412.09529, Figure 6b: a record's value is its mean over all of its questions and trials.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from runner.results.page.figures import LEGEND
from runner.results.page.parts import Cell, Column, Plot, Section, Sheet
from runner.results.page.told import axis, better, rows, told
from runner.results.rows import Row, Run
from runner.results.significance import compare
from runner.results.statistics.pairing import cluster_of, value_of
from runner.results.statistics.versus import is_one

Means = Mapping[str, float]  # record -> mean


def section(runs: Sequence[Run]) -> Section | None:
    """Tables and plots by the score that ``compare.per_record`` names; None where it names none or no run has it."""
    settings = (runs[0].cfg.get("compare") or {}) if runs else {}
    metric = settings.get("per_record")
    if not metric:
        return None
    means = {row.label: found for row in rows(runs) if (found := _means(row, metric))}
    if not means:
        return None
    base = _baseline(rows(runs), settings.get("baselines") or (), means)
    others = {label: of for label, of in means.items() if label != base}
    lower = better(told(runs), metric) == "lower"
    parts: list[Sheet | Plot] = [_table(metric, means, runs)]
    if others:
        parts = [_plot(axis(told(runs), metric), base, means[base], others), _versus(base, means[base], others, lower), *parts]
    intro = f"{metric} of each record: the mean over its questions and trials ({_trials(runs)}). The baseline is {base}."
    return Section("per-record", "By record", intro, parts)


def _means(row: Row, metric: str) -> Means:
    """The mean of a row's scored episodes by record."""
    values: dict[str, list[float]] = defaultdict(list)
    for record in row.records:
        if (value := value_of(record, metric)) is not None:
            values[cluster_of(record)].append(value)
    return {name: fmean(found) for name, found in values.items()}


def _baseline(found: Sequence[Row], named: Sequence[str], means: Mapping[str, Means]) -> str:
    """The first row that the config names as a baseline, else the first."""
    there = [row for row in found if row.label in means]
    return next((row.label for row in there if named and is_one(row, named)), there[0].label)


def _trials(runs: Sequence[Run]) -> str:
    """How many trials there are."""
    counts = sorted({int(run.notes.get("epochs") or 1) for run in runs})
    return f"{' or '.join(map(str, counts))} per question"


def _table(metric: str, means: Mapping[str, Means], runs: Sequence[Run]) -> Sheet:
    """A row per record."""
    names = sorted({name for of in means.values() for name in of})
    way = better(told(runs), metric)
    columns = [Column("record"), *(Column(label, "", way) for label in means)]
    lines: list[list[Cell]] = [[name, *(of.get(name) for of in means.values())] for name in names]
    return Sheet(f"{metric} by record", columns, lines)


def _versus(base: str, of_base: Means, others: Mapping[str, Means], lower: bool) -> Sheet:
    """Records won, tied and lost, and the paired t-test on their means."""
    columns = [Column("method"), *map(Column, ("records", "won", "tied", "lost", "t", "p"))]
    lines: list[list[Cell]] = []
    for label, of in others.items():
        both = [name for name in of if name in of_base]
        found = compare([of[name] for name in both], [of_base[name] for name in both], lower)
        lines.append([label, len(both), found.win, found.tie, found.loss, found.t, found.p_value])
    below = ["A record is won where the method's mean is better. t and p: two-sided paired t-test on the records' means;"
             " empty where all differences are alike."]  # fmt: skip
    return Sheet(f"Records won, tied and lost against {base}", columns, lines, below)


def _plot(title: str, base: str, of_base: Means, others: Mapping[str, Means]) -> Plot:
    """A point per record and method; on the line both are equal."""
    data: list[dict[str, Any]] = []
    ends = [value for of in (of_base, *others.values()) for value in of.values()]
    for label, of in others.items():
        both = [name for name in of if name in of_base]
        data.append({
            "type": "scatter", "mode": "markers", "name": label, "x": [of_base[name] for name in both],
            "y": [of[name] for name in both], "text": both, "marker": {"size": 8},
            "hovertemplate": "%{text}<br>%{x:.4g}, %{y:.4g}<extra>%{fullData.name}</extra>",
        })  # fmt: skip
    line = [min(ends), max(ends)]
    data.append({"type": "scatter", "mode": "lines", "name": "equal", "x": line, "y": line, "line": {"dash": "dot", "width": 1}})
    layout = {
        "height": 460, "legend": LEGEND, "xaxis": {"title": {"text": f"{base}: {title}"}},
        "yaxis": {"title": {"text": title}, "automargin": True},
    }  # fmt: skip
    return Plot(f"Records against {base}", {"data": data, "layout": layout})
