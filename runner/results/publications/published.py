"""Published cells: what every line of a publication's CSV says, and the rows that the cells make."""

import csv
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from components.core.errors import ConfigError
from runner.results.intervals import Mean, Metric
from runner.results.kinds import grouped
from runner.results.levels import average

TOTAL = "total"
RELATIONS = {"=": "", "<": "below ", ">": "above ", "about": "about "}


@dataclass(frozen=True)
class Columns:
    """What the CSV calls its columns; ``inner`` and ``outer`` are a task and its dimension. Without the
    column ``relation`` all values are exact."""

    outer: str
    inner: str
    table: str = "table"
    backbone: str = "backbone"
    method: str = "method"
    scope: str = "scope"
    value: str = "value"
    note: str = "note"
    relation: str = "relation"


@dataclass(frozen=True)
class Scopes:
    """The words of the scope column for values of tasks, means of them, and totals."""

    inner: str
    outer: str
    total: str


@dataclass(frozen=True)
class PublishedCell:
    """One published value, None where there is no number. ``path``: (outer, inner) of a task, (outer,) of a mean over
    tasks, () of a total; ``relation``: whether it is exact, a bound or approximate."""

    table: str
    backbone: str
    method: str
    path: tuple[str, ...]
    value: float | None
    note: str = ""
    relation: str = "="


@dataclass(frozen=True)
class Published:
    """One published row: path (outer, inner) -> value, None where none is published; the published means, which are
    rounded to so many ``digits`` as the values are."""

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
    def outer(self) -> dict[str, Mean]:
        """Outer group -> mean of the published values within it."""
        groups = grouped(self.values.items(), lambda pair: pair[0][0])
        return {
            name: average([Mean(Metric(value, n=value is not None)) for _, value in of]) for name, of in groups.items()
        }

    def total(self, groups: Sequence[str] | None = None) -> Mean:
        """Mean of the means of all outer groups, or of these."""
        return average([mean for name, mean in self.outer.items() if groups is None or name in groups])

    @property
    def slips(self) -> list[str]:
        """Published means that do not follow from the published values."""
        found = []
        for table, name, value in self.printed:
            mean = (self.total() if name == TOTAL else self.outer[name]).value
            if mean is None or abs(mean - value) > 1.01 * 10**-self.digits:  # two roundings
                computed = "nothing" if mean is None else two(mean)
                found.append(
                    f"{self.label}: {name} is {two(value)} in {table}, and {computed} by its values in {self.table}"
                )
        return found


def two(value: float) -> str:
    """Two digits; a five in the third one goes up, as publications do."""
    return f"{value + 1e-9:.2f}"


def rows_in(
    cells: Sequence[PublishedCell], tables: Mapping[str, str | None], silent: Sequence[str], digits: int
) -> Iterator[Published]:
    """The rows that cells make, one per table, backbone and method. ``tables``: table -> another one that publishes the
    same means; ``silent``: notes that say nothing new."""
    for table, backbone, method in dict.fromkeys((one.table, one.backbone, one.method) for one in cells):
        if table not in tables:
            continue
        of = [one for one in cells if (one.backbone, one.method) == (backbone, method)]
        own = [one for one in of if one.table == table and len(one.path) == 2]
        means = [
            (one.table, one.path[0] if one.path else TOTAL, one.value)
            for one in of
            if len(one.path) < 2 and one.table in (table, tables[table]) and one.value is not None
        ]
        notes = {one.path[-1]: one.note for one in own if one.note and one.note not in silent}
        values = {(one.path[0], one.path[1]): one.value for one in own}
        yield Published(table, backbone, method, values, means, notes, digits)


def cells_in(path: Path, columns: Columns, scopes: Scopes, tables: Collection[str | None]) -> list[PublishedCell]:
    """The lines of the CSV that are of these tables. Raises ConfigError with file and line."""
    paths = {scopes.inner: (columns.outer, columns.inner), scopes.outer: (columns.outer,), scopes.total: ()}
    if not path.is_file():
        raise ConfigError(f"{path} is missing: it holds the published numbers")
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    found = []
    for number, line in enumerate(lines, 2):
        if missing := [one for one in vars(columns).values() if one != columns.relation and line.get(one) is None]:
            raise ConfigError(f"{path}:{number}: no column {missing[0]!r}")
        value, relation = line[columns.value], line.get(columns.relation) or "="
        if value and not re.fullmatch(r"-?\d+(\.\d+)?", value):
            raise ConfigError(f"{path}:{number}: {columns.value} must be a number or empty, found {value!r}")
        if relation not in RELATIONS:
            known = " ".join(RELATIONS)
            raise ConfigError(f"{path}:{number}: {columns.relation} is one of {known}, found {relation!r}")
        if line[columns.table] not in tables:
            continue
        if (scope := line[columns.scope]) not in paths:
            raise ConfigError(f"{path}:{number}: {columns.scope} is one of {' '.join(paths)}, found {scope!r}")
        named = (line[columns.table], line[columns.backbone], line[columns.method])
        place = tuple(line[column] for column in paths[scope])
        found.append(PublishedCell(*named, place, float(value) if value else None, line[columns.note], relation))
    return found
