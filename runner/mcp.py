"""A toolset as a Model Context Protocol server: ``python -m runner.mcp toolset=clinical dataset=cab_mini``.

Over the standard streams, or with ``--port`` over streamable HTTP. Words choose as in a run; conditions and the budget
of the run hold. The tools are opened over one sample, once for every session.
"""

from __future__ import annotations

import argparse
import asyncio
import hmac
import os
import re
import socket
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, get_args

from components.core.errors import ConfigError, LimitReached, missing_extra
from components.core.types import Observed, Privacy, Sample, Trajectory
from components.text.words import meant
from runner.config.errors import ConfigErrors, Finding
from runner.episode.budget import Budget, BudgetPool
from runner.episode.door import Door
from runner.episode.episode import Episode
from runner.episode.shared import Parts, Shared
from runner.job.prepare import prepare_words
from runner.terminal.command import Parser, exit_code_of, signals

if TYPE_CHECKING:
    from mcp.server import ServerRequestContext
    from starlette.types import ASGIApp, Receive, Scope, Send

_IDLE, _SESSIONS = 1800.0, 64  # seconds after which a session is over, and how many there may be
_LOCAL = ("127.0.0.1", "localhost", "::1")
_ID = "mcp-session-id"
_APPLIES = ("toolset", "dataset", "condition", "model", "models", "sandbox", "profile", "seed", "budget.run",
            "run.allow_targets")  # fmt: skip


class Session(Episode):
    """The tools of one session, at most ``max_calls`` calls of them, whose results it remembers. ``used``: when it was
    asked last."""

    def __init__(self, shared: Shared, max_calls: int) -> None:
        super().__init__(shared, shared.open())
        self._max_calls, self.used = max_calls, 0.0

    async def call(self, name: str, arguments: str) -> Observed:
        """Run a call. Raises LimitReached, RunLimitReached, ModelError."""
        if len(self.early) >= self._max_calls:
            raise LimitReached(f"this session has made {self._max_calls:,} calls; open another one")
        return await super().call(name, arguments)


@dataclass
class Sessions:
    """The sessions by their ids; that of the standard streams has none."""

    parts: Parts
    door: Door
    sample: Sample
    n_tools: int
    max_calls: int = 2000
    _open: dict[str, Session] = field(default_factory=dict)

    def of(self, context: ServerRequestContext[Any]) -> Session:
        """The session of a request, opened with its first one. Raises MCPError for one over HTTP that names none."""
        from mcp.shared.exceptions import MCPError
        from mcp_types import INVALID_REQUEST

        name = "" if context.request is None else context.request.headers.get(_ID)
        if name is None:
            raise MCPError(INVALID_REQUEST, f"the request names no session ({_ID}); initialize opens one")
        now = time.monotonic()
        self.close(*(one for one, session in self._open.items() if now - session.used > _IDLE))
        if name not in self._open:
            self._open[name] = Session(Shared(self.parts, self.door, self.sample, 0, Trajectory()), self.max_calls)
        self._open[name].used = now
        return self._open[name]

    def close(self, *names: str) -> None:
        """End the sessions of these names, where there are any."""
        for session in filter(None, [self._open.pop(name, None) for name in names]):
            session.shared.close()

    async def close_all(self) -> None:
        """End all sessions, and close the models."""
        self.close(*self._open)
        for model in self.door.models.values():
            await model.close()


def sessions_of(choices: Sequence[str], sample_id: str | None, permits: Sequence[str]) -> Sessions:
    """The sessions over the toolset, condition, dataset and models that words choose. Raises ConfigError."""
    for key in (re.sub(r"^[+~]*([\w.]*).*", r"\1", word, flags=re.DOTALL) for word in choices):
        if not any(f"{key}.".startswith(f"{one}.") for one in _APPLIES):
            text = f"it does not apply to a server of tools; these do: {', '.join(_APPLIES)}"
            raise ConfigErrors([Finding(key, text)])
    experiment = prepare_words(["agent=direct", *choices])  # which has no tools, and is not asked
    privacy, seed = experiment.dataset.privacy, experiment.seed
    if privacy not in ("open", *permits):
        text = f"clients would receive {privacy} data; if they may: --permits {privacy}"
        raise ConfigErrors([Finding("dataset", text)])
    samples = {one.problem.id: one for one in experiment.samples}
    sample = samples.get(sample_id) if sample_id else next(iter(samples.values()))
    if sample is None:
        near = meant(str(sample_id), samples)
        raise ConfigError(f"--sample: there is no {sample_id!r}; {near}the dataset has {len(samples)} samples")
    parts = replace(experiment.parts, budget=Budget())
    offer = parts.open(sample, 0, seed)
    offer.state.close()
    if not offer.tools:
        raise ConfigErrors([Finding("toolset", "it offers no tool with these settings; choose another one")])
    door = Door(experiment.models, None, run_seed=seed, budget_pool=BudgetPool(experiment.budget))
    return Sessions(parts, door, sample, len(offer.tools))


