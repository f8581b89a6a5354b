"""Queries with the pages that a search service found for them, kept in a JSON Lines file."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from threading import Lock

import orjson

from components.files.rows import Row, json_lines
from components.tools.backends import plain
from components.tools.data_files import first_rows, lacking
from components.tools.web_pages import WebPage


@dataclass(frozen=True)
class QueryRecord:
    """A file that grows with each query that a service answers; the last answer to a query is its answer.

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
        if not self.place.exists():
            return {}
        return {plain(row.text("query")): _pages(row) for row in json_lines(self.place)}

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
    pages = row.values.get("pages")
    if not isinstance(pages, list) or not all(isinstance(one, dict) for one in pages):
        raise row.error("pages", f"must be a list of objects, found {pages!r:.80}")
    read = []
    for one in pages:
        inner = Row(f"{row.place}: pages", one)
        error = one.get("error")
        read.append(WebPage(inner.text("url"), inner.text("title"), tuple(inner.texts("paragraphs")), str(error or "")))
    return tuple(read)
