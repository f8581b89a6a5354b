"""The simulated model as an OpenAI-compatible HTTP endpoint with fault injection; the command is ``runner.serve``.

For rehearsals, load tests and tests of the real path; ``GET /stats`` shows what it has seen.
"""

import asyncio
import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

import orjson
from aiohttp import web

from components.core.messages import SIMULATED, Image, Message, ToolCall, ToolSpec
from components.models.simulated import Simulated


class Unreadable(Exception):
    """The body of a request is not one of the API's."""


@dataclass(frozen=True)
class ChatRequest:
    """The body of a request; ``model`` is empty where it names none."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    seed: int
    model: str


def read_request(raw: bytes) -> ChatRequest:
    """The request in a body, its parts with their digests. Raises Unreadable; later failures are the server's."""
    try:
        body = orjson.loads(raw)
        messages = tuple(_message(one) for one in body["messages"])
        functions = [one["function"] for one in body.get("tools") or ()]
        tools = tuple(
            ToolSpec(one["name"], one.get("description", ""), one.get("parameters") or {}) for one in functions
        )
        if not messages:
            raise ValueError("there are no messages")
        return ChatRequest(messages, tools, int(body.get("seed") or 0), str(body.get("model") or ""))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Unreadable(str(error)) from None


def _message(wire: Mapping[str, Any]) -> Message:
    content = wire.get("content") or ""
    if not isinstance(content, str):
        content = tuple(p["text"] if p["type"] == "text" else Image(p["image_url"]["url"]) for p in content)
    calls = tuple(
        ToolCall(c["id"], c["function"]["name"], c["function"]["arguments"]) for c in wire.get("tool_calls") or ()
    )
    return Message(wire["role"], content, calls, wire.get("tool_call_id"))


@dataclass(frozen=True)
class Faults:
    """Shares of requests, in [0, 1], that are answered badly; times in seconds."""

    status_429: float = 0.0
    status_500: float = 0.0
    resets: float = 0.0
    stalls: float = 0.0
    malformed: float = 0.0
    retry_after: float = 0.1
    stall_seconds: float = 600.0
    seed: int = 0


@dataclass
class Server:
    """One endpoint. ``latency`` seconds are added to good replies; prompts above ``context_tokens`` are refused."""

    model: Simulated
    faults: Faults = field(default_factory=Faults)
    latency: float = 0.0
    context_tokens: int | None = None
    seen: Counter[str] = field(default_factory=Counter)
    in_flight: int = 0

    def __post_init__(self) -> None:
        self._random = Random(self.faults.seed)
        self._runner: web.AppRunner | None = None

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> str:
        """Listen. Returns the base URL to give as ``model.api_base``; port 0 picks a free one."""

        async def models(_: web.Request) -> web.Response:
            return web.json_response({"object": "list", "data": [{"id": self.model.name, "object": "model"}]})

        async def stats(_: web.Request) -> web.Response:
            return web.json_response(dict(self.seen) | {"in_flight": self.in_flight})

        app = web.Application(client_max_size=64 << 20)
        app.router.add_post("/v1/chat/completions", self._complete)
        app.router.add_get("/v1/models", models)
        app.router.add_get("/stats", stats)
        self._runner = web.AppRunner(app, access_log=None, handler_cancellation=True)
        await self._runner.setup()
        await web.TCPSite(self._runner, host, port, backlog=4096).start()
        return f"http://{host}:{self._runner.addresses[0][1]}/v1"

    async def stop(self) -> None:
        """Stop listening and drop what is open."""
        if self._runner is not None:
            await self._runner.cleanup()

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        self.seen["requests"] += 1
        self.in_flight += 1
        self.seen["most_in_flight"] = max(self.seen["most_in_flight"], self.in_flight)
        try:
            chat = read_request(await request.read())
            bad = await self._fault(request)
            return await self._answer(chat) if bad is None else bad
        except Unreadable as error:
            self.seen["bad_requests"] += 1
            return _error(400, f"unreadable request: {error}", "invalid_request_error")
        finally:
            self.in_flight -= 1

    async def _fault(self, request: web.Request) -> web.StreamResponse | None:
        """Maybe misbehave."""
        faults, kinds = self.faults, ("status_429", "status_500", "resets", "stalls", "malformed")
        shares = [vars(faults)[kind] for kind in kinds]
        kind = self._random.choices([*kinds, ""], [*shares, max(0.0, 1 - sum(shares))])[0]
        if kind:
            self.seen[kind] += 1
        match kind:
            case "":
                return None
            case "status_429":
                reply = _error(429, "too many requests", "rate_limit_error")
                reply.headers["Retry-After"] = f"{faults.retry_after:g}"
                return reply
            case "status_500":
                return _error(500, "internal error", "server_error")
            case "malformed":
                return web.Response(body=b'{"choices": [{"message": {"role": "assis', content_type="application/json")
            case "stalls":
                await asyncio.sleep(faults.stall_seconds)
        if request.transport is not None:
            request.transport.abort()
        return web.Response(status=500)

    async def _answer(self, request: ChatRequest) -> web.Response:
        started = time.monotonic()
        completion = self.model.core.reply(request.messages, request.tools, request.seed ^ self.model.seed)
        message, usage = completion.message, completion.usage
        if self.context_tokens is not None and (usage.input_tokens or 0) > self.context_tokens:
            self.seen["too_long"] += 1
            limit = f"This model's maximum context length is {self.context_tokens} tokens"
            return _error(400, f"{limit}. However, the prompt has {usage.input_tokens}.", "BadRequestError")
        reply_message: dict[str, Any] = {"role": "assistant", "content": message.content}
        if message.tool_calls:
            reply_message["tool_calls"] = orjson.loads(message.wire)["tool_calls"]
        if self.latency:
            await asyncio.sleep(max(0.0, self.latency - (time.monotonic() - started)))
        self.seen["answered"] += 1
        sent, written = usage.input_tokens or 0, usage.output_tokens or 0
        reply = {
            "id": f"chatcmpl-{self.seen['answered']}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": f"{SIMULATED}{request.model or self.model.name}",
            "choices": [{"index": 0, "message": reply_message, "finish_reason": completion.finish}],
            "usage": {"prompt_tokens": sent, "completion_tokens": written, "total_tokens": sent + written},
        }
        return web.Response(body=orjson.dumps(reply), content_type="application/json")


def _error(status: int, text: str, kind: str) -> web.Response:
    body = orjson.dumps({"error": {"message": text, "type": kind, "code": status}})
    return web.Response(status=status, body=body, content_type="application/json")


if __name__ == "__main__":
    sys.exit("error: this command is now python -m runner.serve, with dataset=NAME in place of --dataset NAME")
