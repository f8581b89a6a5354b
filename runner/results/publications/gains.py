"""Published differences of methods to a baseline, and those of the runs of a sweep, by the strata of a score.

A YAML in ``conf/papers/gains`` lists them: which settings differ by how much, by which score.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from components.core.errors import ConfigError
from components.text.structured import read_yaml
from runner.config.build import check
from runner.results.grid import Column, Grid, grid_of
from runner.results.intervals import Metric, mean_of
from runner.results.pairs import value_of
from runner.results.publications.paper import Line, Paper
from runner.results.publications.published import TOTAL
from runner.results.rows import Row
from runner.results.runs import Run
from runner.results.versus import Versus, compared, is_one


@dataclass(frozen=True)
class Printed:
    """A published gain of runs with the settings ``where``: by the ``metric``, in total or in a ``part`` (a value of a
    stratum); ``relative`` as a share of the baseline, ``won``: clusters won, tied and lost. ``value``: not a gain, but
    the published score itself; ``aside``: why no run can be compared with it; ``settings``: those of its experiment
    that are not the publication's usual ones, such as the number of trials."""

    metric: str
    where: Mapping[str, Any]
    part: str = TOTAL
    absolute: float | None = None
    relative: float | None = None
    value: float | None = None
    won: str = ""
    note: str = ""
    relation: Literal["=", "about"] = "="
    aside: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """It in one line."""
        parts = [f"{self.absolute:+.3f}"] if self.absolute is not None else []
        parts += [f"{self.relative:+.1%}"] if self.relative is not None else []
        parts += [f"{self.value:.3f}"] if self.value is not None else []
        return ", ".join([*parts, *filter(None, (self.won, self.note))])

    def fits(self, run: Run) -> bool:
        """Whether a run has the settings; lists in any order."""
        return all(unordered(run.setting(key)) == unordered(value) for key, value in self.where.items())


@dataclass(frozen=True)
class Gains:
    """Gains of a publication with a ``backbone``; ``what`` they are over. ``paper``: the name in ``conf/papers`` that
    states the published setting."""

    citation: str
    what: str
    paper: str
    backbone: str
    gains: Sequence[Printed] = field(default=())


def load_gains(name: str, folder: Path) -> Gains:
    """Read the gains of a publication in ``folder/gains``. Raises ConfigError for an unknown name or a bad file."""
    path = folder / "gains" / f"{name}.yaml"
    if not path.is_file():
        have = ", ".join(sorted(one.stem for one in path.parent.glob("*.yaml")))
        raise ConfigError(f"compare.gains={name}: there are {have}")
    return check(Gains, read_yaml(path), path.name)


@dataclass(frozen=True)
class GainCell:
    """One published number of a gain, and a row of runs next to it, if there is one (``runs`` is empty otherwise)."""

    of: Gains
    printed: Printed
    what: str
    published: float | None = None
    bars: Sequence[str] = ()
    label: str = ""
    runs: Sequence[Run] = ()
    ours: Metric = field(default_factory=lambda: Metric(None))

    @property
    def method(self) -> str:
        """The settings that gain."""
        return ", ".join(f"{key}={unordered(value)}" for key, value in self.printed.where.items()).replace("'", "")

    @property
    def remark(self) -> str:
        """What is published with the number."""
        return ", ".join(filter(None, (self.printed.won, self.printed.note)))

    def line(self, paper: Paper) -> Line:
        """The method as one of a publication; the runs have its settings."""
        first = self.runs[0]
        settings = {key: [first.setting(key)] for key in self.printed.where} | dict(self.printed.settings)
        return Line(self.method, {}, next(iter(paper.tables)), settings)


def numbers(of: Gains, printed: Printed) -> list[GainCell]:
    """What is published of a gain, number by number."""
    aside = [printed.aside] if printed.aside else []
    named = {
        "gain": (printed.absolute, aside),
        "relative gain": (printed.relative, [*aside, "relative gains have no interval here"]),
        "score": (printed.value, aside),
    }
    found = [GainCell(of, printed, what, value, bars) for what, (value, bars) in named.items() if value is not None]
    return found or [GainCell(of, printed, "gain", None, [*aside, "published as a test or a count only"])]


def unordered(value: Any) -> Any:
    """A list of settings in a fixed order, in which it can be compared."""
    return sorted(map(str, value)) if isinstance(value, list | tuple) else value


@dataclass(frozen=True)
class GainTable:
    """The gains of a sweep's methods over its baselines by one score on one dataset."""

    grid: Grid
    column: Column
    metric: str
    baselines: Sequence[str]
    printed: Sequence[Printed]

    @cached_property
    def found(self) -> dict[str, Mapping[str, Versus]]:
        """Part (total, or a value of the stratum) -> method -> its gain over the nearest baseline."""
        return {part: self._gains(part) for part in (TOTAL, *self._strata)}

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

    def _gains(self, part: str) -> Mapping[str, Versus]:
        grid = self._part(part)
        if not any(value_of(one, self.metric) is not None for cell in grid.cells.values() for one in cell):
            return {}
        try:
            return {one.mine: one for one in compared(grid, [self.metric], self.baselines).found}
        except ConfigError:  # no pair in this part
            return {}

    def mean(self, label: str, part: str) -> Metric:
        """The plain mean of a row."""
        row = next(row for row in self.grid.rows if row.label == label)
        records = self._part(part).cells.get((label, self.column.label), ())
        return mean_of(records, self.metric, row.first.scale(self.metric))

    def relative(self, label: str, part: str) -> float | None:
        """A gain as a share of the baseline's mean."""
        one = self.found[part].get(label)
        base = None if one is None else self.mean(one.theirs, part).value
        return one.gain.metric.value / base if one is not None and one.gain.metric.value is not None and base else None

    def ours(self, row: Row, gain: GainCell) -> Metric:
        """What a row has of a published number; a relative gain is without an interval."""
        part, one = gain.printed.part, self.found[gain.printed.part].get(row.label)
        if gain.what == "score":
            return self.mean(row.label, part)
        if one is None or one.gain.metric.value is None or gain.what == "gain":
            return Metric(None) if one is None else one.gain.metric
        return Metric(self.relative(row.label, part), n=one.gain.metric.n)

    def as_dict(self) -> dict[str, Any]:
        """Part -> method -> its gain."""
        return {part: {label: one.as_dict() for label, one in of.items()} for part, of in self.found.items()}


def tables_of(runs: Sequence[Run], published: Gains) -> list[GainTable]:
    """A table per score and dataset with a gain; none where no baseline of these runs was run."""
    if not runs:
        return []
    grid, named = grid_of(runs), runs[0].compare.get("baselines") or ()
    baselines = [one for one in named if any(is_one(row, [one]) for row in grid.rows)]
    metrics = dict.fromkeys(one.metric for one in published.gains) if baselines else ()
    tables = [
        GainTable(grid, column, metric, baselines, [one for one in published.gains if one.metric == metric])
        for metric in metrics
        for column in grid.columns
    ]
    return [table for table in tables if table.found[TOTAL]]


def gains_of(published: Gains, runs: Sequence[Run]) -> Iterator[GainCell]:
    """Every published number of these gains, once for every row of runs that has the settings, or once without."""
    tables = tables_of(runs, published)
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
