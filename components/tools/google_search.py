"""GoogleSearch: what the web says, from a snapshot, from recorded queries, or from a search service.

Source: item 4 of ReflecTool's tools, Liao et al. 2024, arXiv 2410.17657: 2 pages, the first 10 paragraphs of each.
Departures: address and title stand before a page; a page with fewer than 10 paragraphs is read all the same, unless
``least_paragraphs`` is set to 10.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

from annotated_types import Ge

from components.acting.arguments import given_text, text_spec
from components.core.errors import ToolError
from components.core.messages import ToolSpec
from components.core.tools import Context, Effect
from components.core.traits import ToolTraits
from components.core.types import Observation
from components.tools.backends import ready
from components.tools.query_record import QueryRecord
from components.tools.web_pages import WebPage, WebSource

_SPEC = text_spec(
    "GoogleSearch",
    "Search the web and read the beginning of the pages that come first.",
    "query",
    "What to search for, as one would type it into a search engine.",
    "knowledge",
)


@dataclass(frozen=True)
class GoogleSearch:
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
    spec: ClassVar[ToolSpec] = _SPEC

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
    def traits(self) -> ToolTraits:
        """What identifies its answers, and what it lacks."""
        return ToolTraits(identity=self.identity, missing=self.missing)

    @property
    def missing(self) -> str:
        """What is absent: a source and a record."""
        absent = [one.missing for one in (self.record, self.source) if one is not None]
        if not absent:
            return "it has neither a source of pages nor recorded queries: name source, record or both"
        return "" if "" in absent else "; ".join(absent)

    async def __call__(self, context: Context, query: Any) -> Observation:
        """Search. Raises ToolError."""
        asked = given_text(self.spec, query)
        ready(self.spec, self.missing)
        found = [self._judged(page) for page in await self._found(asked)]
        if not found:
            raise ToolError(f"No page was found for {asked!r:.200}; try other words.", "empty")
        text = "\n\n".join(self._shown(page) for page in found)
        facts = {"pages": [{"url": page.url, "title": page.title, "error": page.error} for page in found]}
        if all(page.error for page in found):
            raise ToolError(text, "page_failed", facts)
        return Observation(text, facts)

    async def _found(self, query: str) -> Sequence[WebPage]:
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

    def _judged(self, page: WebPage) -> WebPage:
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
