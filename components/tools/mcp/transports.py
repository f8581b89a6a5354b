"""Ways to a server whose messages are bounded: the SDK bounds neither a line of a process nor a reply of HTTP.

What is known of why a connection ended is noted, since the SDK reports only that it did.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import anyio
import httpx2
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from components import programs
from components.tools.mcp.servers import Server

_MESSAGE = 8 << 20  # bytes


@dataclass
class Diagnostics:
    """``problem``: why the connection ended; ``garbage``: the first line that is no message; ``status``: of the last
    reply over HTTP that refused a message."""

    problem: str = ""
    garbage: str = ""
    status: int = 0


def connect(server: Server, diagnostics: Diagnostics) -> AbstractAsyncContextManager[Any]:
    """The streams of a connection to a server."""
    return _process(server, diagnostics) if server.command else _http(server, diagnostics)


@asynccontextmanager
async def _process(server: Server, diagnostics: Diagnostics) -> AsyncIterator[Any]:
    process = await programs.start(server.command, server.env, line_bytes=_MESSAGE)
    assert process.stdin and process.stdout and process.stderr, "they are pipes"
    kept = bytearray()
    to_session, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    sent, from_session = anyio.create_memory_object_stream[SessionMessage](0)
    tail = asyncio.create_task(programs.read_tail(process.stderr, kept))
    reading = asyncio.create_task(_read(process, to_session, kept, tail, diagnostics))
    writing = asyncio.create_task(_write(process.stdin, from_session))
    try:
        yield received, sent
    finally:
        reading.cancel()  # an end that is noted from here on is the one that is asked for
        process.stdin.close()
        try:
            await programs.stop(process, server.grace_seconds)
        finally:
            for task in (writing, tail):
                task.cancel()
            for stream in (to_session, received, sent, from_session):
                stream.close()


async def _read(
    process: asyncio.subprocess.Process, to_session: MemoryObjectSendStream[SessionMessage | Exception],
    kept: bytearray, tail: asyncio.Task[None], diagnostics: Diagnostics,
) -> None:  # fmt: skip
    """Pass messages on, until there is none: then note why before the session learns that it is over."""
    assert process.stdout is not None, "it is a pipe"
    async with to_session:
        try:
            while line := await process.stdout.readline():
                try:
                    message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                except ValueError:  # some servers print what they log
                    diagnostics.garbage = diagnostics.garbage or programs.last_line(line)
                    continue
                await to_session.send(SessionMessage(message))
        except ValueError:
            diagnostics.problem = f"sent a message of more than {_MESSAGE:,} bytes"
            return
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), 1)
            await asyncio.wait({tail}, timeout=1)
        has_ended = process.returncode is not None
        diagnostics.problem = programs.describe_end(process, kept) if has_ended else "closed its output"


async def _write(stdin: asyncio.StreamWriter, from_session: MemoryObjectReceiveStream[SessionMessage]) -> None:
    async with from_session:
        with suppress(ConnectionError, RuntimeError):  # it has ended: the reader notes how
            async for message in from_session:
                stdin.write(message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
                await stdin.drain()


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = _MESSAGE
        async for piece in self._stream:
            if (left := left - len(piece)) < 0:
                raise httpx2.ReadError(f"the reply has more than {_MESSAGE:,} bytes")
            yield piece

    async def aclose(self) -> None:
        """Close the stream below."""
        await self._stream.aclose()


@asynccontextmanager
async def _http(server: Server, diagnostics: Diagnostics) -> AsyncIterator[Any]:
    async def bound(response: httpx2.Response) -> None:
        if response.is_error and response.request.method == "POST":
            diagnostics.status = response.status_code
        if "Content-Encoding" in response.headers:  # the length of what is packed has no bound
            raise httpx2.ReadError(f"the reply is packed ({response.headers['Content-Encoding']:.20}), unasked")
        assert isinstance(response.stream, httpx2.AsyncByteStream), "it is asynchronous"
        response.stream = _BoundedStream(response.stream)

    key = os.environ.get(server.key_variable, "")
    headers = {"Accept-Encoding": "identity"} | ({"Authorization": f"Bearer {key}"} if key else {})
    async with (
        httpx2.AsyncClient(headers=headers, timeout=None, event_hooks={"response": [bound]}, trust_env=False) as client,
        streamable_http_client(str(server.url), http_client=client) as streams,
    ):
        yield streams
