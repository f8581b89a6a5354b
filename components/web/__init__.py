"""How tools reach services: one small HTTP client for every adapter.

Failures are ToolErrors (``Unavailable``) that name the host and the reason, never the address with its parameters:
these may hold keys.
"""

import asyncio
import ipaddress
import os
import random
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Annotated, Any, ClassVar, TypeVar

import aiohttp
import orjson
from aiohttp.helpers import get_env_proxy_for_url
from annotated_types import Ge, Gt
from yarl import URL

from components.core.errors import ConfigError, ToolError
from components.core.tools import Effect

T = TypeVar("T")
Texts = Mapping[str, str]

_PASSING = frozenset((429, 500, 502, 503, 504))
REDIRECTS = frozenset((301, 302, 303, 307, 308))
_CHUNK = 1 << 16
_TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")


def is_public(address: str) -> bool:
    """Whether an address is one of the public network; those that carry an old address inside are judged by it."""
    ip = ipaddress.ip_address(address)
    if isinstance(ip, ipaddress.IPv6Address):
        if ip in _TRANSLATED:
            return ipaddress.ip_address(int(ip) & 0xFFFFFFFF).is_global
        return (ip.ipv4_mapped or ip).is_global
    return ip.is_global


class _PublicResolver(aiohttp.ThreadedResolver):
    """Finds the addresses of a name, without those that are not public."""

    async def resolve(self, *args: Any, **kwargs: Any) -> Any:
        """The public addresses of a name. Raises OSError when there is none."""
        addresses = [one for one in await super().resolve(*args, **kwargs) if is_public(one["host"])]
        if not addresses:
            raise OSError("no public address")
        return addresses


@dataclass(frozen=True)
class Reply:
    """What a service answered. ``location`` is where it redirects to, if it does; ``kind`` its content type."""

    url: URL
    status: int
    body: bytes
    charset: str = "utf-8"
    location: str | None = None
    wait_seconds: float | None = None
    kind: str = ""

    @property
    def text(self) -> str:
        """The body as text; what cannot be decoded is replaced."""
        try:
            return self.body.decode(self.charset, "replace")
        except LookupError:
            return self.body.decode("utf-8", "replace")

    def find(self, kind: type[T], *path: str | int) -> T | None:
        """The value at a path of the JSON body; None where there is none of this kind. Raises ToolError."""
        try:
            value = orjson.loads(self.body)
        except ValueError:
            raise Unavailable(self.url.host, "its answer is not JSON") from None
        try:
            for step in path:
                value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
        return value if isinstance(value, kind) else None


class Unavailable(ToolError):
    """A service does not serve: ``why``."""

    def __init__(self, host: str | None, why: str) -> None:
        super().__init__(f"The service at {host} is unavailable: {why}.", "unavailable")
        self.why = why


def address(url: str, key: str) -> URL:
    """The address of a service. Raises ConfigError that begins with the key."""
    with suppress(ValueError):
        if (parsed := URL(url)).scheme in ("http", "https") and parsed.host:
            return parsed
    raise ConfigError(f"{key}: found {url!r}, should be like https://host/path")


