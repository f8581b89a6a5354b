"""Published results: a YAML in ``conf/papers`` says how to read the CSV beside it, and which rows a run compares to."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from components.errors import ConfigError
from components.hand_written import read_yaml
from runner.build import check
from runner.results.levels import Part, average
from runner.results.rows import Run

TOTAL = "total"


@dataclass(frozen=True)
class Columns:
    """What the CSV calls its columns; ``inner`` and ``outer`` are a task and its dimension."""

    outer: str
    inner: str
    table: str = "table"
    backbone: str = "backbone"
    method: str = "method"
    scope: str = "scope"
    value: str = "value"
    note: str = "note"


@dataclass(frozen=True)
class Scopes:
    """The words of the scope column for values of tasks, means of them, and totals."""

    inner: str
    outer: str
    total: str


@dataclass(frozen=True)
class Table:
    """``sizes``: task -> samples; ``again``: a table that prints the same means, maybe with slips."""

    sizes: Mapping[str, int]
    split: str = "test"
    again: str | None = None


@dataclass(frozen=True)
class Line:
    """A published method and the settings of the runs that are held against it.

    ``where`` chooses such runs, ``settings`` are told where a run has others: key -> value, or a list of those that
    will do. ``{key}`` in ``method`` is the run's setting. ``notes`` are differences of every such run, ``remarks``
    what else is in print of it.
    """

    method: str
    where: Mapping[str, Any]
    table: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    notes: Sequence[str] = ()
    remarks: Sequence[str] = ()


@dataclass(frozen=True)
class Published:
    """One row in print: path (outer, inner) -> value, None where nothing is printed; what is printed as means, which
    are rounded to so many ``digits`` as the values are."""

    table: str
    backbone: str
    method: str
    values: Mapping[tuple[str, str], float | None]
    printed: Sequence[tuple[str, str, float]] = ()
    notes: Mapping[str, str] = field(default_factory=dict)
    digits: int = 2

    @property
    def label(self) -> str:
        """Backbone and method."""
        return f"{self.backbone} {self.method}"

    @cached_property
    def outer(self) -> dict[str, Part]:
        """Outer group -> mean of what is printed within it."""
        names = dict.fromkeys(outer for outer, _ in self.values)
        return {
            name: average(
                [Part(value, n=value is not None) for (outer, _), value in self.values.items() if outer == name]
            )
            for name in names
        }

    def total(self, groups: Sequence[str] | None = None) -> Part:
        """Mean of the means of all outer groups, or of these."""
        return average([part for name, part in self.outer.items() if groups is None or name in groups])

    @property
    def slips(self) -> list[str]:
        """Printed means that do not follow from the printed values."""
        found = []
        for table, name, value in self.printed:
            mean = (self.total() if name == TOTAL else self.outer[name]).value
            if mean is None or abs(mean - value) > 1.01 * 10**-self.digits:  # two roundings
                said = "nothing" if mean is None else two(mean)
                found.append(
                    f"{self.label}: {name} is {two(value)} in {table}, and {said} by its values in {self.table}"
                )
        return found


@dataclass(frozen=True)
class Paper:
    """A publication (see ``conf/papers``). ``scale``: the CSV's values are so many times a run's score.

    ``by``: a task is the choice of a group (dataset, condition) that a run was played with; else the strata ``levels``,
    from the inner to the outer one, are its tasks and groups (twice the same where there are no groups), and without
    them those of the runs' score.
    """

    title: str
    citation: str
    file: str
    columns: Columns
    scopes: Scopes
    metric: str
    tables: Mapping[str, Table]
    rows: Sequence[Line]
    scale: float = 1.0
    digits: int = 2
    by: str = ""
    levels: Sequence[str] = ()
    silent: Sequence[str] = ()
    datasets: Sequence[str] = ()
    backbones: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    published: Sequence[Published] = ()

    @property
    def flat(self) -> bool:
        """Whether tasks are in no groups: then each is a group of its own."""
        return self.columns.inner == self.columns.outer

    @property
    def by_dataset(self) -> bool:
        """Whether datasets are the tasks: runs of one method on several make one row."""
        return self.by == "dataset"

    @property
    def single(self) -> bool:
        """Whether every row has but one task: the choice of a group other than the dataset."""
        return bool(self.by) and not self.by_dataset

    def line(self, run: Run) -> Line | None:
        """The published method that a run is held against."""
        for line in self.rows:
            if all(meets(run.setting(key), value) for key, value in line.where.items()):
                method = re.sub(r"\{([\w.]+)\}", lambda found: str(run.setting(found[1])), line.method)
                return replace(line, method=method, table=line.table or next(iter(self.tables)))
        return None

    def counterparts(self, line: Line, model: str) -> list[Published]:
        """The rows of a method: with the same backbone, where the model's name is of one in print, else with any."""
        rows = [one for one in self.published if (one.method, one.table) == (line.method, line.table)]
        same = [one for one in rows if self.is_backbone(one.backbone, model)]
        return same or rows

    def is_backbone(self, backbone: str, model: str) -> bool:
        """Whether a model's name is of a published backbone."""
        pattern = self.backbones.get(backbone)
        return pattern is not None and re.search(pattern, model, re.IGNORECASE) is not None


