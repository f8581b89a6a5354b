"""An HTTP/1.1 client of one address: a pool of connections, each a protocol of asyncio around the parser of httptools.

Sources: RFC 9110 and 9112; RFC 8305, as aiohappyeyeballs implements it, for servers with several addresses; urllib for
the proxies of the environment. A request costs 0.06 ms of CPU, where a pooled aiohttp session takes 0.2 ms.
"""

import asyncio
import errno
import socket
import ssl
from base64 import b64encode
from collections import deque
from collections.abc import Awaitable, Mapping
from contextlib import ExitStack
from functools import cached_property
from typing import Any, cast
from urllib.parse import SplitResult, quote, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from aiohappyeyeballs import AddrInfoType, start_connection

from components.core.errors import ConfigError
from components.models.endpoints import is_address
from components.models.http_connection import Connection, Reply, describe
from components.models.replies import Fault, NothingListens

_ADDRESS_SECONDS = 10.0  # for which a name is not looked up again
_STAGGER_SECONDS = 0.25  # before the next address is tried as well
_PORTS = {"http": 80, "https": 443}
_NOTHING_THERE = (errno.ECONNREFUSED, socket.EAI_NONAME)


class HttpClient:
    """Posts to one URL. No redirect is followed and no request sent twice: a lost connection is the caller's to retry.
    ``connections`` counts sockets opened. It serves one event loop after another; close it before a loop ends.
    After ``idle_seconds`` a connection is not used again: its server may be closing it. ``longest_reply``: bytes."""

    def __init__(
        self, url: str, headers: Mapping[str, str], *, idle_seconds: float = 15.0, longest_reply: int = 8 << 20
    ) -> None:
        self.connections = 0
        self._reached = False  # whether any connection was accepted
        self._idle_seconds, self._longest_reply = idle_seconds, longest_reply
        self._url = urlsplit(url)
        server = f"{_host(self._url)}:{_port(self._url)}"
        proxy = None if proxy_bypass(server) else getproxies().get(self._url.scheme)
        self._proxy = urlsplit(proxy if "//" in proxy else f"http://{proxy}") if proxy else None
        if self._proxy and not is_address(self._proxy):
            raise ConfigError(f"the proxy of the environment for {self._url.scheme} must be http(s)://host:port")
        authority = _host(self._url) if _port(self._url) == _PORTS[self._url.scheme] else server
        query = f"?{self._url.query}" if self._url.query else ""
        target = quote(f"{self._url.path}{query}", safe="/?%:@!$&'()*+,;=~")
        fields = {"Host": authority, "Accept": "*/*", "Accept-Encoding": "gzip, deflate", **headers}
        login = _login(self._proxy)
        if self._proxy and self._url.scheme == "http":
            target, fields = f"http://{authority}{target}", fields | login
        self._head = _lines(f"POST {target} HTTP/1.1", fields) + b"Content-Length: "
        self._tunnel = _lines(f"CONNECT {server} HTTP/1.1", {"Host": server, **login}) + b"\r\n"
        self._begin(None)

    def _begin(self, loop: asyncio.AbstractEventLoop | None) -> None:
        """Start on a loop without connections."""
        self._loop = loop
        self._idle: deque[tuple[float, Connection]] = deque()
        self._open: set[Connection] = set()
        self._addresses: asyncio.Future[list[AddrInfoType]] | None = None
        self._known_until = 0.0

    async def post(self, body: bytes) -> Reply:
        """The reply to one request. Raises Fault; cancelling it closes the connection."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._begin(loop)
        connection = self._take(loop.time()) or await self._connect(loop)
        try:
            return await connection.send(b"%s%d\r\n\r\n" % (self._head, len(body)), body)
        finally:
            if connection.reusable and connection in self._open:  # it is not where the client was closed meanwhile
                self._idle.append((loop.time(), connection))
            else:
                connection.drop()

    async def close(self) -> None:
        """Close all connections; a later request opens new ones."""
        connections = list(self._open)
        if self._loop is asyncio.get_running_loop() and connections:
            for connection in connections:
                connection.transport.abort()
            await asyncio.wait([connection.lost for connection in connections], timeout=1.0)
        self._begin(None)

    def _take(self, now: float) -> Connection | None:
        """The connection that was used last and is still open. What was idle for too long is closed."""
        while self._idle and self._idle[0][0] < now - self._idle_seconds:
            self._idle.popleft()[1].drop()
        while self._idle:
            connection = self._idle.pop()[1]
            if not connection.transport.is_closing():
                return connection
        return None

    async def _connect(self, loop: asyncio.AbstractEventLoop) -> Connection:
        """Open a connection, through the proxy if there is one. Raises Fault."""
        first = self._proxy or self._url
        connection = Connection(self._open, loop, self._longest_reply)
        tls: dict[str, Any] = {}
        try:
            if first.scheme == "https":
                tls = {"ssl": self._secure, "server_hostname": first.hostname}
            opened = await start_connection(
                await self._look_up(loop, first), happy_eyeballs_delay=_STAGGER_SECONDS, interleave=1,
                socket_factory=self._socket,
            )  # fmt: skip
            with ExitStack() as undo:
                undo.callback(opened.close)
                await loop.create_connection(lambda: connection, sock=opened, **tls)
                undo.pop_all()
            self._reached = True
            if self._proxy and self._url.scheme == "https":
                await self._open_tunnel(loop, connection)
        except ssl.SSLCertVerificationError as error:
            raise Fault("certificate", f"its certificate is not accepted ({error.verify_message})") from None
        except OSError as error:
            to = " to the proxy of the environment" if self._proxy and _is_nobody_there(error) else ""
            fault = NothingListens if _is_nobody_there(error) and not (self._proxy or self._reached) else Fault
            raise fault("connection", f"no connection{to} ({describe(error)})") from None
        except UnicodeError as error:  # the name of a host is encoded
            raise Fault("connection", f"no connection ({describe(error)})") from None
        return connection

    async def _open_tunnel(self, loop: asyncio.AbstractEventLoop, connection: Connection) -> None:
        """Have the proxy connect to the server, and start TLS with it. Raises Fault, OSError."""
        with ExitStack() as undo:  # before TLS is up, the protocol may not hear of the end
            undo.callback(self._open.discard, connection)
            undo.callback(connection.drop)
            status = (await connection.send(self._tunnel, b"", tunnel=True)).status
            if status != 200:
                kind = "connection" if status >= 500 else "auth"
                raise Fault(kind, f"no connection (the proxy of the environment replied HTTP {status})")
            outer, name = connection.transport, self._url.hostname
            secured = await loop.start_tls(outer, connection, self._secure, server_hostname=name)
            if secured is None:
                raise ConnectionResetError
            connection.connection_made(secured)
            undo.pop_all()

    async def _look_up(self, loop: asyncio.AbstractEventLoop, url: SplitResult) -> list[AddrInfoType]:
        """The addresses of a server, for all connections that are opened within some seconds. Raises OSError."""
        if self._addresses is None or self._known_until < loop.time():
            found = loop.getaddrinfo(url.hostname, _port(url), type=socket.SOCK_STREAM)
            self._addresses = asyncio.ensure_future(cast(Awaitable[list[AddrInfoType]], found))
            self._known_until = loop.time() + _ADDRESS_SECONDS
        try:
            return await asyncio.shield(self._addresses)
        except OSError:
            self._addresses = None
            raise

    def _socket(self, address: AddrInfoType) -> socket.socket:
        opened = socket.socket(address[0], address[1], address[2])
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)  # it notices a dead peer during a long wait
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.connections += 1
        return opened

    @cached_property
    def _secure(self) -> ssl.SSLContext:
        """What verifies servers: the system's certificates, or those of SSL_CERT_FILE."""
        context = ssl.create_default_context()
        context.set_alpn_protocols(["http/1.1"])
        return context


def _is_nobody_there(error: OSError) -> bool:
    """Whether nothing listens at the address, or at one of several, or nobody knows its name."""
    return error.errno in _NOTHING_THERE or (error.errno is None and f"[Errno {errno.ECONNREFUSED}]" in str(error))


def _lines(first: str, fields: Mapping[str, str]) -> bytes:
    return "".join([first, "\r\n", *(f"{name}: {value}\r\n" for name, value in fields.items())]).encode("latin-1")


def _host(url: SplitResult) -> str:
    """The host as the network spells it: ASCII, an IPv6 address in brackets."""
    name = (url.hostname or "").encode("idna").decode()
    return f"[{name}]" if ":" in name else name


def _port(url: SplitResult) -> int:
    return url.port or _PORTS[url.scheme]


def _login(proxy: SplitResult | None) -> dict[str, str]:
    """What a proxy is sent when its address holds a user's name."""
    if proxy is None or proxy.username is None:
        return {}
    user = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": f"Basic {b64encode(user.encode()).decode()}"}
