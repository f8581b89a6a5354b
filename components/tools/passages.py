"""Passages of medical texts in a folder of JSON Lines files, each file a corpus with its own index."""

import asyncio
import os
import zipfile
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from threading import Lock
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
import orjson
from numpy.typing import NDArray

from components.core.errors import ConfigError
from components.files.rows import Row, json_lines
from components.text.bm25 import Bm25
from components.tools.backends import Backend, FileBackend, Stamp, digest

_LOADING = Lock()
_FORMAT = "1"  # raise it when the analysis of texts or the layout changes


@dataclass(frozen=True)
class Passage:
    """A text that was found. ``source`` is its corpus; ``score`` is comparable within one answer only."""

    id: str
    title: str
    content: str
    source: str
    score: float


@runtime_checkable
class Passages(Backend, Protocol):
    """Where passages are found."""

    async def search(self, query: str, k: int) -> Sequence[Passage]:
        """The best ``k`` passages, best first; none when nothing is found. Raises ToolError."""


@dataclass(frozen=True)
class LocalCorpora(FileBackend):
    """The corpora of a folder. Raises ConfigError for a row without id, title or content.

    ``cache`` is a folder for the indexes (``python -m components.tools.medrag_index`` fills it); without one
    they are made in memory. 100,000 passages of 100 words take some 30 s to index and 0.3 s to open from the cache.
    """

    cache: str | None = None
    how: ClassVar[str] = "give a folder of .jsonl files with id, title and content in each line"

    def check(self, row: Row) -> tuple[str, str]:
        """Read a row. Raises ConfigError."""
        return passage_text(row)

    async def search(self, query: str, k: int) -> Sequence[Passage]:
        """``k`` of each corpus, merged by score, ties by id."""
        return await asyncio.to_thread(self._search, query, k)

    def _search(self, query: str, k: int) -> Sequence[Passage]:
        with _LOADING:
            indexes = opened(self.stamps, self.cache)
        hits = [(hit, index) for index in indexes for hit in index.bm25.search(query, k)]
        hits.sort(key=lambda one: (-one[0].score, one[0].id, one[1].path.stem))
        passages = []
        for hit, index in hits[:k]:
            row = index.row(hit.id)
            passages.append(Passage(hit.id, row.text("title"), row.text("content"), index.path.stem, hit.score))
        return passages


@dataclass(frozen=True, eq=False)
class FileIndex:
    """An index over the rows of a file; ``offsets`` are where the rows begin, in bytes, in the index's order."""

    path: Path
    bm25: Bm25
    offsets: NDArray[np.int64]

    def row(self, name: str) -> Row:
        """The row of an id that a search gave."""
        with self.path.open("rb") as file:
            file.seek(int(self.offsets[self._numbers[name]]))
            return Row(str(self.path), orjson.loads(file.readline()))

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.bm25.ids)}


def indexed(path: Path, cache: Path | None) -> FileIndex:
    """The index of a file of passages, from the cache where it is there. Raises ConfigError for a bad row."""
    if cache is None:
        return _build(path)
    file = cache / f"{digest(_FORMAT, path)}.npz"
    if (index := _read(file, path)) is None:
        index = _build(path)
        _write(file, index)
    return index


@lru_cache(maxsize=4)
def opened(files: tuple[Stamp, ...], cache: str | None) -> tuple[FileIndex, ...]:
    """The indexes of files, made once while the files stay as they are. Raises ConfigError."""
    folder = Path(cache).expanduser() if cache is not None else None
    return tuple(indexed(Path(one.path), folder) for one in files)


def passage_text(row: Row) -> tuple[str, str]:
    """A passage's id and what of it is indexed. Raises ConfigError."""
    return row.text("id"), f"{row.text('title')}. {row.text('content')}"


def _build(path: Path) -> FileIndex:
    """Index the rows, each under its id, by title and content."""
    try:
        bm25 = Bm25.over(map(passage_text, json_lines(path)))
    except ValueError as error:
        raise ConfigError(f"{path}: {error}") from None
    starts, position = array("q"), 0
    with path.open("rb") as file:
        for line in file:
            if line.strip():
                starts.append(position)
            position += len(line)
    return FileIndex(path, bm25, np.asarray(starts, np.int64))


def _write(target: Path, index: FileIndex) -> None:
    """Write an index; a reader sees the whole file or none."""
    target.parent.mkdir(parents=True, exist_ok=True)
    new = target.with_suffix(f".{os.getpid()}.new")
    bm25 = index.bm25
    with new.open("wb") as file:
        np.savez(
            file, starts=bm25.starts, documents=bm25.documents, counts=bm25.counts, lengths=bm25.lengths,
            offsets=index.offsets, ids=_packed(bm25.ids), terms=_packed(tuple(bm25.rows)),
        )  # fmt: skip
    new.replace(target)


def _read(target: Path, path: Path) -> FileIndex | None:
    """An index from the cache; None when there is none that can be read."""
    try:
        with target.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            ids, terms = _unpacked(file["ids"]), _unpacked(file["terms"])
            rows = {term: number for number, term in enumerate(terms)}
            bm25 = Bm25(ids, rows, file["starts"], file["documents"], file["counts"], file["lengths"])
            return FileIndex(path, bm25, file["offsets"])
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None


def _packed(texts: tuple[str, ...]) -> NDArray[np.uint8]:
    """Texts as the bytes of a JSON list, which no archive needs to unpickle."""
    return np.frombuffer(orjson.dumps(texts), np.uint8)


def _unpacked(raw: NDArray[np.uint8]) -> tuple[str, ...]:
    return tuple(orjson.loads(raw.tobytes()))
