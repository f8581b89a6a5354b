"""The simulated core as an OpenAI-compatible HTTP endpoint with fault injection.

``python -m components.models.simulated.serve --dataset radabench_mini --port 8000 --latency 0.1 --status-429 0.1``
For rehearsals, load tests and tests of the real path; ``GET /stats`` tells what it has seen.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from random import Random
from typing import Any

import orjson
import yaml
from aiohttp import web

from components.core.errors import ConfigError
from components.core.messages import SIMULATED
from components.models.simulated import Simulated
from components.models.simulated.key import dataset_samples
from components.models.simulated.wire import Unreadable, asked_in, body_of

RATES = (
    "competence", "planning_slip_rate", "wrong_tool_rate", "malformed_rate", "ignored_refusal_rate",
    "second_choice_rate",
)  # fmt: skip


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
    """One endpoint. ``latency`` seconds are added to every good reply; ``seen`` counts what came and went. A prompt of
    more than ``context_tokens`` is refused."""

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
        app = web.Application(client_max_size=64 << 20)
        app.router.add_post("/v1/chat/completions", self._complete)
        app.router.add_get("/v1/models", self._models)
        app.router.add_get("/stats", self._stats)
        self._runner = web.AppRunner(app, access_log=None, handler_cancellation=True)
        await self._runner.setup()
        site = web.TCPSite(self._runner, host, port, backlog=4096)
        await site.start()
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
            body = body_of(await request.read())
            bad = await self._fault(request)
            return bad if bad is not None else await self._answer(body)
        except Unreadable as error:
            self.seen["bad_requests"] += 1
            return _error(400, f"unreadable request: {error}", "invalid_request_error")
        finally:
            self.in_flight -= 1

    async def _fault(self, request: web.Request) -> web.StreamResponse | None:
        """Maybe misbehave."""
        faults, draw = self.faults, self._random.random()
        for kind in ("status_429", "status_500", "resets", "stalls", "malformed"):
            share = getattr(faults, kind)
            if draw < share:
                self.seen[kind] += 1
                break
            draw -= share
        else:
            return None
        match kind:
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

    async def _answer(self, body: Mapping[str, Any]) -> web.Response:
        started, asked = time.monotonic(), asked_in(body)
        completion = self.model.core.reply(asked.messages, asked.tools, asked.seed ^ self.model.seed)
        message, usage = completion.message, completion.usage
        if self.context_tokens is not None and (usage.input_tokens or 0) > self.context_tokens:
            self.seen["too_long"] += 1
            limit = f"This model's maximum context length is {self.context_tokens} tokens"
            return _error(400, f"{limit}. However, the prompt has {usage.input_tokens}.", "BadRequestError")
        said: dict[str, Any] = {"role": "assistant", "content": message.content}
        if message.tool_calls:
            said["tool_calls"] = orjson.loads(message.wire)["tool_calls"]
        if self.latency:
            await asyncio.sleep(max(0.0, self.latency - (time.monotonic() - started)))
        self.seen["answered"] += 1
        reply = {
            "id": f"chatcmpl-{self.seen['answered']}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": f"{SIMULATED}{asked.model or self.model.name}",
            "choices": [{"index": 0, "message": said, "finish_reason": completion.finish}],
            "usage": {
                "prompt_tokens": usage.input_tokens,
                "completion_tokens": usage.output_tokens,
                "total_tokens": (usage.input_tokens or 0) + (usage.output_tokens or 0),
            },
        }
        return web.Response(body=orjson.dumps(reply), content_type="application/json")

    async def _models(self, request: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": self.model.name, "object": "model"}]})

    async def _stats(self, request: web.Request) -> web.Response:
        return web.json_response(dict(self.seen) | {"in_flight": self.in_flight})


def _error(status: int, text: str, kind: str) -> web.Response:
    body = orjson.dumps({"error": {"message": text, "type": kind, "code": status}})
    return web.Response(status=status, body=body, content_type="application/json")


def _arguments(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m components.models.simulated.serve",
        description="The simulated core as an OpenAI-compatible endpoint. Shares are in [0, 1], times in seconds.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--dataset", default="radabench_mini", help="dataset of the answer key, as in conf/dataset")
    told = "such as path=DIR or split=train; values are YAML"
    parser.add_argument("--dataset-arg", action="append", default=[], metavar="NAME=VALUE", help=told)
    parser.add_argument("--profile", choices=("paper", "code"), default="paper", help="profile of the dataset")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=int, default=8000, help="port; 0 picks a free one")
    parser.add_argument("--latency", type=float, default=0.0, help="time of every good reply")
    for name in RATES:
        flag, default = f"--{name.replace('_', '-')}", getattr(Simulated, name)
        parser.add_argument(flag, type=float, default=default, help="of the core")
    for name in ("status-429", "status-500", "resets", "stalls", "malformed"):
        parser.add_argument(f"--{name}", type=float, default=0.0, help="share of requests")
    parser.add_argument("--context-tokens", type=int, help="the model's window; longer prompts are refused")
    parser.add_argument("--retry-after", type=float, default=0.1, help="header of a 429")
    parser.add_argument("--stall-seconds", type=float, default=600.0, help="length of a stall")
    parser.add_argument("--seed", type=int, default=0, help="which virtual core of these rates it is")
    return parser.parse_args(argv)


def _value(name: str, text: str) -> Any:
    """A value as YAML reads it. Raises ConfigError."""
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        raise ConfigError(f"--dataset-arg {name}: {text!r} is no YAML") from None


def from_arguments(argv: Sequence[str]) -> tuple[Server, str, int]:
    """The server that a command line asks for, with host and port. Raises ConfigError."""
    given = _arguments(argv)
    pairs = {name: _value(name, value) for name, _, value in (one.partition("=") for one in given.dataset_arg)}
    model = Simulated(**{name: getattr(given, name) for name in RATES}, seed=given.seed)
    model.study(dataset_samples(given.dataset, pairs, given.profile))
    faults = Faults(**{one.name: getattr(given, one.name) for one in fields(Faults)})
    return Server(model, faults, given.latency, given.context_tokens), given.host, given.port


async def _serve(argv: Sequence[str]) -> None:
    server, host, port = from_arguments(argv)
    url = await server.start(host, port)
    sys.stdout.write(f"serving the simulated core at {url}; stop with Ctrl-C\n")
    sys.stdout.flush()
    try:
        await asyncio.Event().wait()
    finally:
        await server.stop()


def main(argv: Iterable[str] | None = None) -> int:
    """Serve until interrupted. Exit code 2 for a dataset that cannot be loaded."""
    try:
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(_serve(list(argv if argv is not None else sys.argv[1:])))
    except ConfigError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
