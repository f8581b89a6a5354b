"""Pages of the web as paragraphs, and a snapshot of pages in files, searched offline."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol, runtime_checkable

from components.core.errors import ConfigError
from components.files.rows import Row, json_lines
from components.text.bm25 import Bm25
from components.tools.backends import Backend, FileBackend

_SILENT = ("script", "style", "noscript", "template", "svg")


@dataclass(frozen=True)
class WebPage:
    """A page that was found. ``error`` says why it could not be read; then there are no paragraphs."""

    url: str
    title: str
    paragraphs: tuple[str, ...] = ()
    error: str = ""


@runtime_checkable
class WebSource(Backend, Protocol):
    """Where pages are found."""

    async def search(self, query: str, k: int) -> Sequence[WebPage]:
        """The first ``k`` pages for a query; none when nothing is found. Raises ToolError."""


def read_page(url: str, html: str, title: str = "") -> WebPage:
    """The page of an HTML text, however broken; its own title where none is known."""
    from lxml import etree  # type: ignore[import-untyped]  # it ships no types
    from lxml import html as parsing

    parser = parsing.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    try:
        root = parsing.document_fromstring(html.encode("utf-8", "replace"), parser=parser, ensure_head_body=True)
    except etree.ParserError:  # nothing is left of it
        return WebPage(url, title or url)
    etree.strip_elements(root, *_SILENT, with_tail=False)
    page_title = " ".join((root.findtext(".//title") or "").split())
    for line_break in root.iter("br"):
        line_break.tail = f" {line_break.tail or ''}"
    texts = (" ".join(paragraph.text_content().split()) for paragraph in root.iter("p"))
    return WebPage(url, title or page_title or url, tuple(text for text in texts if text))


def page_of(row: Row) -> WebPage:
    """The page of a row, whose ``error`` may be absent. Raises ConfigError."""
    return WebPage(row.text("url"), row.text("title"), tuple(row.texts("paragraphs")), row.optional_text("error"))


@dataclass(frozen=True)
class WebSnapshot(FileBackend[tuple[Mapping[str, WebPage], Bm25]]):
    """Saved pages, ranked by BM25 over title and paragraphs.

    A saved ``.html`` page has its file's name as its address. Raises ConfigError for a row of another form, and for two
    pages with one address.
    """

    how: ClassVar[str] = (
        "give a .jsonl file with url, title and paragraphs in each line, or a folder of such files and saved .html"
        " pages"
    )
    suffixes: ClassVar[tuple[str, ...]] = (".jsonl", ".html", ".htm")

    def read(self, row: Row) -> WebPage:
        """The page of a row. Raises ConfigError."""
        return page_of(row)

    def load(self, files: Sequence[Path]) -> tuple[Mapping[str, WebPage], Bm25]:
        """Address -> page, and their index. Raises ConfigError."""
        pages: list[WebPage] = []
        for path in files:
            if path.suffix == ".jsonl":
                pages += map(page_of, json_lines(path))
            else:
                pages.append(read_page(path.name, path.read_text("utf-8", "replace")))
        try:
            index = Bm25.over((page.url, "\n".join((page.title, *page.paragraphs))) for page in pages)
        except ValueError as error:
            raise ConfigError(f"{files[0].parent}: {error}") from None
        return {page.url: page for page in pages}, index

    async def search(self, query: str, k: int) -> Sequence[WebPage]:
        """The best ``k`` pages."""
        return await asyncio.to_thread(self._search, query, k)

    def _search(self, query: str, k: int) -> Sequence[WebPage]:
        pages, bm25 = self.loaded
        return [pages[hit.id] for hit in bm25.search(query, k)]
