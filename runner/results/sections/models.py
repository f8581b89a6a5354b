"""Models compared: one table with a line per model, and the plots that ``compare.figures`` asks for."""

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from runner.results.publications.paper import meets
from runner.results.render.figures import bars
from runner.results.rows import RunMetrics, axis, column, headlines, read_metrics
from runner.results.runs import Run, leaves
from runner.results.sheets import USD, Cell, Plot, Section, Sheet, Value, columns

_TOTALS = ("calls/total", "cost/usd")
_UNTITLED = "First score by model"


@dataclass(frozen=True)
class Series:
    """A score under one setting, of every model: a column of the table, a colour of a plot."""

    score: str
    setting: str

    @property
    def label(self) -> str:
        """What it is called."""
        return f"{self.score} {self.setting}".strip()


@dataclass(frozen=True)
class Models:
    """``cells``: (model, setting) -> the run; a setting is what a sweep varies alongside the model."""

    names: Sequence[str]
    settings: Sequence[str]
    cells: Mapping[tuple[str, str], RunMetrics]

    def value(self, name: str, series: Series) -> Value | None:
        """The score of a model; None where there is none."""
        one = self.cells.get((name, series.setting))
        return None if one is None else one.value(series.score)

    def total(self, name: str, metric: str) -> float | None:
        """A sum over the runs of a model; None where one of them does not know it."""
        values = [one.value(metric) for (model, _), one in self.cells.items() if model == name]
        known = [one.value for one in values if one is not None and one.value is not None]
        return sum(known) if len(known) == len(values) else None


def section(runs: Sequence[Run]) -> Section | None:
    """A table and plots; None for runs of one model, and where two runs share a place in the table."""
    found = read_metrics(runs)
    models = _models(found)
    if models is None:
        return None
    requested: Sequence[Mapping[str, Any]] = found[0].run.compare.get("figures") or ()
    figures = requested or [{"title": _UNTITLED, "scores": headlines(found, 1)}]
    plotted = [(str(figure["title"]), series) for figure in figures if (series := list(_series(models, figure)))]
    plots = [_plot(found, models, title, series) for title, series in plotted]
    every = list(dict.fromkeys(one for _, series in plotted for one in series))
    shown = {one.score for one in every}
    missing = dict.fromkeys(score for figure in requested for score in figure["scores"] if score not in shown)
    intro = "A line per model. The plots have a group per model, and a colour per score and setting."
    intro += f" compare.figures: no job has a value of {', '.join(missing)}." if missing else ""
    return Section("models", "Models", intro, [_sheet(found, models, every), *plots])


def _models(found: Sequence[RunMetrics]) -> Models | None:
    """The runs by model and setting; None where there is one model, or two runs of the same place."""
    names = _names([one.run for one in found])
    cells: dict[tuple[str, str], RunMetrics] = {}
    for name, one in zip(names, found, strict=True):
        if (place := (name, _setting(one.run))) in cells:
            return None
        cells[place] = one
    models, settings = list(dict.fromkeys(names)), list(dict.fromkeys(setting for _, setting in cells))
    return Models(models, settings, cells) if len(models) > 1 else None


def _names(runs: Sequence[Run]) -> list[str]:
    """What the model of each run is called: its choice, else its name, else the settings in which it differs."""
    nodes = [json.dumps(run.cfg.get("model"), sort_keys=True, default=str) for run in runs]
    for called in ([run.choices.get("model", "") for run in runs], [run.model for run in runs]):
        if all(called) and len(set(called)) == len(set(zip(called, nodes, strict=True))):
            return called
    flat = [dict(leaves(run.cfg.get("model"), "model")) for run in runs]
    differing = [key for key in flat[0] if len({one.get(key) for one in flat}) > 1]
    return [" ".join(f"{key.rpartition('.')[2]}={one.get(key, '-')}" for key in differing) for one in flat]


def _setting(run: Run) -> str:
    """The values of what its sweep varies alongside the model."""
    return " ".join(value for key, value in run.swept if key.partition(".")[0] != "model")


def _series(models: Models, figure: Mapping[str, Any]) -> Iterator[Series]:
    """The scores of a figure under its settings, where a model has a value."""
    where: Mapping[str, Sequence[str]] = figure.get("where") or {}
    for score in figure["scores"]:
        for setting in models.settings:
            runs = [one.run for (_, of), one in models.cells.items() if of == setting]
            meant = all(meets(runs[0].setting(key), list(values)) for key, values in where.items())
            one = Series(score, setting)
            if meant and any(models.value(name, one) is not None for name in models.names):
                yield one


def _sheet(found: Sequence[RunMetrics], models: Models, series: Sequence[Series]) -> Sheet:
    """A line per model: every score that is plotted, and what the model's runs took together."""
    heads = [replace(column(found, one.score), name=one.label) for one in series]
    rows: list[list[Cell]] = [
        [name, *(models.value(name, one) for one in series), *(models.total(name, metric) for metric in _TOTALS)]
        for name in models.names
    ]
    simulated = dict.fromkeys(name for (name, _), one in models.cells.items() if one.run.simulated)
    notes = [f"simulated, says nothing about a real model: {', '.join(simulated)}"] if simulated else []
    return Sheet("By model", columns("model", *heads, "calls", ("cost/usd", USD)), rows, notes)


def _plot(found: Sequence[RunMetrics], models: Models, title: str, series: Sequence[Series]) -> Plot:
    """Bars with intervals: a group per model, a colour per score and setting."""
    scores = list(dict.fromkeys(one.score for one in series))
    values = {one.label: [models.value(name, one) for name in models.names] for one in series}
    label = axis(found, scores[0]) if len(scores) == 1 else _common(scores)
    return Plot(title, bars(models.names, values, label, "model"))


def _common(scores: Sequence[str]) -> str:
    """The end of the names that all scores have in common, such as ``completion/rate``; a legend has the names."""
    ends = [name.split("/")[::-1] for name in scores]
    shared = itertools.takewhile(lambda parts: len(set(parts)) == 1, zip(*ends, strict=False))
    return "/".join([parts[0] for parts in shared][::-1]) or "score"
