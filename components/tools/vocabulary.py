"""Concepts in files: an open vocabulary as JSON Lines, or a user's subset of the UMLS Metathesaurus.

Source of the Metathesaurus' columns: NLM, UMLS Reference Manual, chapter 3 (MRCONSO.RRF, MRDEF.RRF, MRREL.RRF).
"""

import asyncio
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock, get_ident
from typing import ClassVar

from components.core.errors import ConfigError
from components.files.rows import Row, files_digest, json_lines
from components.text.bm25 import terms
from components.tools.backends import FileBackend, plain
from components.tools.umls import N_RELATIONS, Concept, Relation, no_concept

Table = tuple[str, Iterable[tuple[str, ...]]]  # its name, and rows that begin with the concept's identifier
_CONSO, _DEF, _REL = _RRF = ("MRCONSO.RRF", "MRDEF.RRF", "MRREL.RRF")

_COLUMNS = {_CONSO: 18, _DEF: 8, _REL: 16}

_FORMAT = "1"  # raise it when what is stored changes

_TABLES = """
PRAGMA synchronous = OFF;
CREATE TABLE concept (cui TEXT PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE name (cui TEXT NOT NULL, plain TEXT NOT NULL, words TEXT NOT NULL);
CREATE TABLE definition (cui TEXT NOT NULL, source TEXT NOT NULL, text TEXT NOT NULL);
CREATE TABLE relation (cui TEXT NOT NULL, source TEXT NOT NULL, label TEXT NOT NULL, target TEXT NOT NULL);
"""

_INSERT = {
    "concept": "INSERT OR IGNORE INTO concept VALUES (?, ?)",
    "name": "INSERT INTO name VALUES (?, ?, ?)",
    "definition": "INSERT INTO definition VALUES (?, ?, ?)",
    "relation": "INSERT INTO relation VALUES (?, ?, ?, ?)",
}

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


@dataclass(eq=False)
class VocabularyStore:
    """A database of concepts, filled once, then only read. ``path`` is a file or ``:memory:``. Threads may share it."""

    path: str = ":memory:"
    _lock: Lock = field(default_factory=Lock, repr=False)

    def __post_init__(self) -> None:
        self._database = sqlite3.connect(self.path, check_same_thread=False)

    def fill(self, tables: Iterable[Table]) -> None:
        """Make the tables, add rows (``name``: identifier and name, preferred ones too), and index them."""
        self._database.executescript(_TABLES)
        for table, rows in tables:
            keyed = ((cui, plain(name), _words(name)) for cui, name in rows) if table == "name" else rows
            self._database.executemany(_INSERT[table], keyed)
        self._database.executescript(_INDEXES)
        self._database.commit()

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def concept(self, name: str) -> str | None:
        """The identifier of the concept with exactly this name, ignoring case; None if there is none."""
        with self._lock:
            row = self._database.execute(_PLAIN, (plain(name),)).fetchone()
        return None if row is None else str(row[0])

    def find(self, term: str) -> Concept | None:
        """The concept that is called so; else one with a name of the same words in any order and inflection,
        else the one with the shortest name that holds all these words."""
        words = _words(term)
        within = " AND ".join(f'"{word}"' for word in words.split()) if words.count(" ") < _MOST_WORDS else ""
        with self._lock, closing(self._database.cursor()) as cursor:
            for query, value in ((_PLAIN, plain(term)), (_SAME, words), (_WITHIN, within)):
                if value and (row := cursor.execute(query, (value,)).fetchone()) is not None:
                    break
            else:
                return None
            cui = str(row[0])
            row = cursor.execute("SELECT name FROM concept WHERE cui = ?", (cui,)).fetchone()
            definitions = "SELECT source, text FROM definition WHERE cui = ? ORDER BY rowid DESC"
            relations = "SELECT source, label, target FROM relation WHERE cui = ? ORDER BY rowid LIMIT ?"
            related = tuple(Relation(*one) for one in cursor.execute(relations, (cui, N_RELATIONS)).fetchall())
            defined = dict(cursor.execute(definitions, (cui,)).fetchall())
            return Concept(cui, str(row[0]) if row is not None else cui, defined, related)


def _words(name: str) -> str:
    """The index terms of a name without repetition, in one order."""
    return " ".join(sorted(set(terms(name))))


