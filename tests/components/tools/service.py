"""A local server in place of a service: it answers as scripted and keeps the requests."""

import inspect
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from components.core.tools import NoState
from components.core.types import Problem


@dataclass
class At:
    """Where a tool is called."""

    state: Any = field(default_factory=NoState)
    problem: Problem = field(default_factory=lambda: Problem("p", "q"))


@dataclass
class Service:
    """``answers``: path -> JSON body, text, response, or a function of the request."""

    answers: dict[str, Any] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    url: str = ""

    @property
    def paths(self) -> list[str]:
        return [path for path, _ in self.asked]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.asked.append((request.path, dict(request.query)))
        self.headers.append(dict(request.headers))
        self.bodies.append(await request.read())
        answer = self.answers.get(request.path)
        if callable(answer):
            answer = answer(request)
        if inspect.isawaitable(answer):
            answer = await answer
        if answer is None:
            return web.json_response({"error": "no such page"}, status=404)
        if isinstance(answer, web.StreamResponse):
            return answer
        return web.Response(text=answer) if isinstance(answer, str) else web.json_response(answer)


@asynccontextmanager
async def serving(answers: dict[str, Any]):
    """The service, on a port of its own."""
    service = Service(answers)
    app = web.Application()
    app.router.add_route("*", "/{rest:.*}", service.handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    service.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield service
    finally:
        await runner.cleanup()
