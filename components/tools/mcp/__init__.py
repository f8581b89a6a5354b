"""Tools of Model Context Protocol servers, by the official SDK (extra ``mcp``): over stdio or streamable HTTP.

Source: https://modelcontextprotocol.io/specification/2025-11-25. The cards are those of the servers, listed before the
run. An episode has sessions of its own, opened with its first call and closed with the episode: a server that keeps
something in a session then keeps it for one sample, and order and concurrency change no result.
"""

import asyncio
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from annotated_types import Gt, Interval

from components.core.cached import cached_property
from components.core.errors import ConfigError, missing_extra
from components.core.messages import JSON, ToolSpec
from components.core.tools import Context, Effect, Offer, State
from components.core.traits import ToolsetTraits, ToolTraits
from components.core.types import Observation, Observed, Privacy, Sample
from components.text.words import meant
from components.tools.mcp.servers import Cards, Server, Slots

if TYPE_CHECKING:
    from components.tools.mcp.sessions import Session


@dataclass(frozen=True)
class McpTool:
    """A tool of a server, where it is called ``name``. ``identity``: of the server and its cards. ``stateful``: its
    results depend on earlier calls of the session."""

    server: str
    name: str
    spec: ToolSpec
    effect: Effect
    identity: str
    stateful: bool

    @property
    def traits(self) -> ToolTraits:
        """The state of a session cannot be copied, so that what changes it is not tried."""
        is_pure, note = self.effect == "pure", self._note if self.stateful else None
        return ToolTraits(identity=self.identity, triable=is_pure, sends_data_out=True, note_recorded=note)

    async def __call__(self, context: Context, /, **arguments: Any) -> Observation:
        assert isinstance(context.state, Sessions), "the toolset's own state"
        return await context.state.call(self, arguments, context.episode)

    def _note(self, state: State, made: Observed) -> None:
        assert isinstance(state, Sessions), "the toolset's own state"
        call = made.call._replace(name=self.name)
        state.recorded.setdefault(self.server, []).append(replace(made, call=call))


@dataclass
class Sessions:
    """The sessions behind the tools of a sample: server -> session, each opened when it is first needed. ``recorded``:
    server -> calls that the journal or a record answered, which a session has not run."""

    servers: Mapping[str, Server]
    cards: Mapping[str, Cards]
    timeout_seconds: float
    slots: Slots
    recorded: dict[str, list[Observed]] = field(default_factory=dict)
    _open: dict[str, "Session"] = field(default_factory=dict)
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock)
    _episode: Hashable = None  # that has a slot
    _closed: bool = False

    def fork(self) -> "Sessions":
        """Itself: only pure tools are tried on it."""
        return self

    def close(self) -> None:
        """End the sessions; their processes end soon after."""
        self._closed = True
        for session in self._open.values():
            session.close()
        if self._episode is not None:
            self.slots.release(self._episode)
            self._episode = None

    async def call(self, tool: McpTool, arguments: JSON, episode: Hashable) -> Observation:
        """Call a tool, for other than pure ones after the calls that the session has not run. Raises ToolError for the
        tool's own error, ModelError (mcp_server) for one of the server."""
        from components.tools.mcp.sessions import Session

        async with self._opening:
            if self._episode is None and not self._closed:
                await self.slots.enter(episode)
                self._episode = episode
            if self._closed:  # the episode has ended
                self.close()
                raise asyncio.CancelledError
            if (name := tool.server) not in self._open:
                self._open[name] = Session(name, self.servers[name], self.cards[name], self.timeout_seconds)
            calls = [] if tool.effect == "pure" else self.recorded.get(name, [])
            while calls:
                await self._open[name].repeat(calls[0])
                del calls[0]
        return await self._open[name].call(tool.name, arguments)


@dataclass(frozen=True)
class Mcp:
    """The tools of ``servers``. ``effects``: tool -> effect; ``external`` where it is not named, whose results are
    journalled. ``permits``: data classes, in addition to open ones, that the servers may receive. ``timeout_seconds``:
    of a connection and of a call. ``max_samples``: episodes with sessions at once; others wait. ``cards``: a file that
    keeps what the servers offer; those in it are not asked before a call."""

    takes_code: ClassVar[Sequence[str]] = ("servers",)
    servers: Mapping[str, Server] | None = None
    effects: Mapping[str, Effect] | None = None
    permits: Sequence[Privacy] = ()
    timeout_seconds: Annotated[float, Gt(0)] = 60.0
    max_samples: Annotated[int, Interval(ge=1, le=1000)] = 16
    cards: str | None = None

    def __post_init__(self) -> None:
        if missing := missing_extra("it", "mcp", "mcp"):
            raise ConfigError(missing)
        if not self.servers:
            how = "toolset.servers={calc:{command:[python,server.py]}} or {calc:{url:http://127.0.0.1:8000/mcp}}"
            raise ConfigError(f"servers: empty; name at least one: {how}")
        for name, server in self.servers.items():
            server.check(f"servers.{name}")

    @property
    def traits(self) -> ToolsetTraits:
        """The tools, and what identifies each server."""
        identities = {name: cards.identity for name, cards in self._cards.items()}
        return ToolsetTraits(tools=self._tools, permits=self.permits, identities=identities)

    def open(self, _: Sample) -> Offer:
        """The tools, with sessions that are opened by their first call."""
        return Offer(self._tools, Sessions(self.servers or {}, self._cards, self.timeout_seconds, self._slots))

    @cached_property
    def _slots(self) -> Slots:
        return Slots(self.max_samples)

    @cached_property
    def _cards(self) -> Mapping[str, Cards]:
        """What the servers offer now, or did when the file was written. Raises ConfigError."""
        from components.tools.mcp.sessions import cards_of

        servers = self.servers or {}
        kept = Cards.read(Path(self.cards)) if self.cards else {}
        listed = {name: cards_of(name, one, self.timeout_seconds) for name, one in servers.items() if name not in kept}
        if self.cards and listed:
            Cards.write(Path(self.cards), {**kept, **listed})
        return {name: listed.get(name) or kept[name] for name in servers}

    @cached_property
    def _tools(self) -> Mapping[str, McpTool]:
        """The tools of all servers. Raises ConfigError."""
        found: dict[str, McpTool] = {}
        effects = self.effects or {}
        for name, server in (self.servers or {}).items():
            cards, key = self._cards[name], f"toolset.servers.{name}.tools"
            own = cards.names.values()
            chosen = own if server.tools is None else server.tools
            if unknown := [one for one in chosen if one not in own]:
                have = f"{meant(unknown[0], own)}it has {', '.join(own)}"
                raise ConfigError(f"{key}: there is no {unknown[0]!r}; {have}")
            for spec in (one for one in cards.specs if cards.names[one.name] in chosen):
                if spec.name in found:
                    text = f"{found[spec.name].server!r} and {name!r} both have a tool {spec.name!r}; offer one of them"
                    raise ConfigError(f"toolset.servers: {text}: {key}=[...]")
                effect = effects.get(spec.name, "external")
                identity = f"{server.address} {cards.identity}"
                found[spec.name] = McpTool(name, cards.names[spec.name], spec, effect, identity, server.stateful)
        if unknown := [one for one in effects if one not in found]:
            have = f"{meant(unknown[0], found)}there are {', '.join(found)}"
            raise ConfigError(f"toolset.effects: there is no tool {unknown[0]!r}; {have}")
        return found
