"""Rows of data files: JSON, JSON Lines and CSV. Errors name file, line or record, and key."""

import csv
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

import orjson

from components.core.errors import ConfigError

_CELL = 4_000_000  # characters; a discharge letter in one cell is longer than the library's own limit


@dataclass(frozen=True)
class Row:
    """One row and its place, as errors name it (``file:line`` or ``file: record 3``)."""

    place: str
    values: Mapping[str, Any]

    def text(self, key: str) -> str:
        """Return a text that is not empty. Raises ConfigError."""
        return str(self._checked(key, "a text", lambda value: isinstance(value, str) and value.strip()))

    def optional_text(self, key: str) -> str:
        """Return a text without spaces around it; an empty one where it is null or missing. Raises ConfigError."""
        value = self.values.get(key)
        if value is not None and not isinstance(value, str):
            raise self.error(key, f"must be a text or null, found {value!r:.80}")
        return (value or "").strip()

    def one_of(self, key: str, options: Collection[str]) -> str:
        """Return one of the options. Raises ConfigError."""
        text = self.text(key).strip()
        if text not in options:
            raise self.error(key, f"must be one of {', '.join(options)}, found {text!r}")
        return text

    def identifier(self, key: str) -> int | str:
        """Return a whole number or a text that is not empty. Raises ConfigError."""
        found: int | str = self._checked(key, "a number or a text", lambda it: type(it) in (int, str) and it != "")
        return found

    def texts(self, key: str) -> list[str]:
        """Return a list of texts. Raises ConfigError."""
        return list(self._checked(key, "a list of texts", lambda value: isinstance(value, list) and _are_texts(value)))

    def named_texts(self, key: str) -> dict[str, str]:
        """Return an object of texts. Raises ConfigError."""
        what = "an object of texts"
        return dict(self._checked(key, what, lambda value: isinstance(value, dict) and _are_texts(value.values())))

    def rows(self, key: str) -> "Iterator[Row]":
        """Return the objects of an array as rows. Raises ConfigError."""
        return _records(self.values, self.place, key)

    def error(self, key: str, text: str) -> ConfigError:
        """Make an error about one key of this row."""
        return ConfigError(f"{self.place}: {key}: {text}")

    def _checked(self, key: str, what: str, is_right: Callable[[Any], object]) -> Any:
        if key not in self.values:
            raise self.error(key, f"is missing; the row has {', '.join(self.values) or 'no keys'}")
        if not is_right(value := self.values[key]):
            raise self.error(key, f"must be {what}, found {value!r:.80}")
        return value


def _are_texts(values: Iterable[object]) -> bool:
    return all(isinstance(one, str) for one in values)


def require_file(path: Path, how: str, what: str = "data file") -> Path:
    """Return the path of a file. Raises ConfigError, saying how to get it, when there is none."""
    if not path.is_file():
        raise ConfigError(f"no {what} {path}; {how}")
    return path


def files_digest(*paths: Path, salt: str = "", digits: int = 16) -> str:
    """Return hexadecimal digits that identify the files' contents in this order, and a salt."""
    whole = sha256(salt.encode())
    for path in paths:
        with path.open("rb") as file:
            whole.update(file_digest(file, sha256).digest())
    return whole.hexdigest()[:digits]


def content_key(*parts: str) -> str:
    """Return 16 hexadecimal digits that identify texts in this order."""
    return sha256(orjson.dumps(parts)).hexdigest()[:16]


