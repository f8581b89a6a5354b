"""Passages of medical texts in a folder of JSON Lines files, each file a corpus with an index of its own."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from threading import Lock
from typing import ClassVar, Protocol, runtime_checkable

from components.core.tools import Effect
from components.tools.backends import Backend
from components.tools.data_files import Shipped, Stamp, first_rows, lacking, located, stamps
from components.tools.index_files import FileIndex, indexed, passage_text

KINDS = (".jsonl",)
_HOW = "give a folder of .jsonl files with id, title and content in each line"
_LOADING = Lock()


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
class LocalCorpora:
    """The corpora of a folder. Raises ConfigError for a row without id, title or content.

    ``shipped`` names the sample in this package, ``path`` a folder of one's own; ``cache`` a folder in which
    indexes are kept (``python -m components.tools.medrag_index`` fills it), without one they are made in memory.
    100,000 passages of 100 words take some 30 s to index and 0.3 s to open from the cache.
    """

    shipped: Shipped | None = None
    path: str | None = None
    cache: str | None = None
    effect: ClassVar[Effect] = "pure"
    identity: ClassVar[str] = "files"

    def __post_init__(self) -> None:
        for row in first_rows(self.place):
            passage_text(row)

    @cached_property
    def place(self) -> Path:
        """The folder, or the one file."""
        return located(self.shipped, self.path, "backend")

    @property
    def missing(self) -> str:
        """What is absent: the folder, or any file in it."""
        if found := lacking(self.place, _HOW):
            return found
        return "" if stamps(self.place, KINDS) else f"no .jsonl file in {self.place}: {_HOW}"

    async def search(self, query: str, k: int) -> Sequence[Passage]:
        """``k`` of each corpus, merged by score, ties by id."""
        return await asyncio.to_thread(self._search, query, k)

    def _search(self, query: str, k: int) -> Sequence[Passage]:
        with _LOADING:
            indexes = _opened(stamps(self.place, KINDS), self.cache)
        found = [(hit, index) for index in indexes for hit in index.bm25.search(query, k)]
        found.sort(key=lambda one: (-one[0].score, one[0].id, one[1].path.stem))
        passages = []
        for hit, index in found[:k]:
            row = index.row(hit.id)
            passages.append(Passage(hit.id, row.text("title"), row.text("content"), index.path.stem, hit.score))
        return passages


@lru_cache(maxsize=4)
def _opened(files: tuple[Stamp, ...], cache: str | None) -> tuple[FileIndex, ...]:
    """The indexes of files, made once while the files stay as they are."""
    folder = Path(cache).expanduser() if cache is not None else None
    return tuple(indexed(Path(one.path), folder) for one in files)
