"""The simulated model as an OpenAI-compatible HTTP endpoint with fault injection; the command is ``runner.serve``.

For rehearsals, load tests and tests of the real path; ``GET /stats`` shows what it has seen.
"""

import asyncio
import sys
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any, Protocol

import orjson
from aiohttp import web
from aiohttp.typedefs import Handler

from components.core.messages import JSON, SIMULATED, Completion
from components.models.simulated import Simulated, chat_api, responses_api
from components.models.simulated.chat_api import ChatRequest


class Unreadable(Exception):
    """The body of a request is not one of the API's."""


class Api(Protocol):
    """How an API's requests and replies look (modules chat_api, responses_api)."""

    def read(self, body: Any, /) -> ChatRequest:
        """The request in a body. Raises ValueError, KeyError, TypeError or AttributeError for one that is not valid."""

    def write(self, completion: Completion, number: int, model: str, created: int, /) -> dict[str, Any]:
        """The whole reply; ``created`` in seconds since 1970."""

    def write_events(self, reply: JSON, usage: bool, /) -> Iterator[bytes]:
        """The whole reply as server-sent events."""


_APIS: Mapping[str, Api] = {"/v1/chat/completions": chat_api, "/v1/responses": responses_api}


def read_request(raw: bytes, api: Api = chat_api) -> ChatRequest:
    """The request in a body, its parts with their digests. Raises Unreadable; later failures are the server's."""
    try:
        return api.read(orjson.loads(raw))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Unreadable(str(error)) from None


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
    """One endpoint. ``latency`` seconds are added to good replies; prompts above ``context_tokens`` are refused, and so
    are other models than ``names``, by default the model's own."""

    model: Simulated
    faults: Faults = field(default_factory=Faults)
    latency: float = 0.0
    context_tokens: int | None = None
    names: Collection[str] = ()
    seen: Counter[str] = field(default_factory=Counter)
    in_flight: int = 0

    def __post_init__(self) -> None:
        self.names = self.names or (self.model.name,)
        self._random = Random(self.faults.seed)
        self._runner: web.AppRunner | None = None

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> str:
        """Listen. Returns the base URL to give as ``model.api_base``; port 0 picks a free one."""

        async def models(request: web.Request) -> web.Response:
            listed = [{"id": name, "object": "model", "created": 0, "owned_by": "wardround"} for name in self.names]
            if (name := request.match_info.get("name")) is None:
                return web.json_response({"object": "list", "data": listed})
            return next((web.json_response(one) for one in listed if one["id"] == name), self._unknown(name))

        async def stats(_: web.Request) -> web.Response:
            return web.json_response(dict(self.seen) | {"in_flight": self.in_flight})

        app = web.Application(client_max_size=64 << 20, middlewares=[_explain_refusal])
        for path in _APIS:
            app.router.add_post(path, self._complete)
        app.router.add_get("/v1/models", models)
        app.router.add_get("/v1/models/{name:.+}", models)
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
            chat = read_request(await request.read(), _APIS[request.path])
            if chat.model and chat.model not in self.names:
                return self._unknown(chat.model)
            bad = await self._fault(request)
            return await self._answer(chat, request) if bad is None else bad
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

    async def _answer(self, chat: ChatRequest, request: web.Request) -> web.StreamResponse:
        started, api = time.monotonic(), _APIS[request.path]
        seed = chat.seed ^ self.model.seed
        completion = self.model.core.reply(chat.messages, chat.tools, seed, chat.logprobs)
        sent = completion.usage.input_tokens or 0
        if self.context_tokens is not None and sent > self.context_tokens:
            self.seen["too_long"] += 1
            limit = f"This model's maximum context length is {self.context_tokens} tokens"
            return _error(400, f"{limit}. However, the prompt has {sent}.", "BadRequestError")
        if self.latency:
            await asyncio.sleep(max(0.0, self.latency - (time.monotonic() - started)))
        self.seen["answered"] += 1
        name = f"{SIMULATED}{chat.model or self.model.name}"
        reply = api.write(completion, self.seen["answered"], name, int(time.time()))
        if not chat.stream:
            return web.Response(body=orjson.dumps(reply), content_type="application/json")
        stream = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-cache"})
        await stream.prepare(request)
        for event in api.write_events(reply, chat.usage_in_stream):
            await stream.write(event)
        return stream

    def _unknown(self, name: str) -> web.Response:
        self.seen["unknown_model"] += 1
        text = f"The model `{name}` does not exist; this server has {', '.join(self.names)}"
        return _error(404, text, "invalid_request_error", "model_not_found")


@web.middleware
async def _explain_refusal(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Report unknown paths, wrong methods and bodies that are too large in the API's form."""
    try:
        return await handler(request)
    except web.HTTPClientError as error:
        return _error(error.status, f"{error.reason}: {request.method} {request.path}", "invalid_request_error")


def _error(status: int, text: str, kind: str, code: str | int | None = None) -> web.Response:
    body = orjson.dumps({"error": {"message": text, "type": kind, "param": None, "code": code or status}})
    return web.Response(status=status, body=body, content_type="application/json")


if __name__ == "__main__":
    sys.exit("error: this command is now python -m runner.serve, with dataset=NAME in place of --dataset NAME")
