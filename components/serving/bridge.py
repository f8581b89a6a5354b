"""An ASGI application, which the servers of the MCP SDK are, behind a route of aiohttp."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any

from aiohttp import web

Event = MutableMapping[str, Any]
App = Callable[[Event, Callable[[], Awaitable[Event]], Callable[[Event], Awaitable[None]]], Awaitable[None]]


def route(app: App) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    """A handler that has the application answer; its body may be a stream. An application whose client leaves is not
    cancelled: it learns that and ends by itself."""
    works = set[asyncio.Task[None]]()

    async def handle(request: web.Request) -> web.StreamResponse:
        events = [{"type": "http.request", "body": await request.read(), "more_body": False}]
        reply, gone = web.StreamResponse(), asyncio.Event()

        async def receive() -> Event:
            if events:
                return events.pop()
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(event: Event) -> None:
            with suppress(ConnectionError):  # the client has left
                await write(event)

        async def write(event: Event) -> None:
            if event["type"] == "http.response.start":
                reply.set_status(event["status"])
                for name, value in event.get("headers", ()):
                    if name.lower() != b"content-length":
                        reply.headers[name.decode("latin-1")] = value.decode("latin-1")
                await reply.prepare(request)
                return
            await reply.write(event.get("body", b""))
            if not event.get("more_body", False):
                await reply.write_eof()

        work = asyncio.ensure_future(app(_scope(request), receive, send))
        works.add(work)
        work.add_done_callback(works.discard)
        try:
            await asyncio.shield(work)
        finally:
            gone.set()
        return reply

    return handle


def _scope(request: web.Request) -> Event:
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": request.scheme,
        "path": request.path,
        "raw_path": request.raw_path.encode(),
        "root_path": "",
        "query_string": request.query_string.encode(),
        "headers": [(name.lower(), value) for name, value in request.raw_headers],
        "client": None,
        "server": None,
    }
