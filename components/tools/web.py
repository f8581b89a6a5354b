"""How tools reach services: one small HTTP client for every adapter.

Failures are ToolErrors "unavailable" that name the host and the reason, never the address with its parameters: these
may hold keys.
"""

import asyncio
import ipaddress
import os
import random
from collections.abc import Collection, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Annotated, Any, ClassVar, TypeVar

import aiohttp
import orjson
from annotated_types import Ge, Gt
from yarl import URL

from components.core.errors import ConfigError, ToolError
from components.core.tools import Effect

T = TypeVar("T")

_PASSING = frozenset((429, 500, 502, 503, 504))
REDIRECTS = frozenset((301, 302, 303, 307, 308))
_REFUSED = frozenset((401, 403))
_CHUNK = 1 << 16
_TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")


def is_public(address: str) -> bool:
    """Whether an address is one of the public network; those that carry an old address inside are judged by it."""
    found = ipaddress.ip_address(address)
    if isinstance(found, ipaddress.IPv6Address):
        if found in _TRANSLATED:
            return ipaddress.ip_address(int(found) & 0xFFFFFFFF).is_global
        return (found.ipv4_mapped or found).is_global
    return found.is_global


class _PublicResolver(aiohttp.ThreadedResolver):
    """Finds the addresses of a name, without those that are not public."""

    async def resolve(self, *args: Any, **kwargs: Any) -> Any:
        """The public addresses of a name. Raises OSError when there is none."""
        found = [one for one in await super().resolve(*args, **kwargs) if is_public(one["host"])]
        if not found:
            raise OSError("no public address")
        return found


@dataclass(frozen=True)
class Reply:
    """What a service answered. ``location`` is where it redirects to, if it does."""

    url: URL
    status: int
    body: bytes
    charset: str = "utf-8"
    location: str | None = None
    wait_seconds: float | None = None

    @property
    def text(self) -> str:
        """The body as text; what cannot be decoded is replaced."""
        try:
            return self.body.decode(self.charset, "replace")
        except LookupError:
            return self.body.decode("utf-8", "replace")

    def find(self, kind: type[T], *path: str | int) -> T | None:
        """The value at a path of the JSON body; None where there is none of this kind. Raises ToolError."""
        value = self.json()
        try:
            for step in path:
                value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
        return value if isinstance(value, kind) else None

    def json(self) -> Any:
        """The body as JSON. Raises ToolError."""
        try:
            return orjson.loads(self.body)
        except ValueError:
            raise unavailable(self.url.host, "its answer is not JSON") from None


def unavailable(host: str | None, why: str) -> ToolError:
    """The error of a service that does not serve."""
    return ToolError(f"The service at {host} is unavailable: {why}.", "unavailable")


def base(url: str) -> URL:
    """The address of a service, without a slash at its end. Raises ConfigError for another text."""
    try:
        found = URL(url.rstrip("/"))
    except ValueError:
        found = URL()
    if found.scheme not in ("http", "https") or not found.host or found.user or found.query_string:
        raise ConfigError(f"base_url must be like https://host/path, without user and parameters; found {url!r}")
    return found


def key(variable: str) -> str:
    """The key in an environment variable; empty without one."""
    return os.environ.get(variable, "").strip()


def no_key(variable: str, service: str) -> str:
    """What is missing when a service's key is not in the environment; empty when it is."""
    return "" if key(variable) else f"{service} needs a key in the environment variable {variable}, which is not set"


