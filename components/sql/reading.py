"""Statements of models, run on a SQLite file that they can only read, within limits of time and size."""

import re
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Annotated, Any
from urllib.parse import quote

from annotated_types import Ge, Gt

from components.core.errors import ConfigError
from components.sql import ForbiddenSql, SqlError, UnreadableDatabase

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
        try:
            with closing(open_database(self.path)) as connection, closing(sqlite3.connect(":memory:")) as plain:
                _guard(connection, plain, denied, self.max_value)
                connection.set_progress_handler(lambda: monotonic() > deadline, _STEPS_BETWEEN_CHECKS)
                cursor = connection.execute(sql)
                if cursor.description is None:
                    raise ForbiddenSql(f"the statement returns no rows; {_READ_ONLY}")
                return self._collected(cursor, deadline)
        except (sqlite3.Error, sqlite3.Warning, ValueError) as error:  # ValueError: a null byte, a lone surrogate
            if denied:
                raise ForbiddenSql(f"{error} ({denied[0]}): {_READ_ONLY}") from None
            if _SECOND in str(error):
                raise ForbiddenSql(str(error)) from None
            if monotonic() > deadline:
                raise SqlError(f"the statement ran for more than {self.seconds:g} seconds and was stopped") from None
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in _LOST:  # the low byte: what kind of error it is
                raise UnreadableDatabase(str(error)) from None
            raise SqlError(str(error)) from None

    def _collected(self, rows: Iterable[Row], deadline: float) -> list[Row]:
        """All rows. Raises SqlError when there are too many of them, or they are too big, or it takes too long."""
        found: list[Row] = []
        size = 0
        for row in rows:
            found.append(row)
            size += sum(len(cell) for cell in row if isinstance(cell, str | bytes))
            if len(found) > self.max_rows:
                raise SqlError(f"the result has more than {self.max_rows} rows; narrow it, count, or add LIMIT")
            if size > _MAX_BYTES:
                raise SqlError(f"the result is larger than {_MAX_BYTES} bytes; narrow it or add LIMIT")
            if monotonic() > deadline:
                raise SqlError(f"the statement ran for more than {self.seconds:g} seconds and was stopped")
        return found


def open_database(path: Path) -> sqlite3.Connection:
    """Open a file for reading; as immutable when it may not be written to, so that its folder may be read-only too.
    Raises UnreadableDatabase when there is none, sqlite3.Error."""
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
        raise ConfigError(f"{file}: not a database that can be read, perhaps cut off: {error}") from None
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