def base(url: str) -> URL:
    """The address of a service, without a slash at its end. Raises ConfigError for another text."""
    with suppress(ConfigError):
        if not ((parsed := address(url.rstrip("/"), "base_url")).user or parsed.query_string):
            return parsed
    raise ConfigError(f"base_url must be like https://host/path, without user and parameters; found {url!r}")


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
        self, url: URL, parameters: Texts | None = None, headers: Texts | None = None, accept: Collection[int] = ()
    ) -> Reply:
        """Get a page: status 2xx or one in ``accept``. Raises ToolError."""
        return await self._ask("GET", url.update_query(parameters or {}), headers or {}, None, accept)

    async def post(self, url: URL, body: object, headers: Texts) -> Reply:
        """Send JSON and read the answer: status 2xx. Raises ToolError."""
        return await self._ask("POST", url, {"Content-Type": "application/json", **headers}, orjson.dumps(body), ())

    async def post_once(self, url: URL, body: bytes, headers: Texts, accept: Collection[int] = range(600)) -> Reply:
        """Send what must not be sent twice, in one attempt: any status, or 2xx and those in ``accept``. Raises
        ToolError."""
        return await replace(self, retries=0)._ask("POST", url, headers, body, accept)

    async def _ask(self, method: str, url: URL, headers: Texts, body: bytes | None, accept: Collection[int]) -> Reply:
        timeout = aiohttp.ClientTimeout(total=self.timeout_seconds)
        connector = aiohttp.TCPConnector(resolver=_PublicResolver()) if self.public_only else None
        async with aiohttp.ClientSession(
            connector=connector, timeout=timeout, headers={"User-Agent": "wardround"},
            cookie_jar=aiohttp.DummyCookieJar(),  # trust_env would also send passwords of ~/.netrc
        ) as session:  # fmt: skip
            for attempt in range(self.retries + 1):
                wait = random.uniform(0, min(self.longest_wait_seconds, self.first_wait_seconds * 2.0**attempt))
                passing = True
                try:
                    reply = await self._once(session, method, url, headers, body)
                    if 200 <= reply.status < 300 or reply.status in accept:
                        return reply
                    why = f"it answered with status {reply.status}"
                    if reply.status in (401, 403):
                        why = f"it refused access (status {reply.status}); its key may be wrong"
                    passing = reply.status in _PASSING
                    wait = wait if reply.wait_seconds is None else min(reply.wait_seconds, self.longest_wait_seconds)
                except TimeoutError:
                    why = f"no answer within {self.timeout_seconds:g} s"
                except (aiohttp.ClientError, OSError) as error:  # its text may hold the address
                    cause = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
                    why = f"{'the connection failed' if cause is error else 'no connection'} ({type(cause).__name__})"
                    passing = not isinstance(error, aiohttp.InvalidURL)
                if not passing:
                    break
                if attempt < self.retries:
                    await asyncio.sleep(wait)
        raise Unavailable(url.host, why)

    async def _once(
        self, session: aiohttp.ClientSession, method: str, url: URL, headers: Texts, body: bytes | None
    ) -> Reply:
        """One attempt. Raises ToolError for a reply that is too large."""
        proxy: dict[str, Any] = {}
        with suppress(LookupError):  # the environment has none for this address
            proxy["proxy"], proxy["proxy_auth"] = get_env_proxy_for_url(url)
        async with session.request(method, url, data=body, headers=headers, allow_redirects=False, **proxy) as response:
            content = bytearray()
            async for chunk in response.content.iter_chunked(_CHUNK):
                content += chunk
                if len(content) > self.longest_reply_bytes:
                    raise Unavailable(url.host, f"its answer is larger than {self.longest_reply_bytes:,} bytes")
            location = response.headers.get("Location") if response.status in REDIRECTS else None
            after = response.headers.get("Retry-After", "")
            wait = float(after) if after.isdecimal() else None
            charset, kind = response.charset or "utf-8", response.content_type
            return Reply(url, response.status, bytes(content), charset, location, wait, kind)


@dataclass(frozen=True)
class KeyedService:
    """A service that answers for a tool, and takes the key in ``key_variable``. Raises ConfigError for another
    ``base_url`` than http(s)://host/path. ``identified`` says what its answers depend on, with its fields in braces:
    ``{0.base_url}``; where it needs a key, ``label`` is its name in messages."""

    base_url: str
    _: KW_ONLY
    web: Web = field(default_factory=Web)
    key_variable: str | None = None
    identified: ClassVar[str]
    effect: ClassVar[Effect] = "external"
    label: ClassVar[str] = ""

    def __post_init__(self) -> None:
        base(self.base_url)

    @property
    def address(self) -> URL:
        """The address, without a slash at its end."""
        return base(self.base_url)

    @property
    def identity(self) -> str:
        """What its answers depend on."""
        return self.identified.format(self)

    @property
    def key(self) -> str:
        """The key; empty without one."""
        return os.environ.get(self.key_variable or "", "").strip()

    @property
    def missing(self) -> str:
        """The key, when it is needed and not in the environment."""
        if not self.label or self.key_variable is None or self.key:
            return ""
        label = self.label.format(self)
        return f"{label} needs a key in the environment variable {self.key_variable}, which is not set"