def meets(found: object, wanted: object) -> bool:
    """Whether a setting is what is wanted, or among it."""
    return found in wanted if isinstance(wanted, list | tuple) else found == wanted


def two(value: float) -> str:
    """Two digits; a five in the third one goes up, as in print."""
    return f"{value + 1e-9:.2f}"


def load(folder: Path, name: str) -> Paper:
    """Read a publication of the folder, or a YAML of one's own by its path.

    Raises ConfigError for an unknown name, naming those there are, and for a bad file.
    """
    path = Path(name) if name.endswith(".yaml") else folder / f"{name}.yaml"
    if not path.is_file():
        have = ", ".join(sorted(one.stem for one in folder.glob("*.yaml"))) or "none"
        raise ConfigError(f"--paper {name}: there is no such paper; there are {have}")
    paper = check(Paper, read_yaml(path), path.name)
    if unknown := {line.table for line in paper.rows if line.table} - set(paper.tables):
        raise ConfigError(f"{path}: rows name the tables {sorted(unknown)}; there are {', '.join(paper.tables)}")
    return replace(paper, published=list(_published(paper, path.parent / paper.file)))


def _published(paper: Paper, path: Path) -> Iterator[Published]:
    """The rows of the CSV, one per table, backbone and method."""
    columns, scopes, cells = paper.columns, paper.scopes, _cells(paper, path)
    means = {scopes.outer: columns.outer, scopes.total: None}
    rows: dict[tuple[str, str], list[dict[str, str]]] = {}
    for cell in cells:
        rows.setdefault((cell[columns.backbone], cell[columns.method]), []).append(cell)
    for key in dict.fromkeys((cell[columns.table], cell[columns.backbone], cell[columns.method]) for cell in cells):
        table, backbone, method = key
        if table not in paper.tables:
            continue
        printed, values, notes = [], dict[tuple[str, str], float | None](), dict[str, str]()
        for cell in rows[backbone, method]:
            value = float(cell[columns.value]) if cell[columns.value] else None
            if cell[columns.scope] == scopes.inner and cell[columns.table] == table:
                values[cell[columns.outer], cell[columns.inner]] = value
                if cell[columns.note] and cell[columns.note] not in paper.silent:
                    notes[cell[columns.inner]] = cell[columns.note]
            elif cell[columns.table] in (table, paper.tables[table].again) and value is not None:
                name = cell[columns.outer] if means.get(cell[columns.scope]) else TOTAL
                printed.append((cell[columns.table], name, value))
        yield Published(table, backbone, method, values, printed, notes, paper.digits)


def _cells(paper: Paper, path: Path) -> list[dict[str, str]]:
    """The lines of the CSV. Raises ConfigError with file and line."""
    if not path.is_file():
        raise ConfigError(f"{path} is missing: it holds the published numbers")
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    wanted = list(vars(paper.columns).values())
    for number, line in enumerate(lines, 2):
        if missing := [column for column in wanted if line.get(column) is None]:
            raise ConfigError(f"{path}:{number}: no column {missing[0]!r}")
        value = line[paper.columns.value]
        if value and not re.fullmatch(r"-?\d+(\.\d+)?", value):
            raise ConfigError(f"{path}:{number}: {paper.columns.value} must be a number or empty, found {value!r}")
    return lines
