"""A snapshot of web pages in files, searched offline."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from threading import Lock
from typing import ClassVar

from components.core.errors import ConfigError
from components.core.tools import Effect
from components.files.rows import Row, json_lines
from components.text.bm25 import Bm25
from components.tools.data_files import Shipped, Stamp, first_rows, lacking, located, stamps
from components.tools.web_pages import WebPage, read_page

_KINDS = (".jsonl", ".html", ".htm")
_HOW = "give a .jsonl file with url, title and paragraphs in each line, or a folder of such files and saved .html pages"
_LOADING = Lock()


@dataclass(frozen=True)
class WebSnapshot:
    """Saved pages, ranked by BM25 over title and paragraphs.

    ``shipped`` names the sample in this package, ``path`` a file or folder of one's own. A saved ``.html`` page has
    its file's name for an address. Raises ConfigError for a row of another form, and for two pages of one address.
    """

    shipped: Shipped | None = None
    path: str | None = None
    effect: ClassVar[Effect] = "pure"
    identity: ClassVar[str] = "files"

    def __post_init__(self) -> None:
        for row in first_rows(self.place):
            _page(row)

    @cached_property
    def place(self) -> Path:
        """The file or folder."""
        return located(self.shipped, self.path, "source")

    @property
    def missing(self) -> str:
        """What is absent: the place, or any page in it."""
        if found := lacking(self.place, _HOW):
            return found
        return "" if stamps(self.place, _KINDS) else f"no page in {self.place}: {_HOW}"

    async def search(self, query: str, k: int) -> Sequence[WebPage]:
        """The best ``k`` pages."""
        return await asyncio.to_thread(self._search, query, k)

    def _search(self, query: str, k: int) -> Sequence[WebPage]:
        with _LOADING:
            snapshot = _read(stamps(self.place, _KINDS))
        return [snapshot.pages[hit.id] for hit in snapshot.index.search(query, k)]


@dataclass(frozen=True)
class _Snapshot:
    """``pages``: address -> page."""

    pages: Mapping[str, WebPage]
    index: Bm25


@lru_cache(maxsize=4)
def _read(files: tuple[Stamp, ...]) -> _Snapshot:
    """The pages of files, read once while they stay as they are."""
    pages = [page for file in files for page in _pages(Path(file.path))]
    try:
        index = Bm25.over((page.url, "\n".join((page.title, *page.paragraphs))) for page in pages)
    except ValueError as error:
        raise ConfigError(f"{Path(files[0].path).parent}: {error}") from None
    return _Snapshot({page.url: page for page in pages}, index)


def _pages(path: Path) -> Iterator[WebPage]:
    """The pages of a file. Raises ConfigError."""
    if path.suffix != ".jsonl":
        yield read_page(path.name, path.read_text("utf-8", "replace"))
        return
    yield from map(_page, json_lines(path))


def _page(row: Row) -> WebPage:
    """The page of a row. Raises ConfigError."""
    return WebPage(row.text("url"), row.text("title"), tuple(row.texts("paragraphs")))
