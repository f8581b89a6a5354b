"""The tables of the three databases, read from ``schemas.yaml``, and how they come into SQLite and CSV files."""

import csv
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from components.text.structured import read_yaml
from data_builders.shipped import COMPONENTS

HERE = Path(__file__).resolve().parent
SHIPPED = COMPONENTS / "ehr" / "datasets" / "ehr_mini"
Row = Mapping[str, Any]
Rows = Mapping[str, Sequence[Row]]

_COLUMN = re.compile(r"(\w+):([irt])([*!?]?)(?:>(\w+)\.(\w+))?")
_TYPES = {"i": "INTEGER", "r": "REAL", "t": "TEXT"}
_RULES = {"*": " PRIMARY KEY", "!": " UNIQUE NOT NULL", "?": "", "": " NOT NULL"}
_PAGE_BYTES = (1024, 4096)


@cache
def table_of(name: str) -> Any:
    """The content of a YAML file of this folder."""
    return read_yaml(HERE / name)


@dataclass(frozen=True)
class Column:
    """A column: its type (``i``, ``r``, ``t``), its rule (``*``, ``!``, ``?`` or none) and its parent."""

    name: str
    type: str
    rule: str
    parent: tuple[str, str] | None

    @property
    def declaration(self) -> str:
        """As in CREATE TABLE."""
        references = "" if self.parent is None else f" REFERENCES {self.parent[0]}({self.parent[1]})"
        return f"{self.name} {_TYPES[self.type]}{_RULES[self.rule]}{references}"


@dataclass(frozen=True)
class Schema:
    """One database. ``clock``: the time at which its questions are asked, or None."""

    name: str
    clock: str | None
    upper_csv: bool
    tables: Mapping[str, tuple[Column, ...]]

    @classmethod
    def of(cls, name: str) -> "Schema":
        """The schema with this name."""
        given = table_of("schemas.yaml")[name]
        tables = {table: tuple(_columns(text)) for table, text in given["tables"].items()}
        return cls(name, given.get("clock"), given["csv"] == "upper", tables)

    def statements(self) -> Iterator[str]:
        """One CREATE TABLE for each table."""
        for table, columns in self.tables.items():
            yield f"CREATE TABLE {table} ({', '.join(column.declaration for column in columns)})"


def _columns(text: str) -> Iterator[Column]:
    for part in text.split():
        found = _COLUMN.fullmatch(part)
        if found is None:
            raise ValueError(f"schemas.yaml: no column: {part!r}")
        name, kind, rule, table, parent = found.groups()
        yield Column(name, kind, rule, (table, parent) if table else None)


def opened(schema: Schema, rows: Rows, page_bytes: int = _PAGE_BYTES[-1]) -> sqlite3.Connection:
    """A database in memory that holds these rows. Raises ValueError when a row lacks its parent."""
    connection = sqlite3.connect(":memory:")
    connection.execute(f"PRAGMA page_size = {page_bytes}")
    for statement in schema.statements():
        connection.execute(statement)
    for table, columns in schema.tables.items():
        marks = ", ".join("?" * len(columns))
        values = ([row.get(column.name) for column in columns] for row in rows[table])
        connection.executemany(f"INSERT INTO {table} VALUES ({marks})", values)
    connection.commit()
    broken = connection.execute("PRAGMA foreign_key_check").fetchall()
    if broken:
        raise ValueError(f"{schema.name}: rows without their parent: {broken[:3]}")
    return connection


def packed(schema: Schema, rows: Rows) -> bytes:
    """The smallest SQLite file that holds these rows."""
    files = []
    for page_bytes in _PAGE_BYTES:
        connection = opened(schema, rows, page_bytes)
        connection.execute("VACUUM")
        files.append(bytes(connection.serialize()))
        connection.close()
    return min(files, key=len)


def asked(connection: sqlite3.Connection, sql: str, clock: str | None) -> sqlite3.Cursor:
    """Run a gold statement; ``current_time`` stands for the clock of the database."""
    return connection.execute(sql if clock is None else sql.replace("current_time", f"'{clock}'"))


def write_csv(schema: Schema, connection: sqlite3.Connection, folder: Path) -> None:
    """One CSV file for each table, in the case that the original has; a missing value is an empty cell."""
    folder.mkdir(parents=True, exist_ok=True)

    def cased(names: Iterable[str]) -> list[str]:
        return [name.upper() if schema.upper_csv else name.lower() for name in names]

    for table, columns in schema.tables.items():
        (stem,) = cased([table])
        with (folder / f"{stem}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(cased(column.name for column in columns))
            writer.writerows(connection.execute(f"SELECT * FROM {table}"))