def _arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = Parser(
        prog="python -m runner.mcp",
        description="A toolset as a Model Context Protocol server, over the standard streams or HTTP.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    choice = "choices as in a run: toolset=NAME dataset=NAME condition=NAME model=NAME"
    parser.add_argument("choices", nargs="*", metavar="KEY=VALUE", help=choice)
    parser.add_argument("--sample", metavar="ID", help="the sample that the tools are opened over; default: the first")
    parser.add_argument("--port", type=int, help="serve over HTTP at this port; 0 picks a free one")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--key-variable", metavar="NAME", help="variable with the token that clients must send")
    classes = "a data class that clients may receive, once for each"
    parser.add_argument("--permits", action="append", default=[], choices=get_args(Privacy), help=classes)
    given = parser.parse_intermixed_args(words)
    if given.port is not None and not 0 <= given.port < 1 << 16:
        raise ConfigError(f"--port {given.port}: a port is a number from 0 to 65535")
    if given.key_variable and not os.environ.get(given.key_variable):
        raise ConfigError(f"--key-variable: {given.key_variable} is not set")
    if given.host not in _LOCAL and not given.key_variable:
        raise ConfigError(f"--host {given.host}: other machines could connect: --key-variable NAME is needed")
    return given


def _guarded(app: ASGIApp, sessions: Sessions, key: str) -> ASGIApp:
    """The application for those that send the key, if there is one; a session that is deleted is closed."""
    from starlette.responses import PlainTextResponse

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope.get("headers", ()))
        given = headers.get(b"authorization", b"").removeprefix(b"Bearer ")
        if key and scope["type"] == "http" and not hmac.compare_digest(given, key.encode()):
            await PlainTextResponse("the token is missing or wrong", 401)(scope, receive, send)
            return
        await app(scope, receive, send)
        if scope.get("method") == "DELETE":
            sessions.close(headers.get(_ID.encode(), b"").decode("latin-1"))

    return answer


@asynccontextmanager
async def listening(sessions: Sessions, host: str, port: int, key: str = "") -> AsyncIterator[str]:
    """Serve over HTTP, with a ``key`` to those that send it alone. Yields the address. Raises OSError."""
    import uvicorn

    from components.serving.tools import tool_server

    tools = tool_server(sessions.of, by_session=True)
    app = tools.streamable_http_app(session_idle_timeout=_IDLE, max_sessions=_SESSIONS, host=host)
    listener = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    guarded = _guarded(app, sessions, key)
    server = uvicorn.Server(uvicorn.Config(guarded, ws="none", log_config=None, timeout_graceful_shutdown=1))
    serving = asyncio.create_task(server.serve([listener]))
    try:
        yield f"http://{host}:{listener.getsockname()[1]}/mcp"
    finally:
        server.should_exit = True
        await serving


async def _serve(words: Sequence[str]) -> None:
    if missing := missing_extra("python -m runner.mcp", "mcp", "mcp"):
        raise ConfigError(missing)
    from mcp.server.stdio import stdio_server

    from components.serving.tools import tool_server

    given = _arguments(words)
    sessions = sessions_of(given.choices, given.sample, given.permits)
    try:
        if given.port is None:
            server = tool_server(sessions.of)
            async with stdio_server() as (received, sent):
                await server.run(received, sent, server.create_initialization_options())
            return
        async with listening(sessions, given.host, given.port, os.environ.get(given.key_variable or "", "")) as url:
            print(f"serving {sessions.n_tools} tools at {url}; stop with Ctrl-C", flush=True)  # noqa: T201
            with suppress(asyncio.CancelledError):  # interrupted
                await asyncio.Event().wait()
    finally:
        await sessions.close_all()


def main(words: Sequence[str] | None = None) -> int:
    """Serve until the client leaves, or until interrupted. Exit code 2 for a config error."""
    with signals():
        return exit_code_of(lambda: asyncio.run(_serve(sys.argv[1:] if words is None else words)))


if __name__ == "__main__":
    sys.exit(main())
