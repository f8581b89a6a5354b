"""Databases in folders, their schemas (from a Spider-style ``tables.json`` or the database itself), and statements of
models that can only read them, within limits of time and size.
"""

import re
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Annotated, Any
from urllib.parse import quote

import orjson
from annotated_types import Ge, Gt

from components.core.errors import ConfigError
from components.sql import ForbiddenSql, SqlError, UnreadableDatabase

SUFFIXES = (".sqlite", ".db", ".sqlite3")
SCHEMA_FILE = "tables.json"
Row = tuple[Any, ...]

_ALLOWED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
# Functions that leave the database or weaken its guards, where the library was built with them.
_FORBIDDEN = {"load_extension", "fts3_tokenizer", "readfile", "writefile", "edit", "eval", "fsdir", "zipfile", "lsdir"}
# What is another thing at each call, or on another day: results must not depend on it.
_UNSTEADY = {"random", "randomblob", "current_date", "current_time", "current_timestamp"}
_CLOCK = re.compile(
    r"'\s*now\s*'|\b(?:date|time|datetime|julianday|unixepoch)\s*\(\s*\)|\bstrftime\s*\(\s*'[^']*'\s*\)", re.IGNORECASE
)
_LIMITS = {
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 100_000,
    sqlite3.SQLITE_LIMIT_COLUMN: 500,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 200,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 50,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 200,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
_LOST = {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR}
_MAX_BYTES = 50_000_000
_STEPS_BETWEEN_CHECKS = 2000  # of the clock
_WIDE = re.compile(r"%[^a-zA-Z%]*(\*|\d{4})")  # a width that one call of printf would spend minutes on
_SQUARE = 100_000  # bytes; one call of trim(), instr() or replace() may take as many steps as the square of it
_SEARCHING = {"trim": 2, "ltrim": 2, "rtrim": 2, "instr": 2, "replace": 3}  # function -> its number of arguments
_SECOND = "one statement at a time"  # in the message of Python's sqlite3
_READ_ONLY = "only reading is allowed here: one SELECT, or WITH followed by SELECT"


@dataclass(frozen=True)
class ReadOnly:
    """A SQLite file of which statements can only read. Every statement has a separate connection, so calls from several
    threads do not meet. ``seconds`` limits one statement, ``max_rows`` its result, as do 50 MB of text and blobs,
    ``max_value`` (bytes) one value: more is refused, never cut."""

    path: Path
    seconds: Annotated[float, Gt(0)] = 5.0
    max_rows: Annotated[int, Ge(1)] = 100_000
    max_value: Annotated[int, Ge(1)] = _SQUARE

    def run(self, sql: str) -> list[Row]:
        """The rows of one statement. Raises SqlError with SQLite's message or the limit that was passed, ForbiddenSql
        for what does more than read, UnreadableDatabase where it is the file."""
        if _CLOCK.search(sql):
            raise ForbiddenSql("the statement asks for the machine's clock; name the time that is meant")
        denied: list[str] = []
        deadline = monotonic() + self.seconds
        late = f"the statement ran for more than {self.seconds:g} seconds and was stopped"
        try:
            with closing(open_database(self.path)) as connection, closing(sqlite3.connect(":memory:")) as plain:
                _guard(connection, plain, denied, self.max_value)
                connection.set_progress_handler(lambda: monotonic() > deadline, _STEPS_BETWEEN_CHECKS)
                cursor = connection.execute(sql)
                if cursor.description is None:
                    raise ForbiddenSql(f"the statement returns no rows; {_READ_ONLY}")
                found, size = [], 0
                for row in cursor:
                    found.append(row)
                    size += sum(len(cell) for cell in row if isinstance(cell, str | bytes))
                    if len(found) > self.max_rows:
                        raise SqlError(f"the result has more than {self.max_rows} rows; narrow it, count, or add LIMIT")
                    if size > _MAX_BYTES:
                        raise SqlError(f"the result is larger than {_MAX_BYTES} bytes; narrow it or add LIMIT")
                    if monotonic() > deadline:
                        raise SqlError(late)
                return found
        except (sqlite3.Error, sqlite3.Warning, ValueError) as error:  # ValueError: a null byte, a lone surrogate
            if denied:
                raise ForbiddenSql(f"{error} ({denied[0]}): {_READ_ONLY}") from None
            if _SECOND in str(error):
                raise ForbiddenSql(str(error)) from None
            if monotonic() > deadline:
                raise SqlError(late) from None
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in _LOST:  # the low byte: what kind of error it is
                raise UnreadableDatabase(str(error)) from None
            raise SqlError(str(error)) from None


def open_database(path: Path) -> sqlite3.Connection:
    """Open a file for reading; as immutable when it may not be written to. Raises UnreadableDatabase, sqlite3.Error."""
    if not path.is_file():
        raise UnreadableDatabase(f"there is no database file {path.name!r}")
    logs = (path.with_name(path.name + end) for end in ("-wal", "-journal"))
    fixed = not path.stat().st_mode & 0o222 and not any(log.exists() for log in logs)
    mode = "mode=ro&immutable=1" if fixed else "mode=ro"
    connection = sqlite3.connect(f"file:{quote(str(path.resolve()))}?{mode}", uri=True, isolation_level=None)
    connection.text_factory = lambda raw: raw.decode(errors="replace")
    return connection


def require_readable(file: Path) -> Path:
    """The file, which must be a whole database with tables: looked at before a run. Raises ConfigError."""
    try:
        ((n_tables,),) = ReadOnly(file).run("SELECT count(*) FROM sqlite_master WHERE type = 'table'")
    except SqlError as error:
        raise ConfigError(f"{file}: not a readable database, perhaps cut off: {error}") from None
    if not n_tables:
        raise ConfigError(f"{file}: the database has no tables; build it again")
    return file


def _guard(connection: sqlite3.Connection, plain: sqlite3.Connection, denied: list[str], max_value: int) -> None:
    """Limits of size, then the authorizer; ``denied`` takes what was refused, ``plain`` formats and searches."""
    for pragma in ("query_only=ON", "trusted_schema=OFF"):
        connection.execute(f"PRAGMA {pragma}")
    for category, limit in _LIMITS.items():
        connection.setlimit(category, limit)
    for one in (connection, plain):
        one.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, max_value)

    def authorize(action: int, first: str | None, second: str | None, *_: str | None) -> int:
        if action in _ALLOWED and not (
            action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in _FORBIDDEN | _UNSTEADY
        ):
            return sqlite3.SQLITE_OK
        denied.append(" ".join(name for name in (first, second) if name) or f"action {action}")
        return sqlite3.SQLITE_DENY

    longest = _SQUARE**2 // max_value

    def call(name: str, *values: Any) -> Any:
        """A function of SQLite, computed by ``plain`` unless it is refused: no limit of time holds within a call."""
        why = ""
        if name in _SEARCHING:
            if len(str(values[1])) > longest:
                why = f"{name} takes at most {longest} characters to look for"
        elif values and _WIDE.search(str(values[0])):
            why = "printf takes no '*' and no width above 999"
        if why:
            denied.append(why)
            raise ValueError(why)
        return plain.execute(f"SELECT {name}({', '.join('?' * len(values))})", values).fetchone()[0]

    bounded = {"printf": -1, "format": -1, **(_SEARCHING if max_value > _SQUARE else {})}
    for name, n_arguments in bounded.items():
        connection.create_function(name, n_arguments, partial(call, name), deterministic=True)
    connection.set_authorizer(authorize)


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
    """The one database at a path: a file, or a folder that holds it, itself or in a folder inside. The base name is the
    dataset id; ``tables.json`` is next to the file or in the folder. Raises SqlError."""
    if path.is_file():
        listed = path.with_name(SCHEMA_FILE)
        return Database(path.stem, path, listed if listed.is_file() else None)
    if not path.is_dir():
        raise SqlError(f"there is no database {path.name!r}")
    for files in (path.iterdir(), path.rglob("*")):
        found = sorted(file for file in files if file.suffix in SUFFIXES and file.is_file())
        if len(found) > 1:
            names = ", ".join(file.relative_to(path).as_posix() for file in found)
            raise SqlError(f"the folder {path.name!r} must hold one database, found {names}")
        if found:
            tables = (found[0].with_name(SCHEMA_FILE), path / SCHEMA_FILE)
            return Database(path.name, found[0], next(filter(Path.is_file, tables), None))
    raise SqlError(f"the folder {path.name!r} holds no database (a file {' or '.join('*' + end for end in SUFFIXES)})")


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
    kept = "type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
    tables, keys = [], []
    try:
        with closing(open_database(path)) as connection:
            for (name,) in connection.execute(f"SELECT name FROM sqlite_master WHERE {kept} ORDER BY rowid").fetchall():
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
