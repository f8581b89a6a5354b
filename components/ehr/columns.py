"""The tables of a SQLite file written once in columns, to be mapped into memory by every process that reads them."""

import json
import re
import secrets
import shutil
import sqlite3
from collections.abc import Mapping
from contextlib import closing, suppress
from functools import partial
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

import pyarrow as pa

from components.core.errors import ConfigError
from components.ehr.metadata import Kind, Metadata
from components.ehr.tables import ARROW_TYPES, SUFFIX
from components.sql import SqlError
from components.sql.reading import Database, open_database, require_readable

_FORMAT = "2"  # goes up when what is written changes
_DIGESTS = "digests.json"  # table -> SHA-256 of its file
_BATCH = 200_000  # rows in memory as Python's objects at once
_WHOLE, _NUMBER = re.compile(r"[+-]?\d{1,18}", re.ASCII), re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
_PYTHON: Mapping[Kind, type] = {"int": int, "float": float, "text": str}
_WORDS: tuple[tuple[Kind, tuple[str, ...]], ...] = (  # of declared types, in the order in which they count
    ("text", ("date", "time", "char", "clob", "text")),
    ("int", ("int", "bool")),
    ("float", ("real", "floa", "doub", "num", "dec")),
)


def prepare(file: Path, metadata: Metadata, folder: Path) -> Path:
    """Write every table of a SQLite file as ``<table>.arrow`` into a folder of its content, and give that folder.

    The format is Arrow's streaming one. Names and types are those of the metadata, and those of the file for what the
    metadata do not know or say wrongly (a column that they call a number and that holds other texts). What is there
    already and whole is used again; several processes may write at once. Raises ConfigError for a file that cannot be
    read, has none of the known tables or holds what its own types exclude, and for a folder that cannot be written to.
    """
    try:
        content = _digest(file)
    except OSError as error:
        raise ConfigError(f"{file}: not a readable database: {error.strerror}") from None
    types = json.dumps({table: dict(columns) for table, columns in metadata.tables.items()})
    home = folder / sha256("\0".join((_FORMAT, content, types)).encode()).hexdigest()[:32]
    if home.is_dir():
        with suppress(OSError, ValueError):
            if json.loads((home / _DIGESTS).read_text()) == _digests(home):
                return home
        shutil.rmtree(home, ignore_errors=True)  # damaged since: written again
    require_readable(file)
    draft = folder / f".{home.name}.{secrets.token_hex(8)}"
    try:
        draft.mkdir(parents=True)
        _write(file, metadata, draft)
        try:
            draft.rename(home)
        except OSError:
            if not home.is_dir():  # else another process was quicker
                raise
    except (SqlError, sqlite3.Error) as error:
        raise ConfigError(f"{file}: the tables cannot be read: {error}") from None
    except OSError as error:
        raise ConfigError(f"{folder}: the tables of {file} cannot be written here: {error}") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return home


def _write(file: Path, metadata: Metadata, folder: Path) -> None:
    known = {name.lower(): name for name in metadata.tables}
    with closing(open_database(file)) as connection:
        tables = Database(metadata.database, file).schema().tables
        if known and known.keys().isdisjoint(table.name.lower() for table in tables):
            raise ConfigError(f"{file}: holds none of the tables of {metadata.database}, such as {next(iter(known))}")
        for table in tables:
            name = known.get(table.name.lower(), table.name)
            if not re.fullmatch(r"\w[\w .-]*", name):
                raise ConfigError(f"{file}: the table {name!r} has a name that is not a valid file name")
            written = _table(connection, table.name, table.columns, metadata.tables.get(name, {}), f"{file}: {name}")
            with (
                pa.OSFile(str(folder / f"{name}{SUFFIX}"), "wb") as sink,
                pa.ipc.new_stream(sink, written.schema) as out,
            ):
                out.write_table(written.combine_chunks())  # rows are picked from one chunk several times as quickly
    (folder / _DIGESTS).write_text(json.dumps(_digests(folder)))


def _digest(path: Path) -> str:
    with path.open("rb") as source:
        return file_digest(source, sha256).hexdigest()


def _digests(home: Path) -> dict[str, str]:
    return {path.name: _digest(path) for path in home.glob(f"*{SUFFIX}")}


def _table(
    connection: sqlite3.Connection, name: str, declared: Mapping[str, str], wanted: Mapping[str, Kind], place: str
) -> pa.Table:
    """One table with the columns that the metadata want first, in their order. Raises ConfigError."""
    own = {column.lower(): column for column in declared}
    chosen = {own[column.lower()]: column for column in wanted if column.lower() in own}
    chosen |= {column: column for column in declared if column not in chosen}
    listed = ", ".join('"' + column.replace('"', '""') + '"' for column in chosen)
    kinds = [wanted.get(shown) or _declared(declared[column]) for column, shown in chosen.items()]
    last = [_declared(declared[column]) for column in chosen]
    while True:
        try:
            cursor = connection.execute(f'SELECT {listed} FROM "{name}"')
            batches = [
                [_part(cells, kinds[number], number) for number, cells in enumerate(zip(*rows, strict=True))]
                for rows in iter(partial(cursor.fetchmany, _BATCH), [])
            ]
            schema = pa.schema([(shown, ARROW_TYPES[kind]) for shown, kind in zip(chosen.values(), kinds, strict=True)])
            return pa.Table.from_batches([pa.record_batch(arrays, schema=schema) for arrays in batches], schema)
        except _Misfit as misfit:
            number, cell = misfit.args
            if kinds[number] == last[number]:
                column = list(chosen.values())[number]
                raise ConfigError(f"{place}.{column}: declared as {last[number]}, but holds {cell!r:.80}") from None
            kinds[number] = last[number]


class _Misfit(Exception):
    """A cell that the type of its column excludes; its arguments are the column's number and the cell."""


def _declared(type_name: str) -> Kind:
    """The type that a column was declared with; text for any other and for none, because text holds everything."""
    return next((kind for kind, words in _WORDS if any(word in type_name.lower() for word in words)), "text")


def _part(cells: tuple[Any, ...], kind: Kind, number: int) -> pa.Array:
    """Some cells of a column; those of another type are converted where nothing is lost. Raises _Misfit."""
    if {type(cell) for cell in cells} <= {type(None), _PYTHON[kind]}:
        return pa.array(cells, ARROW_TYPES[kind])
    return pa.array([None if cell is None else _convert(cell, kind, number) for cell in cells], ARROW_TYPES[kind])


def _convert(cell: Any, kind: Kind, number: int) -> Any:
    if kind == "text":
        return cell.decode(errors="replace") if isinstance(cell, bytes) else str(cell)
    form = _WHOLE if kind == "int" else _NUMBER
    fits = form.fullmatch(cell) if isinstance(cell, str) else not isinstance(cell, bytes)
    if not fits or (kind == "int" and isinstance(cell, float) and not cell.is_integer()):
        raise _Misfit(number, cell)
    return int(cell) if kind == "int" else float(cell)