def json_lines(path: Path) -> Iterator[Row]:
    """Read the rows of a JSON Lines file one by one. Raises ConfigError for a line that is not an object."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                place = f"{path}:{number}"
                yield Row(place, _object(line, place))


def json_object(path: Path) -> Iterator[tuple[str, Row]]:
    """Read the entries of a file that is one JSON object of objects, with their names. Raises ConfigError."""
    lines = _Lines(path, path.read_bytes())
    for name, values in _object(lines.raw, str(path)).items():
        yield name, lines.row(name, values)


def json_groups(path: Path) -> Iterator[tuple[str, str, Row]]:
    """Read a file that is one JSON object of groups of objects: group, name, entry. Raises ConfigError."""
    lines = _Lines(path, path.read_bytes())
    for group, entries in _object(lines.raw, str(path)).items():
        for name, values in lines.row(group, entries).values.items():
            yield group, name, lines.row(name, values)


def json_mapping(path: Path) -> Row:
    """Read a file that is one JSON object, as a row. Raises ConfigError."""
    return Row(str(path), _object(path.read_bytes(), str(path)))


def json_records(path: Path, key: str | None = None) -> Iterator[Row]:
    """Read a file that is one JSON array of objects, or the array under ``key``. Raises ConfigError."""
    return _records(read_json(path), str(path), key)


def csv_records(path: Path, columns: Sequence[str] | None = None, fill: bool = False) -> Iterator[Row]:
    """Read the rows of a CSV file in UTF-8, with the line where each begins. ``columns`` name those of a file without a
    header; ``fill`` adds empty cells to rows that are too short. Raises ConfigError for a column name that is
    duplicated and for a row with too few or too many cells."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            yield from _csv_rows(csv.reader(file, strict=True), path, columns, fill)
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8: {error}") from None


def read_json(path: Path) -> Any:
    """Return the value of a JSON file. Raises ConfigError; FileNotFoundError."""
    return _decoded(path.read_bytes(), str(path))


def _decoded(raw: bytes, place: str) -> Any:
    try:
        return orjson.loads(raw)
    except ValueError as error:
        raise ConfigError(f"{place}: not JSON, perhaps cut off: {error}") from None


def _object(raw: bytes, place: str) -> dict[str, Any]:
    value = _decoded(raw, place)
    if not isinstance(value, dict):
        raise ConfigError(f"{place}: must be a JSON object, found {value!r:.80}")
    return value


def _records(value: Any, place: str, key: str | None) -> Iterator[Row]:
    if key is not None:
        if not isinstance(value, Mapping) or key not in value:
            raise ConfigError(f"{place}: must be a JSON object with the key {key!r}, found {value!r:.80}")
        value, place = value[key], f"{place}: {key}"
    if not isinstance(value, list):
        raise ConfigError(f"{place}: must be a JSON array, found {value!r:.80}")
    for number, values in enumerate(value, 1):
        where = f"{place}: record {number}"
        if not isinstance(values, dict):
            raise ConfigError(f"{where}: must be a JSON object, found {values!r:.80}")
        yield Row(where, values)


@dataclass
class _Lines:
    """Finds the lines of a file's keys, in the order of the file."""

    path: Path
    raw: bytes
    line: int = 1
    position: int = 0

    def row(self, name: str, value: Any) -> Row:
        """The object under the next key of this name. Raises ConfigError if it is not an object."""
        start = max(self.raw.find(orjson.dumps(name), self.position), self.position)
        self.line, self.position = self.line + self.raw.count(b"\n", self.position, start), start
        if not isinstance(value, dict):
            raise ConfigError(f"{self.path}:{self.line}: {name}: must be an object, found {value!r:.80}")
        return Row(f"{self.path}:{self.line}", value)


def _csv_rows(reader: Any, path: Path, columns: Sequence[str] | None, fill: bool) -> Iterator[Row]:
    line = 1

    def read() -> list[str] | None:  # the limit is one for the whole process: raised for the reading of this row alone
        before = csv.field_size_limit(_CELL)
        try:
            return next(reader, None)
        finally:
            csv.field_size_limit(before)

    try:
        for cells in iter(read, None):
            place, line = f"{path}:{line}", reader.line_num + 1
            if columns is None:
                columns = cells
                if twice := next((name for name in columns if name and columns.count(name) > 1), None):
                    raise ConfigError(f"{place}: the column {twice!r} is duplicated; give each column its own name")
            elif cells:
                if fill:
                    cells += [""] * (len(columns) - len(cells))
                if len(cells) != len(columns):
                    raise ConfigError(
                        f"{place}: must have {len(columns)} cells, found {len(cells)}; quote cells that hold a comma"
                    )
                yield Row(place, dict(zip(columns, cells, strict=True)))
    except csv.Error as error:
        raise ConfigError(f"{path}:{line}: not CSV, perhaps cut off or a quote is left open: {error}") from None
