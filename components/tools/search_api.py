"""A web-search service with a JSON answer, and the pages that it finds."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

from annotated_types import Ge
from yarl import URL

from components.core.errors import ToolError
from components.tools.web_snapshot import WebPage, read_page
from components.web import REDIRECTS, KeyedService, Unavailable, is_public

_MOST_REDIRECTS = 3


@dataclass(frozen=True)
class SearchApi(KeyedService):
    """Searches by one request, then reads each page that was found.

    The fields' defaults are those of Brave's service (https://api-dashboard.search.brave.com); others differ in
    names only: ``query`` and ``count`` are its parameters, ``results`` the way to the list in its answer, ``url``
    and ``title`` the fields of a result; its key goes into the header or parameter ``key_name``; ``parameters``
    are sent as they are. ``domains``: only pages of these, or of domains below them, are read, whatever redirects;
    without any, every public name is.
    """

    base_url: str = "https://api.search.brave.com/res/v1/web/search"
    key_variable: str = "BRAVE_API_KEY"
    key_in: Literal["header", "parameter"] = "header"
    key_name: str = "X-Subscription-Token"
    query: str = "q"
    count: str = "count"
    n_results: Annotated[int, Ge(1)] = 20
    parameters: Mapping[str, str] = field(default_factory=dict)
    results: str = "web.results"
    url: str = "url"
    title: str = "title"
    domains: tuple[str, ...] = ()
    label = "the search service at {0.address.host}"

    @property
    def identity(self) -> str:
        """The service and the settings of its requests."""
        return f"{self.base_url} {sorted(self.parameters.items())} {sorted(self.domains)}"

    async def search(self, query: str, k: int) -> Sequence[WebPage]:
        """The first ``k`` pages that may be read. Raises ToolError."""
        wanted = {**self.parameters, self.query: query, self.count: str(self.n_results)}
        secret = {self.key_name: self.key}
        in_header = self.key_in == "header"
        reply = await self.web.get(self.address, wanted if in_header else wanted | secret, secret if in_header else {})
        if reply.find(dict) is None:
            raise Unavailable(self.address.host, "its answer is not a JSON object")
        pages = []
        for row in reply.find(list, *self.results.split(".")) or ():
            address, title = (row.get(key) for key in (self.url, self.title)) if isinstance(row, dict) else (None, None)
            if isinstance(address, str) and (url := self._allowed(address)) is not None:
                pages.append((url, title if isinstance(title, str) else ""))
        return await asyncio.gather(*(self._read(url, title) for url, title in pages[:k]))

    async def _read(self, url: URL, title: str) -> WebPage:
        """A page, or why it cannot be read."""
        place, web = url, replace(self.web, public_only=not self.domains)
        try:
            for _ in range(_MOST_REDIRECTS + 1):
                reply = await web.get(place, accept=REDIRECTS)
                if reply.location is None:
                    return read_page(str(url), reply.text, title)
                if (onward := self._allowed(reply.location, place)) is None:
                    raise Unavailable(place.host, "it redirects to where nothing may be read")
                place = onward
            raise Unavailable(place.host, "it redirects too often")
        except ToolError as error:
            return WebPage(str(url), title or str(url), error=str(error))

    def _allowed(self, address: str, origin: URL | None = None) -> URL | None:
        """An address as a URL; None when it may not be read."""
        try:
            url = origin.join(URL(address)) if origin is not None else URL(address)
        except ValueError:
            return None
        host = (url.host or "").lower()
        if url.scheme not in ("http", "https"):
            return None
        if self.domains:
            return url if any(host == one or host.endswith(f".{one}") for one in self.domains) else None
        try:
            public = is_public(host)
        except ValueError:  # a name
            name = host.rstrip(".")
            public = "." in name and not name.endswith((".local", ".internal", ".localhost"))
        return url if public else None
