"""What methods of a sweep gain over its baseline, by the strata of a score, beside the gains that are in print.

``compare.gains`` names a YAML in ``conf/papers/gains``: which settings gained what, by which score.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from components.errors import ConfigError
from components.hand_written import read_yaml
from runner.build import check
from runner.config.roots import CONF
from runner.results.grid import Column, Grid, grid_of
from runner.results.rows import Row, Run
from runner.results.statistics.gains import Gain
from runner.results.statistics.pairing import value_of
from runner.results.statistics.versus import Versus, compared, is_one
from runner.results.table import interval, number, show

FILE, TOTAL = "gains.json", "total"


@dataclass(frozen=True)
class Printed:
    """A gain in print of runs with the settings ``where``: by the ``metric``, in total or in a ``part`` (a value of a
    stratum); ``relative`` as a share of the baseline, ``won``: clusters won, tied and lost."""

    metric: str
    where: Mapping[str, Any]
    part: str = TOTAL
    absolute: float | None = None
    relative: float | None = None
    won: str = ""
    note: str = ""

    @property
    def text(self) -> str:
        """It in one line."""
        told = [f"{self.absolute:+.3f}"] if self.absolute is not None else []
        told += [f"{self.relative:+.1%}"] if self.relative is not None else []
        return ", ".join([*told, *filter(None, (self.won, self.note))])

    def fits(self, run: Run) -> bool:
        """Whether a run has the settings; lists in any order."""
        return all(_unordered(run.setting(key)) == _unordered(value) for key, value in self.where.items())


@dataclass(frozen=True)
class Gains:
    """Gains of a publication; ``what`` they are over."""

    citation: str
    what: str
    gains: Sequence[Printed] = field(default=())


def load_gains(name: str) -> Gains:
    """Read the gains of a publication. Raises ConfigError for an unknown name, and for a bad file."""
    path = CONF / "papers" / "gains" / f"{name}.yaml"
    if not path.is_file():
        have = ", ".join(sorted(one.stem for one in path.parent.glob("*.yaml")))
        raise ConfigError(f"compare.gains={name}: there are {have}")
    return check(Gains, read_yaml(path), path.name)


def show_gains(runs: Sequence[Run], home: Path) -> None:
    """Print a table per score that has gains in print; ``gains.json`` in ``home`` has the numbers."""
    settings = (runs[0].cfg.get("compare") or {}) if runs else {}
    if not (name := settings.get("gains")):
        return
    printed, grid, told = load_gains(name), grid_of(runs), dict[str, Any]()
    baselines = [one for one in settings.get("baselines") or () if any(is_one(row, [one]) for row in grid.rows)]
    if not baselines:
        print("compare.gains: none of compare.baselines was played")  # noqa: T201
        return
    for metric in dict.fromkeys(one.metric for one in printed.gains):
        for column in grid.columns:
            table = _Table(grid, column, metric, baselines, [one for one in printed.gains if one.metric == metric])
            if table.found[TOTAL]:
                table.show()
                told.setdefault(metric, {})[column.label] = table.as_dict()
    if told:
        print(f"in print: {printed.citation};\n{printed.what}")  # noqa: T201
        (home / FILE).write_text(json.dumps(told, indent=1), encoding="utf-8")


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
        """The stratum by which the score is told; empty for none."""
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

    def show(self) -> None:
        """A row per method and a column per part: gain (relative to the baseline), interval, what is in print."""
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
        return "\n".join([*filter(None, lines), *(f"print: {text}" for text in said)])

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


def _unordered(value: Any) -> Any:
    return sorted(map(str, value)) if isinstance(value, list | tuple) else value
