"""What methods of a sweep gain over its baseline, by the strata of a score, next to the published gains.

``compare.gains`` names a YAML in ``conf/papers/gains``: which settings gained what, by which score.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from components.core.errors import ConfigError
from runner.config.roots import CONF
from runner.results.grid import Column, Grid, grid_of
from runner.results.intervals import Metric, mean_of
from runner.results.published_gains import TOTAL, GainCell, Gains, Printed, load_gains, numbers
from runner.results.rows import Row
from runner.results.runs import Run
from runner.results.statistics.gains import Gain
from runner.results.statistics.pairing import value_of
from runner.results.statistics.versus import Versus, compared, is_one
from runner.results.table import interval, number, show

FILE = "gains.json"


def show_gains(runs: Sequence[Run], home: Path) -> None:
    """Print a table per score that has published gains; ``gains.json`` in ``home`` has the numbers."""
    settings = runs[0].compare if runs else {}
    if not (name := settings.get("gains")):
        return
    published, summary = load_gains(name, CONF / "papers"), dict[str, Any]()
    if not (tables := _tables(runs, published)):
        print("compare.gains: none of compare.baselines was run")  # noqa: T201
        return
    for table in tables:
        if table.found[TOTAL]:
            table.show()
            summary.setdefault(table.metric, {})[table.column.label] = table.as_dict()
    if summary:
        print(f"published: {published.citation};\n{published.what}")  # noqa: T201
        (home / FILE).write_text(json.dumps(summary, indent=1), encoding="utf-8")


def _tables(runs: Sequence[Run], published: Gains) -> list[_Table]:
    """A table per score and dataset; none where no baseline of these runs was run."""
    grid, settings = grid_of(runs), runs[0].compare
    baselines = [one for one in settings.get("baselines") or () if any(is_one(row, [one]) for row in grid.rows)]
    if not baselines:
        return []
    metrics = dict.fromkeys(one.metric for one in published.gains)
    return [
        _Table(grid, column, metric, baselines, [one for one in published.gains if one.metric == metric])
        for metric in metrics
        for column in grid.columns
    ]


def gains_of(published: Gains, runs: Sequence[Run]) -> Iterator[GainCell]:
    """Every published number of these gains, once for every row of runs that has the settings, or once without."""
    tables = [table for table in _tables(runs, published) if table.found[TOTAL]] if runs else []
    for printed in published.gains:
        for empty in numbers(published, printed):
            fitting = [
                replace(empty, label=row.label, runs=row.runs, ours=table.ours(row, empty))
                for table in tables
                if table.metric == printed.metric and printed.part in table.found
                for row in table.grid.rows
                if printed.fits(row.first)
            ]
            yield from fitting or [empty]


@dataclass(frozen=True)
class _Table:
    """The gains by one score on one dataset."""

    grid: Grid
    column: Column
    metric: str
    baselines: Sequence[str]
    printed: Sequence[Printed]
    found: dict[str, Mapping[str, Versus]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        parts = [TOTAL, *self._strata]
        self.found.update({part: _gains(self._part(part), self.metric, self.baselines) for part in parts})

    @property
    def _by(self) -> str:
        """The stratum that the score is split by; empty for none."""
        return next((run.by[self.metric][0] for row in self.grid.rows for run in row.runs if self.metric in run.by), "")

    @property
    def _strata(self) -> Sequence[str]:
        """Its values, as the samples have them."""
        if not self._by:
            return ()
        records = (record for cell in self._part(TOTAL).cells.values() for record in cell)
        return sorted({record["strata"][self._by] for record in records if self._by in record["strata"]})

    def _part(self, part: str) -> Grid:
        """The grid with this dataset alone, and of it one part."""
        cells = {
            place: [one for one in records if part == TOTAL or one["strata"].get(self._by) == part]
            for place, records in self.grid.cells.items()
            if place[1] == self.column.label
        }
        return replace(self.grid, columns=[self.column], cells=cells)

    def ours(self, row: Row, gain: GainCell) -> Metric:
        """What a row has of a published number; a relative gain is without an interval."""
        part = self._part(gain.printed.part)
        if gain.what == "score":
            records = part.cells.get((row.label, self.column.label), ())
            return mean_of(records, self.metric, row.first.scale(self.metric))
        one = self.found[gain.printed.part].get(row.label)
        if one is None or one.gain.metric.value is None or gain.what == "gain":
            return Metric(None) if one is None else one.gain.metric
        base = _mean(part, self._row(one.theirs), self.column, self.metric)
        return Metric(one.gain.metric.value / base if base else None, n=one.gain.metric.n)

    def show(self) -> None:
        """A row per method and a column per part: gain (relative to the baseline), interval, published gain."""
        body = []
        for row in self.grid.rows:
            cells = [self._cell(row, part) for part in self.found]
            whole = self.found[TOTAL].get(row.label)
            gain = None if whole is None else whole.gain
            counts = ("", "", "") if gain is None else (f"{gain.metric.n:,}", f"{gain.clusters:,}", _won(gain))
            body.append((row.label, *cells, *counts, _holm(whole)))
        title = f"{self.metric} on {self.column.label}: gains over {' or '.join(self.baselines)}"
        show(("", *self.found, "pairs", "clusters", "won:tied:lost", "Holm p"), body, title)

    def _cell(self, row: Row, part: str) -> str:
        lines, one = [], self.found[part].get(row.label)
        if one is None:
            mean = _mean(self._part(part), row, self.column, self.metric)
            lines = [number(mean)] if is_one(row, self.baselines) else ["-"]
        elif one.gain.metric.value is not None:
            base = _mean(self._part(part), self._row(one.theirs), self.column, self.metric)
            share = f" ({one.gain.metric.value / base:+.1%})" if base else ""
            lines = [f"{one.gain.metric.value:+.4f}{share}", interval(one.gain.metric.as_dict())]
        said = (one.text for one in self.printed if one.part == part and one.fits(row.first))
        return "\n".join([*filter(None, lines), *(f"published: {text}" for text in said)])

    def _row(self, label: str) -> Row:
        return next(row for row in self.grid.rows if row.label == label)

    def as_dict(self) -> dict[str, Any]:
        """Part -> method -> its gain."""
        return {part: {label: one.as_dict() for label, one in of.items()} for part, of in self.found.items()}


def _gains(grid: Grid, metric: str, baselines: Sequence[str]) -> dict[str, Versus]:
    """Method -> its gain over the nearest baseline; empty where nothing can be paired."""
    if not any(value_of(one, metric) is not None for cell in grid.cells.values() for one in cell):
        return {}
    try:
        return {one.mine: one for one in compared(grid, [metric], baselines).found}
    except ConfigError:  # no pair in this part
        return {}


def _mean(grid: Grid, row: Row, column: Column, metric: str) -> float | None:
    scored = (value_of(one, metric) for one in grid.cells.get((row.label, column.label), ()))
    values = [value for value in scored if value is not None]
    return sum(values) / len(values) if values else None


def _won(gain: Gain) -> str:
    return f"{gain.wins}:{gain.ties}:{gain.losses}"


def _holm(one: Versus | None) -> str:
    p = None if one is None else one.gain.p_holm
    return "" if p is None else "<0.001" if p < 0.001 else f"{p:.3f}"