@dataclass(frozen=True)
class Web:
    """The HTTP client: how long, how often and how much is asked of a service.

    ``timeout_seconds`` is for each attempt; ``retries`` more attempts follow what can pass (statuses 429 and 5xx,
    lost connections, timeouts), after random waits whose bound doubles from ``first_wait_seconds`` to
    ``longest_wait_seconds``. Redirects are not followed: a key could go with them. ``public_only``: names that
    lead to this machine or its network are not asked.
    """

    timeout_seconds: Annotated[float, Gt(0)] = 20.0
    retries: Annotated[int, Ge(0)] = 3
    first_wait_seconds: Annotated[float, Ge(0)] = 0.5
    longest_wait_seconds: Annotated[float, Ge(0)] = 10.0
    longest_reply_bytes: Annotated[int, Ge(1)] = 8 << 20
    public_only: bool = False

    async def get(
        self,
        url: URL,
        parameters: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        accept: Collection[int] = (),
    ) -> Reply:
        """Get a page: status 2xx or one in ``accept``. Raises ToolError."""
        return await self._ask("GET", url.update_query(parameters or {}), headers or {}, None, accept)

    async def post(self, url: URL, body: object, headers: Mapping[str, str] | None = None) -> Reply:
        """Send JSON and read the answer: status 2xx. Raises ToolError."""
        sent = {"Content-Type": "application/json", **(headers or {})}
        return await self._ask("POST", url, sent, orjson.dumps(body), ())

    async def _ask(
        self, method: str, url: URL, headers: Mapping[str, str], body: bytes | None, accept: Collection[int]
    ) -> Reply:
        """One request with its retries."""
        timeout = aiohttp.ClientTimeout(total=self.timeout_seconds)
        connector = aiohttp.TCPConnector(resolver=_PublicResolver()) if self.public_only else None
        async with aiohttp.ClientSession(
            connector=connector, timeout=timeout, headers={"User-Agent": "wardround"},
            cookie_jar=aiohttp.DummyCookieJar(), trust_env=True,
        ) as session:  # fmt: skip
            for attempt in range(self.retries + 1):
                wait = None
                try:
                    reply = await self._once(session, method, url, headers, body)
                except (aiohttp.ClientError, OSError) as error:
                    why = self._reason(error)
                    if isinstance(error, aiohttp.InvalidURL):
                        break
                else:
                    if 200 <= reply.status < 300 or reply.status in accept:
                        return reply
                    why, wait = _status(reply.status), reply.wait_seconds
                    if reply.status not in _PASSING:
                        break
                if attempt < self.retries:
                    await asyncio.sleep(self._wait(attempt, wait))
        raise unavailable(url.host, why)

    async def _once(
        self, session: aiohttp.ClientSession, method: str, url: URL, headers: Mapping[str, str], body: bytes | None
    ) -> Reply:
        """One attempt. Raises ToolError for a reply that is too large."""
        async with session.request(method, url, data=body, headers=headers, allow_redirects=False) as response:
            chunks, size = [], 0
            async for chunk in response.content.iter_chunked(_CHUNK):
                chunks.append(chunk)
                size += len(chunk)
                if size > self.longest_reply_bytes:
                    raise unavailable(url.host, f"its answer is larger than {self.longest_reply_bytes:,} bytes")
            location = response.headers.get("Location") if response.status in REDIRECTS else None
            after = response.headers.get("Retry-After", "")
            wait = float(after) if after.isdecimal() else None
            return Reply(url, response.status, b"".join(chunks), response.charset or "utf-8", location, wait)

    def _wait(self, attempt: int, asked: float | None) -> float:
        """Seconds until the next attempt: what the service asked for, within bounds, or a random backoff."""
        if asked is not None:
            return min(asked, self.longest_wait_seconds)
        return random.uniform(0, min(self.longest_wait_seconds, self.first_wait_seconds * 2.0**attempt))

    def _reason(self, error: Exception) -> str:
        """Why there was no reply, without the library's text, which may hold the address."""
        if isinstance(error, TimeoutError):
            return f"no answer within {self.timeout_seconds:g} s"
        if isinstance(error, aiohttp.ClientConnectorError):
            return "no connection"
        return f"the connection failed ({type(error).__name__})"


def _status(status: int) -> str:
    """The meaning of an error status, for the model."""
    if status in _REFUSED:
        return f"it refused access (status {status}); its key may be wrong"
    return f"it answered with status {status}"


@dataclass(frozen=True)
class Service:
    """A service that answers for a tool. Raises ConfigError for another ``base_url`` than http(s)://host/path."""

    base_url: str
    _: KW_ONLY
    web: Web = field(default_factory=Web)
    effect: ClassVar[Effect] = "external"

    def __post_init__(self) -> None:
        base(self.base_url)

    @property
    def address(self) -> URL:
        """The address, without a slash at its end."""
        return base(self.base_url)

    @property
    def missing(self) -> str:
        """Nothing, where the service answers without a key."""
        return ""
