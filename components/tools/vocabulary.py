"""Concepts in files: an open vocabulary as JSON Lines, or a user's subset of the UMLS Metathesaurus.

Source of the Metathesaurus' columns: NLM, UMLS Reference Manual, chapter 3 (MRCONSO.RRF, MRDEF.RRF, MRREL.RRF).
"""

import asyncio
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import ClassVar, Literal

from components.core.errors import ConfigError
from components.files.rows import Row, json_lines
from components.text.bm25 import terms
from components.tools.backends import FileBackend, Stamp, digest, lacking, plain, stamp
from components.tools.umls import N_RELATIONS, Concept, Relation, no_concept

_CONSO, _DEF, _REL = _RRF = ("MRCONSO.RRF", "MRDEF.RRF", "MRREL.RRF")
_COLUMNS = {_CONSO: 18, _DEF: 8, _REL: 16}
_FORMAT = "1"  # raise it when what is stored changes
_LOADING = Lock()
_TABLES = """
CREATE TABLE concept (cui TEXT PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE name (cui TEXT NOT NULL, plain TEXT NOT NULL, words TEXT NOT NULL);
CREATE TABLE definition (cui TEXT NOT NULL, source TEXT NOT NULL, text TEXT NOT NULL);
CREATE TABLE relation (cui TEXT NOT NULL, source TEXT NOT NULL, label TEXT NOT NULL, target TEXT NOT NULL);
"""
_INDEXES = """
CREATE INDEX name_plain ON name (plain);
CREATE INDEX name_words ON name (words);
CREATE INDEX definition_cui ON definition (cui);
CREATE INDEX relation_cui ON relation (cui);
CREATE VIRTUAL TABLE found USING fts5 (words, content='name', tokenize='unicode61 remove_diacritics 0');
INSERT INTO found (found) VALUES ('rebuild');
"""
_MOST_WORDS = 50  # no name is longer, and SQLite limits what is matched
_PLAIN = "SELECT cui FROM name WHERE plain = ? ORDER BY rowid LIMIT 1"
_SAME = "SELECT cui FROM name WHERE words = ? ORDER BY length(plain), plain, rowid LIMIT 1"
_WITHIN = """
SELECT name.cui FROM found JOIN name ON name.rowid = found.rowid WHERE found MATCH ?
ORDER BY length(name.words), name.plain, name.rowid LIMIT 1
"""
_INSERT = {
    "concept": "INSERT OR IGNORE INTO concept VALUES (?, ?)",
    "name": "INSERT INTO name VALUES (?, ?, ?)",
    "definition": "INSERT INTO definition VALUES (?, ?, ?)",
    "relation": "INSERT INTO relation VALUES (?, ?, ?, ?)",
}


@dataclass(frozen=True)
class Vocabulary(FileBackend):
    """Concepts of a JSON Lines file or of a folder of RRF files. Raises ConfigError for a row of another form.

    ``cache`` is a folder for the database that is made of the files; without one it is made in memory at each start.
    """

    cache: str | None = None
    how: ClassVar[str] = (
        "give a .jsonl file of concepts (cui, name, synonyms, definition, definition_source, relations), or a folder"
        " with MRCONSO.RRF and, optionally, MRDEF.RRF and MRREL.RRF of your licensed UMLS subset"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.place / _CONSO).is_file():
            next(_fields(self.place / _CONSO), None)

    def check(self, row: Row) -> Concept:
        """Read a row. Raises ConfigError."""
        _names(row)
        return _concept(row)

    @property
    def missing(self) -> str:
        """What is not there."""
        return lacking(self.place / _CONSO if self.place.is_dir() else self.place, self.how)

    @property
    def stamps(self) -> tuple[Stamp, ...]:
        """The files as they are now."""
        place = self.place
        files = [place / name for name in _RRF if (place / name).exists()] if place.is_dir() else [place]
        return tuple(map(stamp, files))

    async def find(self, term: str) -> Concept:
        """The concept of a term. Raises ToolError."""
        concept = await asyncio.to_thread(self._find, term)
        if concept is None:
            raise no_concept(term)
        return concept

    def _find(self, term: str) -> Concept | None:
        with _LOADING:
            store = _opened(self.stamps, self.cache)
        return store.find(term)


