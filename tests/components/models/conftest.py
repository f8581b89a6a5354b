"""A local chat-completions server that answers, stalls, breaks and refuses as scripted."""

import asyncio
import json
from collections import deque
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import orjson
import pytest
from aiohttp import web

from components.core.messages import Message, Request, Sampling, ToolSpecs

GOOD = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "test-model",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12},
}


def good(message=None, **changes):
    """A well-formed reply with the given message fields and top-level changes."""
    body = json.loads(json.dumps(GOOD))
    body["choices"][0]["message"].update(message or {})
    body["choices"][0].update(changes.pop("choice", {}))
    body.update(changes)
    return {name: value for name, value in body.items() if value is not ...}


@dataclass
class ChatServer:
    """Answers with the next of ``script``, or with ``default``, after ``latency`` seconds."""

    default: dict = field(default_factory=good)
    latency: float = 0.0
    script: deque = field(default_factory=deque)
    bodies: list = field(default_factory=list)
    headers: list = field(default_factory=list)
    in_flight: int = 0
    peak: int = 0
    lost: int = 0
    url: str = ""

    def will(self, *answers):
        self.script.extend(answers)
        return self

    def replies(self, body):
        async def answer(request):
            return web.Response(body=orjson.dumps(body), content_type="application/json")

        return answer

    def raw(self, body, status=200, headers=None):
        async def answer(request):
            return web.Response(body=body, status=status, headers=headers, content_type="application/json")

        return answer

    def status(self, status, error=None, **headers):
        async def answer(request):
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            body = {"error": error if error is not None else {"message": "no", "type": "some_type", "code": None}}
            return web.json_response(body, status=status, headers=named)

        return answer

    def resets(self):
        async def answer(request):
            request.transport.abort()
            return web.Response()

        return answer

    def cuts(self):
        async def answer(request):
            response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": "500"})
            await response.prepare(request)
            await response.write(b'{"choices": [')
            request.transport.close()
            return response

        return answer

    def stalls(self, seconds=30.0):
        async def answer(request):
            await asyncio.sleep(seconds)
            return web.json_response(good())

        return answer

    async def handle(self, request):
        self.bodies.append(orjson.loads(await request.read()))
        self.headers.append(request.headers)
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        try:
            if self.latency:
                await asyncio.sleep(self.latency)
            answer = self.script.popleft() if self.script else self.replies(self.default)
            return await answer(request)
        except asyncio.CancelledError:
            self.lost += 1
            raise
        finally:
            self.in_flight -= 1


@asynccontextmanager
async def serving_chat():
    server = ChatServer()
    application = web.Application(client_max_size=64 * 2**20)
    application.router.add_post("/{path:.*}", server.handle)  # litellm asks other providers at paths of their own
    runner = web.AppRunner(application, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    try:
        yield server
    finally:
        await runner.cleanup()


@pytest.fixture
def serving():
    """The server as an async context manager, for tests that use their own event loop."""
    return serving_chat


@pytest.fixture
async def server():
    async with serving_chat() as running:
        yield running


@pytest.fixture
def reply():
    """Makes well-formed replies."""
    return good


@pytest.fixture
def ask():
    """Makes requests."""

    def make(*messages, tools=(), seed=7, **sampling):
        asked = tuple(m if isinstance(m, Message) else Message("user", m) for m in messages or ("Hi",))
        return Request(asked, ToolSpecs(tools), Sampling(**sampling), "act", "main", "s1", 0, "", 0, seed)

    return make
