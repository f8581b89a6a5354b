"""Plots of each model that a config asks for (``compare.figures``), with their table."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product, takewhile
from typing import Any

from runner.results.publications.paper import meets
from runner.results.render.figures import bars
from runner.results.rows import RunMetrics, axis, column, headlines, read_metrics
from runner.results.runs import Run, leaves
from runner.results.sheets import USD, Cell, Plot, Section, Sheet, Value, columns

_TOTALS = ("calls/total", "cost/usd")
_UNTITLED = "First score by model"
Series = tuple[str, str]  # a score under one setting, of every model: a column of the table, a colour of a plot


@dataclass(frozen=True)
class Models:
    """``cells``: (model, setting) -> the run; a setting is what a sweep varies alongside the model."""

    names: Sequence[str]
    cells: Mapping[tuple[str, str], RunMetrics]

    def value(self, name: str, series: Series) -> Value | None:
        """The score of a model; None where there is none."""
        one = self.cells.get((name, series[1]))
        return None if one is None else one.value(series[0])

    def total(self, name: str, metric: str) -> float | None:
        """A sum over the runs of a model; None where one of them does not know it."""
        values = [one.value(metric) for (model, _), one in self.cells.items() if model == name]
        known = [one.value for one in values if one is not None and one.value is not None]
        return sum(known) if len(known) == len(values) else None


def models(runs: Sequence[Run]) -> Section | None:
    """A table and plots; None for runs of one model, and where two runs share a place in the table."""
    found = read_metrics(*runs)
    if (table := _models(found)) is None:
        return None
    requested: Sequence[Mapping[str, Any]] = runs[0].compare.get("figures") or ()
    every: list[Series] = []
    plots: list[Plot] = []
    for figure in requested or [{"title": _UNTITLED, "scores": headlines(found, 1)}]:
        if series := _model_series(table, figure):
            plots.append(_model_plot(found, table, str(figure["title"]), series))
            every += series
    scores = {score for score, _ in every}
    missing = dict.fromkeys(score for figure in requested for score in figure["scores"] if score not in scores)
    intro = "A line per model. The plots have a group per model, and a colour per score and setting."
    intro += f" compare.figures: no job has a value of {', '.join(missing)}." if missing else ""
    return Section("models", "Models", intro, [_model_sheet(found, table, list(dict.fromkeys(every))), *plots])


def _models(found: Sequence[RunMetrics]) -> Models | None:
    """The runs by model and setting; None where there is one model, or two runs of the same place."""
    names = _model_names([one.run for one in found])
    settings = [" ".join(value for key, value in one.run.swept if key.partition(".")[0] != "model") for one in found]
    cells = dict(zip(zip(names, settings, strict=True), found, strict=True))
    return Models(list(dict.fromkeys(names)), cells) if len(set(names)) > 1 and len(cells) == len(found) else None


def _model_names(runs: Sequence[Run]) -> list[str]:
    """What the model of each run is called: its choice, else its name, else the settings in which it differs."""
    nodes = [json.dumps(run.cfg.get("model"), sort_keys=True, default=str) for run in runs]
    for called in ([run.choices.get("model", "") for run in runs], [run.model for run in runs]):
        if all(called) and len(set(called)) == len(set(zip(called, nodes, strict=True))):
            return called
    flat = [dict(leaves(run.cfg.get("model"), "model")) for run in runs]
    differing = [key for key in flat[0] if len({one.get(key) for one in flat}) > 1]
    return [" ".join(f"{key.rpartition('.')[2]}={one.get(key, '-')}" for key in differing) for one in flat]


def _model_series(models: Models, figure: Mapping[str, Any]) -> list[Series]:
    """The scores of a figure under its settings, where a model has a value."""
    where: Mapping[str, Sequence[str]] = figure.get("where") or {}
    first = {setting: one.run for (_, setting), one in reversed(list(models.cells.items()))}
    settings = [
        setting
        for setting in dict.fromkeys(setting for _, setting in models.cells)
        if all(meets(first[setting].setting(key), list(values)) for key, values in where.items())
    ]
    return [
        series
        for series in product(figure["scores"], settings)
        if any(models.value(name, series) is not None for name in models.names)
    ]


def _model_sheet(found: Sequence[RunMetrics], models: Models, series: Sequence[Series]) -> Sheet:
    """A line per model: every score that is plotted, and what the model's runs took together."""
    heads = [replace(column(found, one[0]), name=_series_label(one)) for one in series]
    rows: list[list[Cell]] = [
        [name, *(models.value(name, one) for one in series), *(models.total(name, metric) for metric in _TOTALS)]
        for name in models.names
    ]
    simulated = dict.fromkeys(name for (name, _), one in models.cells.items() if one.run.simulated)
    notes = [f"simulated, says nothing about a real model: {', '.join(simulated)}"] if simulated else []
    return Sheet("By model", columns("model", *heads, "calls", ("cost/usd", USD)), rows, notes)


def _series_label(series: Series) -> str:
    return " ".join(series).strip()


def _model_plot(found: Sequence[RunMetrics], models: Models, title: str, series: Sequence[Series]) -> Plot:
    """Bars with intervals: a group per model, a colour per score and setting."""
    values = {_series_label(one): [models.value(name, one) for name in models.names] for one in series}
    scores = list(dict.fromkeys(score for score, _ in series))
    if len(scores) == 1:
        label = axis(found, scores[0])
    else:  # the end of the names that all have in common, such as completion/rate; a legend has the names
        ends = [name.split("/")[::-1] for name in scores]
        shared = takewhile(lambda parts: len(set(parts)) == 1, zip(*ends, strict=False))
        label = "/".join([parts[0] for parts in shared][::-1]) or "score"
    return Plot(title, bars(models.names, values, label, "model"))