@dataclass(eq=False)
class VocabularyStore:
    """A database of concepts, filled once with ``begin``, ``add`` and ``finish``, then only read.

    ``path`` is a file or ``:memory:``. Threads may share it.
    """

    path: str = ":memory:"
    _lock: Lock = field(default_factory=Lock, repr=False)

    def __post_init__(self) -> None:
        self._database = sqlite3.connect(self.path, check_same_thread=False)

    def begin(self) -> None:
        """Make the tables."""
        self._database.executescript("PRAGMA synchronous = OFF;" + _TABLES)

    def add(self, table: Literal["concept", "definition", "relation"], rows: Iterable[tuple[str, ...]]) -> None:
        """Add rows of a table, whose first column is the concept's identifier."""
        self._database.executemany(_INSERT[table], rows)

    def add_names(self, rows: Iterable[tuple[str, str]]) -> None:
        """Add names of concepts, preferred ones too: identifier and name."""
        keyed = ((cui, plain(name), _words(name)) for cui, name in rows)
        self._database.executemany(_INSERT["name"], keyed)

    def finish(self) -> None:
        """Make the indexes."""
        self._database.executescript(_INDEXES)
        self._database.commit()

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def find(self, term: str) -> Concept | None:
        """The concept that is called so; else one with a name of the same words in any order and inflection,
        else the one with the shortest name that holds all these words."""
        words = _words(term)
        within = " AND ".join(f'"{word}"' for word in words.split()) if words.count(" ") < _MOST_WORDS else ""
        with self._lock:
            for query, value in ((_PLAIN, plain(term)), (_SAME, words), (_WITHIN, within)):
                row = self._database.execute(query, (value,)).fetchone() if value else None
                if row is not None:
                    return self._concept(str(row[0]))
        return None

    def _concept(self, cui: str) -> Concept:
        """The concept of an identifier."""
        with closing(self._database.cursor()) as cursor:
            row = cursor.execute("SELECT name FROM concept WHERE cui = ?", (cui,)).fetchone()
            definitions = cursor.execute(
                "SELECT source, text FROM definition WHERE cui = ? ORDER BY rowid DESC", (cui,)
            ).fetchall()
            relations = cursor.execute(
                "SELECT source, label, target FROM relation WHERE cui = ? ORDER BY rowid LIMIT ?", (cui, N_RELATIONS)
            ).fetchall()
        name = str(row[0]) if row is not None else cui
        return Concept(cui, name, dict(definitions), tuple(Relation(*one) for one in relations))


def _words(name: str) -> str:
    """The index terms of a name without repetition, in one order."""
    return " ".join(sorted(set(terms(name))))


@lru_cache(maxsize=4)
def _opened(files: tuple[Stamp, ...], cache: str | None) -> VocabularyStore:
    """The database of files, made once while they stay as they are."""
    if cache is None:
        return _filled(VocabularyStore(), files)
    folder = Path(cache).expanduser()
    target = folder / f"{digest(_FORMAT, *(Path(one.path) for one in files))}.sqlite"
    if not target.exists():
        folder.mkdir(parents=True, exist_ok=True)
        new = target.with_suffix(f".{os.getpid()}.new")
        new.unlink(missing_ok=True)
        _filled(VocabularyStore(str(new)), files).close()
        new.replace(target)
    return VocabularyStore(str(target))


def _filled(store: VocabularyStore, files: tuple[Stamp, ...]) -> VocabularyStore:
    """The database after the files are read into it. Raises ConfigError."""
    store.begin()
    paths = {Path(one.path).name: Path(one.path) for one in files}
    if _CONSO in paths:
        _fill_from_rrf(store, paths)
    else:
        for path in paths.values():
            for row in json_lines(path):
                concept = _concept(row)
                store.add("concept", [(concept.cui, concept.name)])
                store.add_names((concept.cui, name) for name in _names(row))
                store.add("definition", ((concept.cui, *one) for one in concept.definitions.items()))
                store.add("relation", ((concept.cui, *one) for one in concept.relations))
    store.finish()
    return store


def _fill_from_rrf(store: VocabularyStore, paths: dict[str, Path]) -> None:
    """Read the Metathesaurus: English names, definitions and relations that are not suppressed. Raises ConfigError."""
    preferred: dict[str, str] = {}
    first: dict[str, str] = {}

    def english() -> Iterator[tuple[str, str]]:
        for f in _fields(paths[_CONSO]):
            if f[1] == "ENG" and f[16] == "N":
                first.setdefault(f[0], f[14])
                if f[2] == "P" and f[4] == "PF" and f[6] == "Y":
                    preferred.setdefault(f[0], f[14])
                yield f[0], f[14]

    store.add_names(english())
    names = first | preferred
    store.add("concept", names.items())
    if _DEF in paths:
        rows = _fields(paths[_DEF])
        store.add("definition", ((f[0], f[4], f[5]) for f in rows if f[0] in names and f[6] == "N"))
    if _REL in paths:
        related = (
            (f[0], names[f[4]], f[7] or f[3], names[f[0]])
            for f in _fields(paths[_REL])
            if f[0] in names and f[4] in names and f[0] != f[4] and f[14] == "N"
        )
        store.add("relation", related)


def _fields(path: Path) -> Iterator[list[str]]:
    """The fields of each line of an RRF file. Raises ConfigError."""
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            fields = line.rstrip("\r\n").split("|")
            if len(fields) != _COLUMNS[path.name] + 1:
                expected = _COLUMNS[path.name]
                raise ConfigError(
                    f"{path}:{number}: must have {expected} fields, each ended by |, found {len(fields) - 1}"
                )
            yield fields


def _names(row: Row) -> list[str]:
    """All names of a row's concept. Raises ConfigError."""
    synonyms = row.texts("synonyms") if row.values.get("synonyms") is not None else []
    return list(dict.fromkeys([row.text("name"), *synonyms]))


def _concept(row: Row) -> Concept:
    """A row's concept. Raises ConfigError."""
    definitions = {row.text("definition_source"): row.text("definition")} if row.values.get("definition") else {}
    rows = row.rows("relations") if row.values.get("relations") else ()
    related = tuple(Relation(one.text("from"), one.text("label"), one.text("to")) for one in rows)
    return Concept(row.text("cui"), row.text("name"), definitions, related)