@dataclass(frozen=True)
class Vocabulary(FileBackend[VocabularyStore]):
    """Concepts of a JSON Lines file or of a folder of RRF files. Raises ConfigError for a row of another form.

    ``cache`` is a folder for the database that is made of the files; without one it is made in memory at each start.
    """

    cache: str | None = None
    how: ClassVar[str] = (
        "give a .jsonl file of concepts (cui, name, synonyms, definition, definition_source, relations), or a folder"
        " with MRCONSO.RRF and, optionally, MRDEF.RRF and MRREL.RRF of your licensed UMLS subset"
    )
    suffixes: ClassVar[tuple[str, ...]] = (_CONSO,)

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.place / _CONSO).is_file():
            next(_fields(self.place / _CONSO), None)

    def read(self, row: Row) -> tuple[Concept, list[str]]:
        """A row's concept and all its names. Raises ConfigError."""
        synonyms = row.texts("synonyms") if row.values.get("synonyms") is not None else []
        definitions = {row.text("definition_source"): row.text("definition")} if row.values.get("definition") else {}
        rows = row.rows("relations") if row.values.get("relations") else ()
        related = tuple(Relation(one.text("from"), one.text("label"), one.text("to")) for one in rows)
        concept = Concept(row.text("cui"), row.text("name"), definitions, related)
        return concept, list(dict.fromkeys([concept.name, *synonyms]))

    @property
    def files(self) -> Sequence[Path]:
        """The file, or those of a subset that has names."""
        if not self.place.is_dir():
            return [self.place]
        names = _RRF if (self.place / _CONSO).exists() else ()
        return [self.place / name for name in names if (self.place / name).exists()]

    def load(self, files: Sequence[Path]) -> VocabularyStore:
        """The database of files, from the cache where it is there. Raises ConfigError."""
        tables = _subset({path.name: path for path in files}) if self.place.is_dir() else self._tables(files[0])
        if self.cache is None:
            store = VocabularyStore()
            store.fill(tables)
            return store
        target = Path(self.cache).expanduser() / f"{files_digest(*files, salt=_FORMAT, digits=32)}.sqlite"
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            new = target.with_suffix(f".{os.getpid()}.{get_ident()}.new")
            new.unlink(missing_ok=True)
            with closing(VocabularyStore(str(new))) as store:
                store.fill(tables)
            new.replace(target)
        return VocabularyStore(str(target))

    def _tables(self, path: Path) -> Iterator[Table]:
        for concept, names in map(self.read, json_lines(path)):
            yield "concept", [(concept.cui, concept.name)]
            yield "name", [(concept.cui, name) for name in names]
            yield "definition", [(concept.cui, *one) for one in concept.definitions.items()]
            yield "relation", [(concept.cui, *one) for one in concept.relations]

    def concept(self, name: str) -> str | None:
        """The identifier of the concept that has this name; None where there is none."""
        return self.loaded.concept(name)

    async def find(self, term: str) -> Concept:
        """The concept of a term. Raises ToolError."""
        if (concept := await asyncio.to_thread(lambda: self.loaded.find(term))) is None:
            raise no_concept(term)
        return concept


def _subset(paths: Mapping[str, Path]) -> Iterator[Table]:
    """The Metathesaurus: English names, definitions and relations that are not suppressed. Raises ConfigError."""
    preferred: dict[str, str] = {}
    first: dict[str, str] = {}

    def english() -> Iterator[tuple[str, str]]:
        for f in _fields(paths[_CONSO]):
            if f[1] == "ENG" and f[16] == "N":
                first.setdefault(f[0], f[14])
                if f[2] == "P" and f[4] == "PF" and f[6] == "Y":
                    preferred.setdefault(f[0], f[14])
                yield f[0], f[14]

    yield "name", english()
    names = first | preferred
    yield "concept", names.items()
    if _DEF in paths:
        rows = _fields(paths[_DEF])
        yield "definition", ((f[0], f[4], f[5]) for f in rows if f[0] in names and f[6] == "N")
    if _REL in paths:
        related = (f for f in _fields(paths[_REL]) if f[0] in names and f[4] in names and f[0] != f[4] and f[14] == "N")
        yield "relation", ((f[0], names[f[4]], f[7] or f[3], names[f[0]]) for f in related)


def _fields(path: Path) -> Iterator[list[str]]:
    """The fields of each line of an RRF file. Raises ConfigError."""
    expected = _COLUMNS[path.name]
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            fields = line.rstrip("\r\n").split("|")
            if len(fields) != expected + 1:
                n = len(fields) - 1
                raise ConfigError(f"{path}:{number}: must have {expected} fields, each ended by |, found {n}")
            yield fields
