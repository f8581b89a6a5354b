"""Rows of data files that are tables: a JSON array of objects, or CSV with or without a header."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson

from components.core.errors import ConfigError
from components.files.rows import Row

CELL = 4_000_000  # characters; a discharge letter in one cell is longer than the library's own limit


def json_records(path: Path, key: str | None = None) -> Iterator[Row]:
    """The objects of a file that is one JSON array, or of the array under ``key``; places count from 1.

    Raises ConfigError.
    """
    return records_of(read_json(path), str(path), key)


def read_json(path: Path) -> Any:
    """A whole JSON file. Raises ConfigError."""
    try:
        return orjson.loads(path.read_bytes())
    except ValueError as error:
        raise ConfigError(f"{path}: not JSON, perhaps cut off: {error}") from None


def records_of(value: Any, place: str, key: str | None = None) -> Iterator[Row]:
    """The objects of an array as rows. Raises ConfigError."""
    if key is not None:
        if not isinstance(value, dict) or key not in value:
            raise ConfigError(f"{place}: must be a JSON object with the key {key!r}, found {value!r:.80}")
        value, place = value[key], f"{place}: {key}"
    if not isinstance(value, list):
        raise ConfigError(f"{place}: must be a JSON array, found {value!r:.80}")
    for number, values in enumerate(value, 1):
        where = f"{place}: record {number}"
        if not isinstance(values, dict):
            raise ConfigError(f"{where}: must be a JSON object, found {values!r:.80}")
        yield Row(where, values)


def csv_records(path: Path, columns: Sequence[str] | None = None) -> Iterator[Row]:
    """The rows of a CSV file with the line where each begins; ``columns`` name those of a file without header.

    Raises ConfigError for a file that is not UTF-8 and for a row with too few or too many cells.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            yield from _rows(csv.reader(file, strict=True), path, columns)
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8: {error}") from None


def _wide(reader: Any) -> Iterator[list[str]]:
    """The rows of a reader. The limit of a cell is one for the whole process, so it is raised for the reading alone:
    other files may be read between two rows of this one."""
    while True:
        before = csv.field_size_limit(CELL)
        try:
            cells = next(reader, None)
        finally:
            csv.field_size_limit(before)
        if cells is None:
            return
        yield cells


def _rows(reader: Any, path: Path, columns: Sequence[str] | None) -> Iterator[Row]:
    """The rows after the header, if there is one."""
    line = 1
    try:
        for cells in _wide(reader):
            place, line = f"{path}:{line}", reader.line_num + 1
            if columns is None:
                columns = cells
            elif cells:
                if len(cells) != len(columns):
                    raise ConfigError(f"{place}: must have {len(columns)} cells, found {len(cells)}")
                yield Row(place, dict(zip(columns, cells, strict=True)))
    except csv.Error as error:
        raise ConfigError(f"{path}:{line}: not CSV, perhaps cut off: {error}") from None
