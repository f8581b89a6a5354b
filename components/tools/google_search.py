"""GoogleSearch: web pages for a query, from a snapshot, from recorded queries, or from a search service.

Source: item 4 of ReflecTool's tools, Liao et al. 2024, arXiv 2410.17657: 2 pages, the first 10 paragraphs of each.
Departures: address and title precede a page; a page with fewer than 10 paragraphs is read all the same, unless
``least_paragraphs`` is set to 10.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Annotated, ClassVar

import orjson
from annotated_types import Ge

from components.core.errors import ToolError
from components.core.messages import ToolSpec
from components.core.tools import Effect
from components.core.types import Observation
from components.files.rows import Row, json_lines
from components.tools.backends import TextTool, first_rows, lacking, plain, spec_of
from components.tools.web_snapshot import WebPage, WebSource, page_of


@dataclass(frozen=True)
class QueryRecord:
    """A JSON Lines file that grows with each query that a service answers; the last answer to a query counts.

    Queries are compared in one case with single spaces. Raises ConfigError for a line of another form.
    """

    path: str

    def __post_init__(self) -> None:
        for row in first_rows(self.place):
            _pages(row)

    @cached_property
    def place(self) -> Path:
        """The file."""
        return Path(self.path).expanduser()

    @property
    def missing(self) -> str:
        """The file, when it is not there."""
        return lacking(self.place, "record queries with a search service first (source and record together)")

    @cached_property
    def _lock(self) -> Lock:
        return Lock()

    @cached_property
    def _known(self) -> dict[str, Sequence[WebPage]]:
        rows = json_lines(self.place) if self.place.exists() else ()
        return {plain(row.text("query")): _pages(row) for row in rows}

    def get(self, query: str) -> Sequence[WebPage] | None:
        """The pages of a query; None when it was not recorded."""
        return self._known.get(plain(query))

    def put(self, query: str, pages: Sequence[WebPage]) -> None:
        """Record a query with its pages, in one whole line."""
        known = self._known
        line = orjson.dumps({"query": plain(query), "pages": [asdict(page) for page in pages]}) + b"\n"
        with self._lock:
            self.place.parent.mkdir(parents=True, exist_ok=True)
            with self.place.open("ab") as file:
                file.write(line)
            known[plain(query)] = tuple(pages)


def _pages(row: Row) -> Sequence[WebPage]:
    """The pages of a line. Raises ConfigError."""
    return tuple(map(page_of, row.rows("pages")))


@dataclass(frozen=True)
class GoogleSearch(TextTool):
    """The first pages for a query, a block of text each.

    What is in ``record`` answers first; what a service (``source``) answers is recorded there.
    Raises ToolError: empty when nothing is found, page_failed when no page can be read, unavailable when there is
    no source, or none for a query that was not recorded.
    """

    source: WebSource | None = None
    record: QueryRecord | None = None
    pages: Annotated[int, Ge(1)] = 2
    paragraphs: Annotated[int, Ge(1)] = 10
    least_paragraphs: Annotated[int, Ge(1)] = 1
    spec: ClassVar[ToolSpec] = spec_of("GoogleSearch")

    @property
    def effect(self) -> Effect:
        """External when a service may be asked."""
        return self.source.effect if self.source is not None else "pure"

    @property
    def identity(self) -> str:
        """What changes when the answers of a service can."""
        source = self.source.identity if self.source is not None else ""
        return f"{source} {self.pages} {self.paragraphs} {self.least_paragraphs}"

    @property
    def missing(self) -> str:
        """What is absent: a source and a record."""
        absent = [one.missing for one in (self.record, self.source) if one is not None]
        if not absent:
            return "it has neither a source of pages nor recorded queries: name source, record or both"
        return "" if "" in absent else "; ".join(absent)

    async def answer(self, text: str) -> Observation:
        """Search. Raises ToolError."""
        pages = [self._checked(page) for page in await self._find(text)]
        if not pages:
            raise ToolError(f"No page was found for {text!r:.200}; try other words.", "empty")
        shown = "\n\n".join(self._shown(page) for page in pages)
        facts = {"pages": [{"url": page.url, "title": page.title, "error": page.error} for page in pages]}
        if all(page.error for page in pages):
            raise ToolError(shown, "page_failed", facts)
        return Observation(shown, facts)

    async def _find(self, query: str) -> Sequence[WebPage]:
        """The pages of a query. Raises ToolError."""
        recorded = self.record.get(query) if self.record is not None else None
        if recorded is not None:
            return recorded[: self.pages]
        if self.source is None or self.source.missing:
            why = self.source.missing if self.source is not None else "only recorded queries are answered"
            raise ToolError(f"GoogleSearch has no recorded answer to {query!r:.200}, and {why}.", "unavailable")
        pages = await self.source.search(query, self.pages)
        readable = not pages or any(not page.error for page in pages)
        if self.record is not None and self.source.effect == "external" and readable:
            self.record.put(query, pages)
        return pages

    def _checked(self, page: WebPage) -> WebPage:
        """The page, failed when it has too few paragraphs."""
        n = len(page.paragraphs)
        if page.error or n >= self.least_paragraphs:
            return page
        return replace(page, error=f"The page has too few paragraphs: {n}, and {self.least_paragraphs} are needed.")

    def _shown(self, page: WebPage) -> str:
        """A page's beginning, or why it cannot be read."""
        if page.error:
            return f"Error: cannot read {page.url}: {page.error}"
        return f"{page.title} ({page.url})\n{' '.join(page.paragraphs[: self.paragraphs])}"
