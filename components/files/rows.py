"""Rows of data files in JSON: errors name file, line and key, and how to get a file that is missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson

from components.core.errors import ConfigError


@dataclass(frozen=True)
class Row:
    """One row and its place, as errors name it (``file:line``)."""

    place: str
    values: Mapping[str, Any]

    def text(self, key: str) -> str:
        """A text that is not empty. Raises ConfigError."""
        value = self._get(key)
        if not isinstance(value, str) or not value.strip():
            raise self.error(key, f"must be a text, found {value!r:.80}")
        return value

    def texts(self, key: str) -> list[str]:
        """A list of texts. Raises ConfigError."""
        value = self._get(key)
        if not isinstance(value, list) or not all(isinstance(part, str) for part in value):
            raise self.error(key, f"must be a list of texts, found {value!r:.80}")
        return value

    def named_texts(self, key: str) -> dict[str, str]:
        """An object of texts. Raises ConfigError."""
        value = self._get(key)
        if not isinstance(value, dict) or not all(isinstance(part, str) for part in value.values()):
            raise self.error(key, f"must be an object of texts, found {value!r:.80}")
        return value

    def error(self, key: str, text: str) -> ConfigError:
        """A complaint about one key of this row."""
        return ConfigError(f"{self.place}: {key}: {text}")

    def _get(self, key: str) -> Any:
        if key not in self.values:
            raise self.error(key, f"is missing; the row has {', '.join(self.values) or 'no keys'}")
        return self.values[key]


def existing(path: Path, how: str) -> Path:
    """The path of a data file. Raises ConfigError, saying how to get it, when there is none."""
    if not path.is_file():
        raise ConfigError(f"no data file {path}; {how}")
    return path


def json_lines(path: Path) -> Iterator[Row]:
    """The rows of a JSON Lines file, read one by one. Raises ConfigError for a line that is not an object."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                place = f"{path}:{number}"
                yield Row(place, _object(line, place))


def json_object(path: Path) -> Iterator[tuple[str, Row]]:
    """The entries of a file that is one JSON object of objects, with their names. Raises ConfigError."""
    lines = _Lines(path.read_bytes())
    for name, values in _object(lines.raw, str(path)).items():
        place = f"{path}:{lines.of(name)}"
        yield name, Row(place, _entry(values, place, name))


def json_groups(path: Path) -> Iterator[tuple[str, str, Row]]:
    """The entries of a file that is one JSON object of groups of objects: group, name, entry. Raises ConfigError."""
    lines = _Lines(path.read_bytes())
    for group, entries in _object(lines.raw, str(path)).items():
        for name, values in _entry(entries, f"{path}:{lines.of(group)}", group).items():
            place = f"{path}:{lines.of(name)}"
            yield group, name, Row(place, _entry(values, place, name))


def json_mapping(path: Path) -> Row:
    """A file that is one JSON object, as a row. Raises ConfigError."""
    return Row(str(path), _object(path.read_bytes(), str(path)))


def files_digest(*paths: Path) -> str:
    """16 hexadecimal digits that identify the files' contents in this order."""
    whole = sha256()
    for path in paths:
        whole.update(sha256(path.read_bytes()).digest())
    return whole.hexdigest()[:16]


def _object(raw: bytes, place: str) -> dict[str, Any]:
    """Decode a JSON object. Raises ConfigError."""
    try:
        value = orjson.loads(raw)
    except ValueError as error:
        raise ConfigError(f"{place}: not JSON, perhaps cut off: {error}") from None
    if not isinstance(value, dict):
        raise ConfigError(f"{place}: must be a JSON object, found {value!r:.80}")
    return value


@dataclass
class _Lines:
    """Finds the lines of a file's keys, asked for in the file's order."""

    raw: bytes
    line: int = 1
    position: int = 0

    def of(self, name: str) -> int:
        """The line of the next key that is called so."""
        start = max(self.raw.find(orjson.dumps(name), self.position), self.position)
        self.line, self.position = self.line + self.raw.count(b"\n", self.position, start), start
        return self.line


def _entry(value: Any, place: str, name: str) -> Mapping[str, Any]:
    """An object inside a file. Raises ConfigError."""
    if not isinstance(value, dict):
        raise ConfigError(f"{place}: {name}: must be an object, found {value!r:.80}")
    return value
