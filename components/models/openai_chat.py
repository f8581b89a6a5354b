"""The direct path: chat completions over a pooled aiohttp session, for every endpoint that speaks them.

Source: OpenAI's chat-completions reference. 0.1-0.2 ms CPU a call, where litellm takes 2.4-5 ms.
"""

import asyncio
import io
import json
import socket
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import orjson
from yarl import URL

from components.core.messages import Completion, Request
from components.models.prices import Price
from components.models.replies import Fault, from_status, read_reply

_LARGE = 1_000_000
_LONGEST_REPLY = 64 << 20
_HEADER_BYTES = 65_536
_NO_TIMEOUT = aiohttp.ClientTimeout(total=None, sock_connect=None)


@dataclass(eq=False)
class OpenAIChat:
    """Sends requests to one endpoint; the gateway sets the timeout. ``seeded``: send the request's seed.
    ``renames_max_tokens``: say ``max_completion_tokens``, which OpenAI's own endpoint requires and most others do not
    know. ``connections`` counts sockets opened."""

    api_base: str
    model: str
    key: str = field(default="", repr=False)
    price: Price | None = None
    seeded: bool = True
    renames_max_tokens: bool = False
    connections: int = 0
    _session: aiohttp.ClientSession | None = field(default=None, repr=False)
    _loop: asyncio.AbstractEventLoop | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self._url = URL(f"{self.api_base}/chat/completions")
        self._head = b'{"model":%s,"messages":[' % orjson.dumps(self.model)

    async def call(self, request: Request) -> Completion:
        """One attempt. Raises Fault; cancelling it closes the connection."""
        body = self.body(request)
        data = body if len(body) < _LARGE else io.BytesIO(body)
        session = self._session
        if session is None or session.closed or self._loop is not asyncio.get_running_loop():
            session = self._open()
        try:
            async with session.post(self._url, data=data, allow_redirects=False) as response:
                raw = await _read(response)
        except aiohttp.ClientPayloadError:
            raise Fault("unreadable", "the reply was cut off") from None
        except aiohttp.ClientResponseError:
            raise Fault("unreadable", "the reply is not HTTP") from None
        except (aiohttp.ClientError, OSError) as error:
            number = f", errno {error.errno}" if isinstance(error, OSError) and error.errno else ""
            what = "no connection" if isinstance(error, aiohttp.ClientConnectorError) else "the connection was lost"
            raise Fault("connection", f"{what} ({type(error).__name__}{number})") from None
        if not 200 <= response.status < 300:
            raise from_status(response.status, raw, response.headers)
        return read_reply(decode(raw), self.price)

    def body(self, request: Request) -> bytes:
        """The request as JSON, put together from parts that were encoded before."""
        parts = [self._head, b",".join([message.wire for message in request.messages]), b"]"]
        if request.tools:
            parts += (b',"tools":[', b",".join([tool.wire for tool in request.tools]), b"]")
        sampling = request.sampling.wire
        if self.renames_max_tokens and "max_tokens" in (parameters := orjson.loads(sampling)):
            parameters.setdefault("max_completion_tokens", parameters.pop("max_tokens"))
            sampling = orjson.dumps(parameters)
        if len(sampling) > 2:
            parts += (b",", sampling[1:-1])
        if self.seeded and "seed" not in request.sampling.extra:
            parts.append(b',"seed":%d' % request.seed)
        parts.append(b"}")
        return b"".join(parts)

    async def close(self) -> None:
        """Close the pool; a later call opens it again."""
        session, self._session = self._session, None
        if session is not None and self._loop is asyncio.get_running_loop():
            await session.close()

    def _open(self) -> aiohttp.ClientSession:
        headers = {"Content-Type": "application/json", "User-Agent": "wardround"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        parts = urlsplit(self.api_base)
        proxy = None if proxy_bypass(parts.hostname or "") else getproxies().get(parts.scheme)
        self._loop = asyncio.get_running_loop()

        def opened(address: aiohttp.AddrInfoType) -> socket.socket:
            made = socket.socket(address[0], address[1], address[2])
            made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)  # it notices a dead peer during a long wait
            self.connections += 1
            return made

        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, socket_factory=opened),
            timeout=_NO_TIMEOUT,
            headers=headers,
            cookie_jar=aiohttp.DummyCookieJar(),
            proxy=proxy,
            max_line_size=_HEADER_BYTES,
            max_field_size=_HEADER_BYTES,
        )
        return self._session


async def _read(response: aiohttp.ClientResponse) -> bytes:
    """The body, up to a size that no completion has. Raises Fault beyond it."""
    body = bytearray()
    async for chunk in response.content.iter_chunked(1 << 18):
        body += chunk
        if len(body) > _LONGEST_REPLY:
            limit = f"the reply is larger than {_LONGEST_REPLY >> 20} MB"
            raise Fault("too_large", f"{limit}: see what answers at model.api_base")
    return bytes(body)


def decode(raw: bytes) -> Any:
    """A reply's JSON; NaN and half surrogates, which small servers send, do not cost the reply. Raises Fault."""
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        try:
            return whole(json.loads(raw.decode("utf-8", "replace")))
        except (ValueError, RecursionError):
            raise Fault("unreadable", f"the reply of {len(raw)} bytes is not JSON") from None


def whole(value: Any) -> Any:
    """The value with half surrogates replaced, since no file could hold them."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [whole(part) for part in value]
    return {whole(key): whole(part) for key, part in value.items()} if isinstance(value, dict) else value
