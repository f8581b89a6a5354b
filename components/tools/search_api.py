"""A web-search service with a JSON answer, and the pages that it finds."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

from annotated_types import Ge
from yarl import URL

from components.core.errors import ToolError
from components.tools.web import REDIRECTS, Reply, Service, is_public, key, no_key, unavailable
from components.tools.web_snapshot import WebPage, read_page

_MOST_REDIRECTS = 3


@dataclass(frozen=True)
class SearchApi(Service):
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

    @property
    def identity(self) -> str:
        """The service and what it is asked."""
        return f"{self.base_url} {sorted(self.parameters.items())} {sorted(self.domains)}"

    @property
    def missing(self) -> str:
        """The key, when it is not in the environment."""
        return no_key(self.key_variable, f"the search service at {self.address.host}")

    async def search(self, query: str, k: int) -> Sequence[WebPage]:
        """The first ``k`` pages that may be read. Raises ToolError."""
        asked = {**self.parameters, self.query: query, self.count: str(self.n_results)}
        secret = {self.key_name: key(self.key_variable)}
        in_header = self.key_in == "header"
        reply = await self.web.get(self.address, asked if in_header else asked | secret, secret if in_header else None)
        found = []
        if reply.find(dict) is None:
            raise unavailable(self.address.host, "its answer is not a JSON object")
        for row in reply.find(list, *self.results.split(".")) or ():
            address, title = (row.get(key) for key in (self.url, self.title)) if isinstance(row, dict) else (None, None)
            if isinstance(address, str) and (url := self._allowed(address)) is not None:
                found.append((url, title if isinstance(title, str) else ""))
        return await asyncio.gather(*(self._read(url, title) for url, title in found[:k]))

    async def _read(self, url: URL, title: str) -> WebPage:
        """A page, or why it cannot be read."""
        try:
            reply = await self._follow(url)
        except ToolError as error:
            return WebPage(str(url), title or str(url), error=str(error))
        return read_page(str(url), reply.text, title)

    async def _follow(self, url: URL) -> Reply:
        """The answer of an address, or of where it redirects to. Raises ToolError."""
        for _ in range(_MOST_REDIRECTS + 1):
            reply = await replace(self.web, public_only=not self.domains).get(url, accept=REDIRECTS)
            if reply.location is None:
                return reply
            onward = self._allowed(reply.location, url)
            if onward is None:
                raise unavailable(url.host, "it redirects to where nothing may be read")
            url = onward
        raise unavailable(url.host, "it redirects too often")

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
        return url if _public(host) else None


def _public(host: str) -> bool:
    """Whether a host is a name with a dot or an address of the public network."""
    try:
        return is_public(host)
    except ValueError:
        name = host.rstrip(".")
        return "." in name and not name.endswith((".local", ".internal", ".localhost"))
