"""Concepts in files: an open vocabulary as JSON Lines, or a user's subset of the UMLS Metathesaurus.

Source of the Metathesaurus' columns: NLM, UMLS Reference Manual, chapter 3 (MRCONSO.RRF, MRDEF.RRF, MRREL.RRF).
"""

import asyncio
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from threading import Lock
from typing import ClassVar

from components.core.errors import ConfigError
from components.core.tools import Effect
from components.files.rows import Row, json_lines
from components.tools.concepts import Concept, Relation, no_concept
from components.tools.data_files import Shipped, Stamp, digest, first_rows, lacking, located, stamp
from components.tools.vocabulary_store import VocabularyStore

_HOW = (
    "give a .jsonl file of concepts (cui, name, synonyms, definition, definition_source, relations), or a folder with"
    " MRCONSO.RRF and, if wanted, MRDEF.RRF and MRREL.RRF of your licensed UMLS subset"
)
_CONSO, _DEF, _REL = _RRF = ("MRCONSO.RRF", "MRDEF.RRF", "MRREL.RRF")
_COLUMNS = {_CONSO: 18, _DEF: 8, _REL: 16}
_FORMAT = "1"  # raise it when what is stored changes
_LOADING = Lock()


@dataclass(frozen=True)
class Vocabulary:
    """Concepts of a JSON Lines file or of a folder of RRF files. Raises ConfigError for a row of another form.

    ``shipped`` names the sample in this package, ``path`` a file or folder of one's own; ``cache`` a folder in
    which the database made of it is kept, without one it is made in memory at each start.
    """

    shipped: Shipped | None = None
    path: str | None = None
    cache: str | None = None
    effect: ClassVar[Effect] = "pure"
    identity: ClassVar[str] = "files"

    def __post_init__(self) -> None:
        for row in first_rows(self.place):
            _entry(row)
        if (self.place / _CONSO).is_file():
            next(_fields(self.place / _CONSO), None)

    @cached_property
    def place(self) -> Path:
        """The file or folder."""
        return located(self.shipped, self.path, "backend")

    @property
    def missing(self) -> str:
        """What is not there."""
        return lacking(self.place / _CONSO if self.place.is_dir() else self.place, _HOW)

    async def find(self, term: str) -> Concept:
        """The concept of a term. Raises ToolError."""
        found = await asyncio.to_thread(self._find, term)
        if found is None:
            raise no_concept(term)
        return found

    def _find(self, term: str) -> Concept | None:
        place = self.place
        files = [place / name for name in _RRF if (place / name).exists()] if place.is_dir() else [place]
        with _LOADING:
            store = _opened(tuple(stamp(file) for file in files), self.cache)
        return store.find(term)


@lru_cache(maxsize=4)
def _opened(files: tuple[Stamp, ...], cache: str | None) -> VocabularyStore:
    """The database of files, made once while they stay as they are."""
    if cache is None:
        store = VocabularyStore()
        _fill(store, files)
        return store
    folder = Path(cache).expanduser()
    kept = folder / f"{digest(_FORMAT, *(Path(one.path) for one in files))}.sqlite"
    if not kept.exists():
        folder.mkdir(parents=True, exist_ok=True)
        new = kept.with_suffix(f".{os.getpid()}.new")
        new.unlink(missing_ok=True)
        store = VocabularyStore(str(new))
        _fill(store, files)
        store.close()
        new.replace(kept)
    return VocabularyStore(str(kept))


def _fill(store: VocabularyStore, files: tuple[Stamp, ...]) -> None:
    """Read the files into the database. Raises ConfigError."""
    store.begin()
    paths = {Path(one.path).name: Path(one.path) for one in files}
    if _CONSO in paths:
        names = _fill_names(store, paths[_CONSO])
        if _DEF in paths:
            store.add_definitions((f[0], f[4], f[5]) for f in _fields(paths[_DEF]) if f[0] in names and f[6] == "N")
        if _REL in paths:
            store.add_relations(
                (f[0], names[f[4]], f[7] or f[3], names[f[0]])
                for f in _fields(paths[_REL])
                if f[0] in names and f[4] in names and f[0] != f[4] and f[14] == "N"
            )
    else:
        for path in paths.values():
            for row in json_lines(path):
                _add(store, _entry(row))
    store.finish()


def _fill_names(store: VocabularyStore, path: Path) -> dict[str, str]:
    """Read the English names that are not suppressed; identifier -> preferred name."""
    preferred: dict[str, str] = {}
    spare: dict[str, str] = {}

    def names() -> Iterator[tuple[str, str]]:
        for f in _fields(path):
            if f[1] == "ENG" and f[16] == "N":
                spare.setdefault(f[0], f[14])
                if f[2] == "P" and f[4] == "PF" and f[6] == "Y":
                    preferred.setdefault(f[0], f[14])
                yield f[0], f[14]

    store.add_names(names())
    found = spare | preferred
    store.add_concepts(found.items())
    return found


def _fields(path: Path) -> Iterator[list[str]]:
    """The fields of each line of an RRF file. Raises ConfigError."""
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            fields = line.rstrip("\r\n").split("|")
            if len(fields) != _COLUMNS[path.name] + 1:
                wanted = _COLUMNS[path.name]
                raise ConfigError(
                    f"{path}:{number}: must have {wanted} fields, each ended by |, found {len(fields) - 1}"
                )
            yield fields


@dataclass(frozen=True)
class _Entry:
    """A row: a concept and all its names."""

    concept: Concept
    names: tuple[str, ...]


def _entry(row: Row) -> _Entry:
    """Read a row. Raises ConfigError."""
    name = row.text("name")
    synonyms = row.texts("synonyms") if row.values.get("synonyms") is not None else []
    definitions = {row.text("definition_source"): row.text("definition")} if row.values.get("definition") else {}
    relations = row.values.get("relations") or []
    if not isinstance(relations, list) or not all(isinstance(one, dict) for one in relations):
        raise row.error("relations", f"must be a list of objects, found {relations!r:.80}")
    inner = [Row(f"{row.place}: relations", one) for one in relations]
    related = tuple(Relation(one.text("from"), one.text("label"), one.text("to")) for one in inner)
    return _Entry(Concept(row.text("cui"), name, definitions, related), tuple(dict.fromkeys([name, *synonyms])))


def _add(store: VocabularyStore, entry: _Entry) -> None:
    """Store one concept."""
    concept = entry.concept
    store.add_concepts([(concept.cui, concept.name)])
    store.add_names((concept.cui, name) for name in entry.names)
    store.add_definitions((concept.cui, source, text) for source, text in concept.definitions.items())
    store.add_relations((concept.cui, *relation) for relation in concept.relations)
