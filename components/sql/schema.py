"""Databases in folders, and their schemas: from a Spider-style ``tables.json`` or from the database itself."""

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import orjson

from components.sql import SqlError

SUFFIXES = (".sqlite", ".db", ".sqlite3")
SCHEMA_FILE = "tables.json"


@dataclass(frozen=True)
class Table:
    """A table: column -> type (text, number, time, or as SQLite declares it), and the columns of its key."""

    name: str
    columns: Mapping[str, str]
    primary_key: Sequence[str] = ()


@dataclass(frozen=True)
class Schema:
    """Tables and foreign keys, each as ``(table.column, table.column)``."""

    tables: Sequence[Table]
    foreign_keys: Sequence[tuple[str, str]] = ()

    @property
    def text(self) -> str:
        """In lower case, one line per table with its columns, then the foreign keys."""
        lines = [f"{table.name}({', '.join(table.columns)})" for table in self.tables]
        lines += [f"{one} = {other}" for one, other in self.foreign_keys]
        return "\n".join(lines).lower()


@dataclass(frozen=True)
class Database:
    """A database file; ``id`` is its dataset id, ``schema_file`` its tables.json where there is one."""

    id: str
    file: Path
    schema_file: Path | None = None

    def schema(self) -> Schema:
        """Read the schema. Raises SqlError when it cannot be read."""
        return _declared(self.schema_file, self.id) if self.schema_file is not None else _live(self.file, self.id)


def database_of(path: Path) -> Database:
    """The database at a path: a file, or a folder that holds one, itself or in a folder inside. The base name is the
    dataset id; ``tables.json`` lies next to the file or in the folder that was named. Raises SqlError when there is
    none, or more than one."""
    if path.is_file():
        return Database(path.stem, path, _schema_file(path.parent))
    if not path.is_dir():
        raise SqlError(f"there is no database {path.name!r}")
    for files in (path.iterdir(), path.rglob("*")):
        found = sorted(file for file in files if file.suffix in SUFFIXES and file.is_file())
        if len(found) > 1:
            names = ", ".join(file.relative_to(path).as_posix() for file in found)
            raise SqlError(f"the folder {path.name!r} must hold one database, found {names}")
        if found:
            return Database(path.name, found[0], _schema_file(found[0].parent, path))
    raise SqlError(f"the folder {path.name!r} holds no database (a file {' or '.join('*' + end for end in SUFFIXES)})")


def _schema_file(*folders: Path) -> Path | None:
    """The first tables.json in these folders."""
    return next((file for folder in folders if (file := folder / SCHEMA_FILE).is_file()), None)


def _declared(path: Path, id: str) -> Schema:
    """Read a tables.json: the only entry, or the one whose ``db_id`` is the database's id."""
    try:
        entries = orjson.loads(path.read_bytes())
        chosen = entries if len(entries) == 1 else [entry for entry in entries if entry["db_id"] == id]
        if len(chosen) != 1:
            raise SqlError(f"{SCHEMA_FILE} of {id!r} must have one entry for it, found {len(chosen)}")
        (entry,) = chosen
        columns = list(zip(entry["column_names_original"], entry["column_types"], strict=True))  # column 0 is the star
        keys, names = set(entry["primary_keys"]), entry["table_names_original"]
        if len({name.lower() for name in names}) < len(names):
            raise ValueError("two tables have the same name")
        tables = [
            Table(
                name,
                {column: kind for (table, column), kind in columns if table == number},
                [column for index, ((table, column), _) in enumerate(columns) if table == number and index in keys],
            )
            for number, name in enumerate(names)
        ]
        full = [f"{names[table]}.{column}" if table >= 0 else column for (table, column), _ in columns]
        return Schema(tables, [(full[one], full[other]) for one, other in entry["foreign_keys"]])
    except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
        raise SqlError(f"{SCHEMA_FILE} of {id!r} cannot be read: {type(error).__name__} {error}") from None


def _live(path: Path, id: str) -> Schema:
    """A schema from the database itself."""
    listing = (
        "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY rowid"
    )
    tables, keys = [], []
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=ro", uri=True)) as connection:
            for (name,) in connection.execute(listing).fetchall():
                rows = connection.execute("SELECT name, type, pk FROM pragma_table_info(?)", (name,)).fetchall()
                primary = [column for column, _, place in sorted(rows, key=lambda row: row[2]) if place]
                tables.append(Table(name, {column: kind.lower() for column, kind, _ in rows}, primary))
                for own, table, other in connection.execute(
                    'SELECT "from", "table", "to" FROM pragma_foreign_key_list(?) ORDER BY id DESC, seq', (name,)
                ):
                    keys.append((f"{name}.{own}", f"{table}.{other}" if other else table))
    except sqlite3.Error as error:
        raise SqlError(f"the schema of {id!r} cannot be read: {error}") from None
    return Schema(tables, keys)
