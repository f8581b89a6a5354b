"""A toolset as a Model Context Protocol server: ``python -m runner.mcp toolset=clinical dataset=cab_mini``.

Over the standard streams, or with ``--port`` over streamable HTTP. Words choose as in a run; conditions hold. The tools
are opened over one sample, once for every session.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from components.core.errors import ConfigError, missing_extra
from components.core.protocols import Model
from components.core.tools import Offer
from components.core.traits import ModelTraits, declared
from components.core.types import Answer, Observed, Sample, Trajectory
from components.text.words import meant
from runner.config.errors import ConfigErrors, Finding, note_errors
from runner.config.words import config_of
from runner.episode.door import Door
from runner.episode.episode import Episode
from runner.episode.shared import Parts, Shared
from runner.experiment import parts as building
from runner.experiment.experiment import select
from runner.experiment.privacy import permit
from runner.terminal.command import Parser, exit_code_of

if TYPE_CHECKING:
    from mcp.server import ServerRequestContext

_IDLE, _SESSIONS = 1800.0, 64  # seconds after which a session is over, and how many there may be
_LOCAL = ("127.0.0.1", "localhost", "::1")
_ID = "mcp-session-id"
_NOT_SERVED = ("agent", "scorer", "memory", "stage")


class Client:
    """Whoever calls the tools over the protocol, in the place of an agent."""

    async def solve(self, _: Any) -> Answer:
        """It is not asked to solve anything."""
        raise AssertionError("a client calls tools")


@dataclass
class Session:
    """The tools of one session, whose calls run one after the other."""

    shared: Shared
    used: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self._episode, self._calling = Episode(self.shared, self.shared.open()), asyncio.Lock()

    @property
    def offer(self) -> Offer:
        """What the session offers by now."""
        return self._episode.offer

    async def call(self, name: str, arguments: str) -> Observed:
        """Run a call."""
        async with self._calling:
            return await self._episode.call(name, arguments)


@dataclass
class Sessions:
    """The sessions by their ids; that of the standard streams has none."""

    parts: Parts
    models: dict[str, Model]
    sample: Sample
    seed: int
    n_tools: int
    _open: dict[str, Session] = field(default_factory=dict)

    async def of(self, context: ServerRequestContext[Any]) -> Session:
        """The session of a request, opened with its first one."""
        name = "" if context.request is None else context.request.headers.get(_ID, "")
        if name not in self._open:
            for idle in [one for one, session in self._open.items() if time.monotonic() - session.used > _IDLE]:
                self.close(idle)
            door = Door(self.models, None, run_seed=self.seed)
            self._open[name] = Session(Shared(self.parts, door, self.sample, 0, Trajectory()))
        self._open[name].used = time.monotonic()
        return self._open[name]

    def close(self, name: str) -> None:
        """End a session, if there is one of this name."""
        if (session := self._open.pop(name, None)) is not None:
            session.shared.close()

    async def close_all(self) -> None:
        """End all sessions, and close the models."""
        for name in [*self._open]:
            self.close(name)
        for model in self.models.values():
            await model.close()


def sessions_of(choices: Sequence[str], sample_id: str | None, permits: Sequence[str]) -> Sessions:
    """The sessions over the toolset, condition, dataset and models that words choose. Raises ConfigError."""
    cfg, findings = config_of(choices), list[Finding]()
    named = building.named_parts(cfg, findings)
    wanted = {key: part for key, part in named.items() if key.partition(".")[0] not in _NOT_SERVED}
    made = building.build_parts(wanted, cfg, findings)
    if findings:
        raise ConfigErrors(findings)
    dataset, models = made["dataset"], {"main": made["model"], **building.below(made, "models")}
    (grammar,) = building.below(made, "grammars").values()
    parts = Parts(Client(), made["verifier"], grammar, made["toolset"], made["condition"])
    permit(dataset.privacy, models, parts)
    if dataset.privacy not in ("open", *permits):
        text = f"whoever connects gets data that are {dataset.privacy}; if they may: --permits {dataset.privacy}"
        raise ConfigErrors([Finding("dataset", text)])
    samples = {one.problem.id: one for one in select(dataset, limit=None, shard=None, seed=cfg["seed"])}
    sample = samples.get(sample_id) if sample_id else next(iter(samples.values()))
    if sample is None:
        near = meant(str(sample_id), samples)
        raise ConfigError(f"--sample: there is no {sample_id!r}; {near}the dataset has {len(samples)} samples")
    for model in models.values():
        if (study := declared(model, ModelTraits).study) is not None:
            study([sample])
    with note_errors(findings, "toolset"):
        offer = parts.open(sample, 0, cfg["seed"])
        offer.state.close()
    if findings:
        raise ConfigErrors(findings)
    return Sessions(parts, models, sample, cfg["seed"], len(offer.tools))


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
    parser.add_argument("--permits", action="append", default=[], metavar="CLASS", help=classes)
    given = parser.parse_intermixed_args(words)
    if given.port is not None and not 0 <= given.port < 1 << 16:
        raise ConfigError(f"--port {given.port}: a port is a number from 0 to 65535")
    if given.key_variable and not os.environ.get(given.key_variable):
        raise ConfigError(f"--key-variable: {given.key_variable} is not set")
    if given.host not in _LOCAL and not given.key_variable:
        raise ConfigError(f"--host {given.host}: others than this machine may connect: --key-variable NAME is needed")
    return given


async def _serve_streams(sessions: Sessions) -> None:
    from mcp.server.stdio import stdio_server

    from components.serving.tools import tool_server

    server = tool_server("wardround", sessions.of)
    async with stdio_server() as (received, sent):
        await server.run(received, sent, server.create_initialization_options())


@asynccontextmanager
async def listening(sessions: Sessions, host: str, port: int, key: str = "") -> AsyncIterator[str]:
    """Serve over HTTP, with a ``key`` to those that send it alone. Yields the address."""
    from aiohttp import web
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from components.serving import bridge, endpoint
    from components.serving.tools import tool_server

    server = tool_server("wardround", sessions.of, by_session=True)
    manager = StreamableHTTPSessionManager(server, session_idle_timeout=_IDLE, max_sessions=_SESSIONS)
    answer = bridge.route(manager.handle_request)

    async def handle(request: web.Request) -> web.StreamResponse:
        if key and not endpoint.has_token(request, key):
            return web.Response(status=401, text="the token is missing, or is another one")
        if request.headers.get("Origin"):  # of a page in a browser, which may not reach what is on this machine
            return web.Response(status=403, text="pages may not connect")
        reply = await answer(request)
        if request.method == "DELETE" and reply.status == 200:
            sessions.close(request.headers.get(_ID, ""))
        return reply

    app = web.Application(client_max_size=4 << 20)
    app.router.add_route("*", "/mcp", handle)
    runner, url = await endpoint.listen(app, host, port)  # first: within the manager's tasks an error would be a group
    try:
        async with manager.run():
            yield f"{url}/mcp"
    finally:
        await runner.cleanup()


async def _serve_http(sessions: Sessions, given: argparse.Namespace) -> None:
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    async with listening(sessions, given.host, given.port, os.environ.get(given.key_variable or "", "")) as url:
        print(f"serving {sessions.n_tools} tools at {url}; stop with Ctrl-C", flush=True)  # noqa: T201
        await stopped.wait()


async def _serve(words: Sequence[str]) -> None:
    if missing := missing_extra("python -m runner.mcp", "mcp", "mcp"):
        raise ConfigError(missing)
    given = _arguments(words)
    sessions = sessions_of(given.choices, given.sample, given.permits)
    try:
        await (_serve_streams(sessions) if given.port is None else _serve_http(sessions, given))
    finally:
        await sessions.close_all()


def main(words: Sequence[str] | None = None) -> int:
    """Serve until the client leaves, or until interrupted. Exit code 2 for a config error."""
    return exit_code_of(lambda: asyncio.run(_serve(sys.argv[1:] if words is None else words)))


if __name__ == "__main__":
    sys.exit(main())
