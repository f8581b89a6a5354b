"""Passages of medical texts in a folder of JSON Lines files, each file a corpus with its own index."""

import asyncio
import os
import zipfile
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import get_ident
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
import orjson
from numpy.typing import NDArray

from components.core.errors import ConfigError
from components.files.rows import Row, files_digest, json_lines
from components.text.bm25 import Bm25
from components.tools.backends import Backend, FileBackend

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


@dataclass(frozen=True)
class LocalCorpora(FileBackend[Sequence[FileIndex]]):
    """The corpora of a folder. Raises ConfigError for a row without id, title or content.

    ``cache`` is a folder for the indexes (``python -m components.tools.medrag_index`` fills it); without one
    they are made in memory. 100,000 passages of 100 words take some 30 s to index and 0.3 s to open from the cache.
    """

    cache: str | None = None
    how: ClassVar[str] = "give a folder of .jsonl files with id, title and content in each line"

    def read(self, row: Row) -> tuple[str, str]:
        """A passage's id and what of it is indexed. Raises ConfigError."""
        return row.text("id"), f"{row.text('title')}. {row.text('content')}"

    def load(self, files: Sequence[Path]) -> Sequence[FileIndex]:
        """The indexes of files, from the cache where they are there. Raises ConfigError for a bad row."""
        return [self._cached(path) if self.cache is not None else self._indexed(path) for path in files]

    def _cached(self, path: Path) -> FileIndex:
        """The index of a file from the cache, which a reader sees whole or not at all."""
        kept = Path(str(self.cache)).expanduser() / f"{files_digest(path, salt=_FORMAT, digits=32)}.npz"
        try:
            with kept.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
                # Texts are the bytes of a JSON list, which no archive needs to unpickle.
                ids, terms = (orjson.loads(file[name].tobytes()) for name in ("ids", "terms"))
                rows = {term: number for number, term in enumerate(terms)}
                bm25 = Bm25(tuple(ids), rows, file["starts"], file["documents"], file["counts"], file["lengths"])
                return FileIndex(path, bm25, file["offsets"])
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            index = self._indexed(path)
        bm25, new = index.bm25, kept.with_suffix(f".{os.getpid()}.{get_ident()}.new")
        ids, terms = (np.frombuffer(orjson.dumps(texts), np.uint8) for texts in (bm25.ids, tuple(bm25.rows)))
        kept.parent.mkdir(parents=True, exist_ok=True)
        with new.open("wb") as file:
            arrays = {name: getattr(bm25, name) for name in ("starts", "documents", "counts", "lengths")}
            np.savez(file, offsets=index.offsets, ids=ids, terms=terms, **arrays)
        new.replace(kept)
        return index

    def _indexed(self, path: Path) -> FileIndex:
        try:
            bm25 = Bm25.over(map(self.read, json_lines(path)))
        except ValueError as error:
            raise ConfigError(f"{path}: {error}") from None
        starts, position = array("q"), 0
        with path.open("rb") as file:
            for line in file:
                if line.strip():
                    starts.append(position)
                position += len(line)
        return FileIndex(path, bm25, np.asarray(starts, np.int64))

    async def search(self, query: str, k: int) -> Sequence[Passage]:
        """``k`` of each corpus, merged by score, ties by id."""
        return await asyncio.to_thread(self._search, query, k)

    def _search(self, query: str, k: int) -> Sequence[Passage]:
        hits = [(hit, index) for index in self.loaded for hit in index.bm25.search(query, k)]
        hits.sort(key=lambda one: (-one[0].score, one[0].id, one[1].path.stem))
        rows = [(hit, index.row(hit.id), index.path.stem) for hit, index in hits[:k]]
        return [Passage(hit.id, row.text("title"), row.text("content"), name, hit.score) for hit, row, name in rows]
