"""Manuals of databases: notes from a YAML file per database, and the tables that fit a question, by BM25."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from components.core.errors import ConfigError
from components.sql.schema import Schema, Table
from components.text.bm25 import Bm25
from components.text.structured import parsed

_SENTENCE = re.compile(r"(?<=\.) ")
SHIPPED = Path(__file__).parent / "data" / "manuals"


@dataclass(frozen=True)
class Notes:
    """What is known of a database beside its schema: lines on all of it, table -> line, and worked examples
    (``question``, ``hints``)."""

    general: Sequence[str] = ()
    tables: Mapping[str, str] = field(default_factory=dict)
    examples: Sequence[Mapping[str, str]] = ()


def notes_of(id: str, folder: Path = SHIPPED) -> Notes:
    """The notes in ``<id>.yaml``; without any when there is no such file. Raises ConfigError."""
    path = folder / f"{id}.yaml"
    return _read(path, path.stat().st_mtime_ns) if path.is_file() else Notes()


@lru_cache(maxsize=32)
def _read(path: Path, _changed: int) -> Notes:
    import yaml  # only databases with notes need it

    try:
        found = parsed(path.read_bytes())
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: {' '.join(str(error).split())}") from None
    kinds = {"general": list, "tables": dict, "examples": list}
    if not isinstance(found, dict) or any(not isinstance(found[key], kinds.get(key, ())) for key in found):
        raise ConfigError(f"{path}: must be a mapping with general (a list), tables (a mapping), examples (a list)")
    for example in found.get("examples", ()):
        if not isinstance(example, dict) or set(example) != {"question", "hints"}:
            raise ConfigError(f"{path}: an example must have question and hints, found {example!r:.80}")
    return Notes(
        [_text(path, line) for line in found.get("general", ())],
        {_text(path, name): _text(path, line) for name, line in found.get("tables", {}).items()},
        [{key: _text(path, line) for key, line in example.items()} for example in found.get("examples", ())],
    )


def _text(path: Path, value: Any) -> str:
    """A value that must be a text."""
    if not isinstance(value, str):
        raise ConfigError(f"{path}: must hold texts, found {value!r:.80} (quote it)")
    return value


def fitting_tables(schema: Schema, notes: Notes, query: str, k: int) -> list[Table]:
    """The at most ``k`` tables that fit a query best, best first, by their names, columns and notes."""
    texts = []
    for table in schema.tables:
        names = " ".join((table.name, *table.columns))
        texts.append((table.name, f"{names} {names.replace('_', ' ')} {_note(table, notes)}"))
    tables = {table.name: table for table in schema.tables}
    return [tables[hit.id] for hit in Bm25.over(texts).search(query, k)]


def described(table: Table, notes: Notes) -> str:
    """One line on a table, its names in lower case: columns with their types, and its note."""
    columns = ", ".join(
        f"{name} {kind}{' key' if name in table.primary_key else ''}" for name, kind in table.columns.items()
    )
    return _noted(f"{table.name}({columns})".lower(), _note(table, notes))


def mentioned(table: Table, notes: Notes) -> str:
    """The table's name in lower case, and the first sentence of its note."""
    return _noted(table.name.lower(), _SENTENCE.split(_note(table, notes), maxsplit=1)[0])


def _note(table: Table, notes: Notes) -> str:
    return notes.tables.get(table.name.lower(), "")


def _noted(text: str, note: str) -> str:
    return f"{text}: {note}" if note else text
