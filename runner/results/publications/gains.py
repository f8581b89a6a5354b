"""Published differences of methods to a baseline, and those of the runs of a sweep, by the strata of a score.

A YAML in ``conf/papers/gains`` lists them: which settings differ by how much, by which score. ``compare.gains`` names
one for the section of a report.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any, Literal

from components.core.errors import ConfigError
from components.text.structured import read_yaml
from runner.config.build import check
from runner.config.catalogue import CONF
from runner.config.errors import nearest
from runner.results.cells import p_text
from runner.results.grid import DatasetColumn, Grid, grid_of, present_among
from runner.results.intervals import Metric, mean_of
from runner.results.kinds import group_by, natural_order
from runner.results.levels import rows_by_path
from runner.results.publications.paper import TOTAL
from runner.results.rows import Row, is_named
from runner.results.runs import Run
from runner.results.sheets import PERCENT, Cell, Column, Section, Sheet, Value, columns
from runner.results.terminal import show_section
from runner.results.versus import Versus, compare_rows

FILE = "gains.json"


@dataclass(frozen=True)
class PublishedGain:
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
        """The gain in one line."""
        values = ((self.absolute, "+.3f"), (self.relative, "+.1%"), (self.value, ".3f"))
        texts = [format(value, form) for value, form in values if value is not None]
        return ", ".join(filter(None, (*texts, self.won, self.note)))

    def fits(self, run: Run) -> bool:
        """Whether a run has the settings; lists in any order."""
        return all(sort_lists(run.setting(key)) == sort_lists(value) for key, value in self.where.items())


@dataclass(frozen=True)
class Gains:
    """Gains of a publication; ``what`` they are over; ``paper``: whose settings in ``conf/papers`` they have."""

    citation: str
    what: str
    paper: str
    backbone: str
    gains: Sequence[PublishedGain] = field(default=())


def load_gains(name: str, folder: Path) -> Gains:
    """Read the gains of a publication in ``folder/gains``. Raises ConfigError for an unknown name or a bad file."""
    path = folder / "gains" / f"{name}.yaml"
    if not path.is_file():
        raise ConfigError(f"compare.gains={name}: {nearest(name, (one.stem for one in path.parent.glob('*.yaml')))}")
    return check(Gains, read_yaml(path), path.name)


@dataclass(frozen=True)
class PublishedNumber:
    """One published number of a gain, and a row of runs next to it, if there is one (``runs`` is empty otherwise)."""

    gain: PublishedGain
    what: str
    published: float | None = None
    bars: Sequence[str] = ()
    label: str = ""
    runs: Sequence[Run] = ()
    ours: Metric = field(default_factory=lambda: Metric(None))

    @property
    def method(self) -> str:
        """The settings that gain."""
        return ", ".join(f"{key}={sort_lists(value)}" for key, value in self.gain.where.items()).replace("'", "")


def numbers(gain: PublishedGain) -> list[PublishedNumber]:
    """The published numbers of a gain."""
    aside = [gain.aside] if gain.aside else []
    relative = [*aside, "relative gains have no interval here"]
    values = (("gain", gain.absolute, aside), ("relative gain", gain.relative, relative), ("score", gain.value, aside))
    found = [PublishedNumber(gain, what, value, bars) for what, value, bars in values if value is not None]
    return found or [PublishedNumber(gain, "gain", None, [*aside, "published as a test or a count only"])]


def sort_lists(value: Any) -> Any:
    """A list of settings in a fixed order, in which it can be compared."""
    return sorted(map(str, value)) if isinstance(value, list | tuple) else value


@dataclass(frozen=True)
class GainTable:
    """The gains of a sweep's methods over its baselines by one score on one dataset."""

    grid: Grid
    column: DatasetColumn
    metric: str
    baselines: Sequence[str]
    published: Sequence[PublishedGain]

    @cached_property
    def parts(self) -> dict[str, Mapping[str, Versus]]:
        """Part (total, or a value of the stratum) -> method -> its gain over the nearest baseline."""
        known = (of for cell in self._part(TOTAL).cells.values() for of in cell.kinds)
        strata = {of[self._by] for of in known if self._by in of}
        found: dict[str, Mapping[str, Versus]] = {part: {} for part in (TOTAL, *sorted(strata, key=natural_order))}
        for part in found:
            grid = self._part(part)
            if any((cell.values(self.metric) == cell.values(self.metric)).any() for cell in grid.cells.values()):
                with suppress(ConfigError):  # no pair in this part
                    found[part] = {
                        one.mine: one for one in compare_rows(grid, [self.metric], self.baselines).comparisons
                    }
        return found

    @cached_property
    def _by(self) -> str:
        """The stratum that the score is split by; empty for none."""
        return next((run.by[self.metric][0] for row in self.grid.rows for run in row.runs if self.metric in run.by), "")

    def _part(self, part: str) -> Grid:
        """The grid with this dataset alone, and of it one part."""
        cells = {
            place: table
            if part == TOTAL
            else table.take(rows_by_path(table, [self._by]).get((part,), table.in_order()[:0]))
            for place, table in self.grid.cells.items()
            if place[1] == self.column.label
        }
        return replace(self.grid, columns=[self.column], cells=cells)

    def mean(self, label: str, part: str) -> Metric:
        """The plain mean of a row."""
        row = next(row for row in self.grid.rows if row.label == label)
        if (table := self._part(part).cells.get((label, self.column.label))) is None:
            return Metric(None)
        return mean_of(table, table[f"scores/{self.metric}"], row.first.scale(self.metric)).finished

    def relative_gain(self, label: str, part: str) -> float | None:
        """A gain as a share of the baseline's mean."""
        if (one := self.parts[part].get(label)) is None or one.difference.metric.value is None:
            return None
        base = self.mean(one.theirs, part).value
        return one.difference.metric.value / base if base else None

    def our_value(self, row: Row, number: PublishedNumber) -> Metric:
        """What a row has of a published number; a relative gain is without an interval."""
        part = number.gain.part
        if number.what == "score":
            return self.mean(row.label, part)
        if (one := self.parts[part].get(row.label)) is None:
            return Metric(None)
        metric = one.difference.metric
        return metric if number.what == "gain" else Metric(self.relative_gain(row.label, part), n=metric.n)


