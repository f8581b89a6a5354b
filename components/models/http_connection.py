"""One connection of the HTTP client: a protocol of asyncio that sends a request and reads its reply with httptools.

Sources: RFC 9110 and 9112; RFC 1950 to 1952 for compressed bodies.
"""

import asyncio
import zlib
from collections.abc import Awaitable, Mapping
from typing import Any, NamedTuple, cast

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from components.models.replies import Fault

_CLOSED = "the connection was lost (closed without a reply)"
_LONGEST_HEAD = 65_536
_MOST_MEMBERS = 16  # of a compressed body
_SLICE = 1 << 18  # bytes that are written at once


class Reply(NamedTuple):
    """A whole reply, its body decompressed."""

    status: int
    fields: Mapping[bytes, bytes]
    body: bytes

    @property
    def headers(self) -> dict[str, str]:
        """The header fields as text, their names in lower case."""
        return {name.decode("latin-1"): value.decode("latin-1") for name, value in self.fields.items()}


class Connection(asyncio.Protocol):
    """A connection, and the reply that is read from it. ``reusable``: the last request and its reply are complete, and
    the server keeps the connection open. ``lost`` ends with the connection. ``longest``: bytes of a reply's body."""

    transport: asyncio.Transport

    def __init__(self, opened: set["Connection"], loop: asyncio.AbstractEventLoop, longest: int) -> None:
        self.reusable, self._longest = False, longest
        self.lost: asyncio.Future[None] = loop.create_future()
        self._open, self._loop = opened, loop
        self._reply: asyncio.Future[Reply] = loop.create_future()
        self._reply.cancel()  # nothing was asked yet
        self._resumed: asyncio.Future[None] | None = None  # while the transport takes no more
        self._tunnel = self._writing = self._complete_head = False
        self._received = self._size = self._status = 0
        self._fields: dict[bytes, bytes] = {}
        self._parts: list[bytes] = []

    def send(self, head: bytes, body: bytes, tunnel: bool = False) -> Awaitable[Reply]:
        """Send a request. Returns its reply to wait for, of a ``tunnel`` its head. Raises Fault, the reply too."""
        self.reusable, self._tunnel, self._complete_head = False, tunnel, False
        self._received = self._size = 0
        self._parts = []
        reply: asyncio.Future[Reply] = self._loop.create_future()
        self._reply = reply
        if self.transport.is_closing():
            raise Fault("connection", _CLOSED)
        if len(body) > _SLICE:
            return self._send_slices(head, memoryview(body), reply)
        self.transport.write(head + body)
        return reply

    async def _send_slices(self, head: bytes, body: memoryview, reply: Awaitable[Reply]) -> Reply:
        """Write slices between which the loop runs; stop when the server replies before it read them."""
        self._writing = True
        self.transport.write(head)
        for start in range(0, len(body), _SLICE):
            self.transport.write(body[start : start + _SLICE])
            if self._resumed:
                waiting: set[asyncio.Future[Any]] = {self._resumed, self._reply}
                await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            else:
                await asyncio.sleep(0)
            if self._reply.done():
                break
        else:
            self._writing = False
        return await reply

    def drop(self) -> None:
        """Close the connection at once."""
        self.reusable = False
        self._reply.cancel()
        self.transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by the loop, and once TLS is up behind a proxy."""
        self.transport = cast(asyncio.Transport, transport)
        self._parser = HttpResponseParser(self)
        self._open.add(self)

    def data_received(self, data: bytes) -> None:
        """Called by the transport."""
        if self._reply.done():
            self.drop()
            return
        self._received += len(data)
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade):
            self._fail("unreadable", "the reply was cut off" if self._complete_head else "the reply is not HTTP")
        if self._size > self._longest:
            self._refuse_size()
        elif self._received - self._size > _LONGEST_HEAD + 16 * self._size:  # a chunk of one byte takes six
            self._fail("unreadable", "the reply is not HTTP")

    def on_message_begin(self) -> None:
        """Called by the parser, as the following."""
        self._fields, self._complete_head = {}, False
        if self._reply.done():
            self.reusable = False  # a reply to no request

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a field of the head, or after the body."""
        self._fields[name.lower()] = value

    def on_headers_complete(self) -> None:
        """The head is complete: of a reply, or of one that only announces it (status 1xx)."""
        self._status = self._parser.get_status_code()
        self._complete_head = self._status >= 200
        if self._tunnel and self._complete_head:
            self._finish(reusable=False)

    def on_body(self, part: bytes) -> None:
        """Keep a part of the body."""
        self._parts.append(part)
        self._size += len(part)

    def on_message_complete(self) -> None:
        """The reply is complete."""
        if self._complete_head:
            self._finish(self._parser.should_keep_alive() and not self._writing)

    def pause_writing(self) -> None:
        """Called by the transport when it takes no more."""
        self._resumed = self._loop.create_future()

    def resume_writing(self) -> None:
        """Called by the transport when it takes more."""
        if self._resumed and not self._resumed.done():
            self._resumed.set_result(None)
        self._resumed = None

    def connection_lost(self, error: Exception | None) -> None:
        """Called by the transport."""
        self._open.discard(self)
        self.lost.set_result(None)
        chunked = b"chunked" in self._fields.get(b"transfer-encoding", b"").lower()
        if not self._complete_head:
            self._fail("connection", f"the connection was lost ({describe(error)})" if error else _CLOSED)
        elif error is None and not chunked and b"content-length" not in self._fields:
            self._finish(reusable=False)  # the end of the connection is the end of the body
        else:
            self._fail("unreadable", "the reply was cut off")

    def _finish(self, reusable: bool) -> None:
        if self._reply.done():
            return
        try:
            body = _decompressed(
                b"".join(self._parts), self._fields.get(b"content-encoding", b"").lower(), self._longest
            )
        except (zlib.error, EOFError):
            self._fail("unreadable", "the reply was cut off")
            return
        if len(body) > self._longest:
            self._refuse_size()
            return
        self.reusable = reusable
        self._reply.set_result(Reply(self._status, self._fields, body))

    def _refuse_size(self) -> None:
        self._fail("too_large", f"the reply is larger than {self._longest >> 20} MB")

    def _fail(self, kind: str, text: str) -> None:
        if not self._reply.done():
            self._reply.set_exception(Fault(kind, text))
        self.transport.abort()


def _decompressed(body: bytes, encoding: bytes, longest: int) -> bytes:
    """The body, of which no more is unpacked than shows that it is too large. Raises zlib.error, EOFError."""
    if not body or encoding not in (b"gzip", b"x-gzip", b"deflate"):
        return body
    bits = -15 if encoding == b"deflate" and body[0] & 15 != 8 else 47  # some servers leave the header of zlib out
    parts, size = list[bytes](), 0
    for _ in range(_MOST_MEMBERS):
        unpacking = zlib.decompressobj(bits)
        parts.append(unpacking.decompress(body, longest + 1 - size))
        size += len(parts[-1])
        if size > longest:
            break
        if not unpacking.eof:
            raise EOFError
        if not (body := unpacking.unused_data):
            break
    else:  # a stream of more members is an attack: each copies what follows it
        raise EOFError
    return b"".join(parts)


def describe(error: Exception) -> str:
    """The class of an error, and its number; the text may hold an address."""
    number = f", errno {error.errno}" if isinstance(error, OSError) and error.errno else ""
    return f"{type(error).__name__}{number}"
