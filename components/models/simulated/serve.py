"""The simulated model as an OpenAI-compatible HTTP endpoint with fault injection; the command is ``runner.serve``.

For rehearsals, load tests and tests of the real path; ``GET /stats`` shows what it has seen.
"""

import asyncio
import sys
import time
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from random import Random

from aiohttp import web

from components.core.messages import SIMULATED
from components.models.simulated import Simulated
from components.serving import endpoint
from components.serving.chat_api import ChatRequest


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

        async def stats(_: web.Request) -> web.Response:
            return web.json_response(dict(self.seen) | {"in_flight": self.in_flight})

        app = endpoint.application(self.names, self._complete)
        app.router.add_get("/stats", stats)
        self._runner, url = await endpoint.listen(app, host, port)
        return f"{url}/v1"

    async def stop(self) -> None:
        """Stop listening and drop what is open."""
        if self._runner is not None:
            await self._runner.cleanup()

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        self.seen["requests"] += 1
        self.in_flight += 1
        self.seen["most_in_flight"] = max(self.seen["most_in_flight"], self.in_flight)
        try:
            chat = await endpoint.read(request)
            if chat.model and chat.model not in self.names:
                self.seen["unknown_model"] += 1
                return endpoint.unknown_model(chat.model, self.names)
            bad = await self._fault(request)
            return await self._answer(chat, request) if bad is None else bad
        except endpoint.Unreadable:
            self.seen["bad_requests"] += 1
            raise
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
                reply = endpoint.refusal(429, "too many requests", "rate_limit_error")
                reply.headers["Retry-After"] = f"{faults.retry_after:g}"
                return reply
            case "status_500":
                return endpoint.refusal(500, "internal error", "server_error")
            case "malformed":
                return web.Response(body=b'{"choices": [{"message": {"role": "assis', content_type="application/json")
            case "stalls":
                await asyncio.sleep(faults.stall_seconds)
        if request.transport is not None:
            request.transport.abort()
        return web.Response(status=500)

    async def _answer(self, chat: ChatRequest, request: web.Request) -> web.StreamResponse:
        started = time.monotonic()
        seed = chat.seed ^ self.model.seed
        completion = self.model.core.reply(chat.messages, chat.tools, seed, chat.logprobs)
        sent = completion.usage.input_tokens or 0
        if self.context_tokens is not None and sent > self.context_tokens:
            self.seen["too_long"] += 1
            limit = f"This model's maximum context length is {self.context_tokens} tokens"
            return endpoint.refusal(400, f"{limit}. However, the prompt has {sent}.", "BadRequestError")
        if self.latency:
            await asyncio.sleep(max(0.0, self.latency - (time.monotonic() - started)))
        self.seen["answered"] += 1
        name = f"{SIMULATED}{chat.model or self.model.name}"
        return await endpoint.write(request, chat, completion, self.seen["answered"], name)


if __name__ == "__main__":
    sys.exit("error: this command is now python -m runner.serve, with dataset=NAME in place of --dataset NAME")