def tables_of(runs: Sequence[Run], published: Gains) -> list[GainTable]:
    """A table per score and dataset with a gain; none where no baseline of these runs was run."""
    grid = grid_of(runs)
    baselines = present_among(grid, runs[0].compare.get("baselines") or ()) if runs else []
    by_metric = group_by(published.gains, lambda one: one.metric) if baselines else {}
    places = product(by_metric.items(), grid.columns)
    tables = (GainTable(grid, column, metric, baselines, of) for (metric, of), column in places)
    return [table for table in tables if table.parts[TOTAL]]


def gains_of(published: Gains, runs: Sequence[Run]) -> Iterator[PublishedNumber]:
    """Every published number of these gains, once for every row of runs that has the settings, or once without."""
    tables = tables_of(runs, published)
    for gain in published.gains:
        for number in numbers(gain):
            own = [table for table in tables if table.metric == gain.metric and gain.part in table.parts]
            places = [(table, row) for table in own for row in table.grid.rows if gain.fits(row.first)]
            for table, row in places:
                yield replace(number, label=row.label, runs=row.runs, ours=table.our_value(row, number))
            yield from () if places else (number,)


def section(runs: Sequence[Run]) -> Section | None:
    """A table per score that has published gains; None where the config names none."""
    published = _published(runs)
    return None if published is None else _section(published, tables_of(runs, published))


def show_gains(runs: Sequence[Run], home: Path) -> None:
    """Print the section; ``gains.json`` in ``home`` has the numbers."""
    if (published := _published(runs)) is None:
        return
    tables = tables_of(runs, published)
    show_section(_section(published, tables))
    numbers: dict[str, dict[str, Any]] = {}
    for table in tables:
        parts = {part: {label: one.as_dict() for label, one in of.items()} for part, of in table.parts.items()}
        numbers.setdefault(table.metric, {})[table.column.label] = parts
    if numbers:
        (home / FILE).write_text(json.dumps(numbers, indent=1), encoding="utf-8")


def _published(runs: Sequence[Run]) -> Gains | None:
    name = runs[0].compare.get("gains") if runs else None
    return load_gains(name, CONF / "papers") if name else None


def _section(published: Gains, tables: Sequence[GainTable]) -> Section:
    """A row per method and part; of a baseline its mean."""
    intro = f"Published: {published.citation}; {published.what}"
    if not tables:
        intro = "compare.gains: no run is one of compare.baselines, or none has a score with published gains."
    heads = columns(
        "method", "part", "mean", Column("gain", "", "higher", signed=True),
        Column("of the baseline", PERCENT, signed=True), "pairs", "clusters", "won:tied:lost", "Holm p", "published",
    )  # fmt: skip
    sheets = []
    for table in tables:
        rows: list[list[Cell]] = []
        for row in table.grid.rows:
            for part, gains in table.parts.items():
                texts = "; ".join(one.text for one in table.published if one.part == part and one.fits(row.first))
                mean = table.mean(row.label, part).value if is_named(row, table.baselines) else None
                cells: list[Cell] = [None, None, None, None, "", ""]
                if (one := gains.get(row.label)) is not None:
                    of, relative = one.difference, table.relative_gain(row.label, part)
                    share = None if relative is None else 100 * relative
                    cells = [Value.of(of.metric), share, of.metric.n, of.clusters, of.counts, p_text(of.p_holm)]
                rows.append([row.label, part, mean, *cells, texts])
        title = f"{table.metric} on {table.column.label}: gains over {' or '.join(table.baselines)}"
        sheets.append(Sheet(title, heads, rows, keys=2))
    return Section("gains", "Gains over the baseline", " ".join(intro.split()), sheets)
