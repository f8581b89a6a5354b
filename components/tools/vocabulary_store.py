"""Concepts in SQLite: names, definitions and relations, found by name or by all the words of a name."""

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, field
from threading import Lock

from components.text.bm25 import terms
from components.tools.backends import plain
from components.tools.concepts import N_RELATIONS, Concept, Relation

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


@dataclass(eq=False)
class VocabularyStore:
    """A database of concepts, filled once with ``add_*`` and ``finish``, then only read.

    ``path`` is a file or ``:memory:``. Threads may share it.
    """

    path: str = ":memory:"
    _lock: Lock = field(default_factory=Lock, repr=False)

    def __post_init__(self) -> None:
        self._database = sqlite3.connect(self.path, check_same_thread=False)

    def begin(self) -> None:
        """Make the tables."""
        self._database.executescript("PRAGMA synchronous = OFF;" + _TABLES)

    def add_concepts(self, rows: Iterable[tuple[str, str]]) -> None:
        """Concepts: identifier and preferred name."""
        self._database.executemany("INSERT OR IGNORE INTO concept VALUES (?, ?)", rows)

    def add_names(self, rows: Iterable[tuple[str, str]]) -> None:
        """Names of concepts, preferred ones too: identifier and name."""
        keyed = ((cui, plain(name), _words(name)) for cui, name in rows)
        self._database.executemany("INSERT INTO name VALUES (?, ?, ?)", keyed)

    def add_definitions(self, rows: Iterable[tuple[str, str, str]]) -> None:
        """Definitions: identifier, vocabulary, text."""
        self._database.executemany("INSERT INTO definition VALUES (?, ?, ?)", rows)

    def add_relations(self, rows: Iterable[tuple[str, str, str, str]]) -> None:
        """Relations: identifier of the concept they are shown for, source's name, label, target's name."""
        self._database.executemany("INSERT INTO relation VALUES (?, ?, ?, ?)", rows)

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
