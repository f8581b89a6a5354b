"""Sessions with a server by the SDK's client: its cards, and calls that end in time or in an error that names it."""

import asyncio
import json
import logging
import re
from collections.abc import Awaitable, Mapping
from typing import Any, TypeVar

import mcp_types as types
from anyio.from_thread import start_blocking_portal
from mcp import Client
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from components.core.errors import ConfigError, ModelError, ToolError
from components.core.messages import Image, ToolSpec
from components.core.types import Observation, Observed
from components.programs import absent
from components.text.words import written_out
from components.tools.mcp.servers import Cards, Server
from components.tools.mcp.transports import Diagnostics, connect

for _library in ("mcp.client", "httpx2"):  # which report every request
    logging.getLogger(_library).setLevel(logging.WARNING)
T = TypeVar("T")
_IMAGE, _BASE64 = re.compile(r"image/[\w.+-]{1,60}"), re.compile(r"[A-Za-z0-9+/]*={0,2}")
_PAGES, _TOOLS = 20, 200  # listed at most
_CARD, _TEXT = 32_768, 200_000  # bytes of a card, characters of a result


class BadServer(Exception):
    """A server does not do what the protocol, or the run, asks of it."""


def cards_of(name: str, server: Server, timeout_seconds: float) -> Cards:
    """What a server offers now. Raises ConfigError that names it."""

    async def listed() -> Cards:
        return await Session(name, server, None, timeout_seconds).list_only()

    try:
        with start_blocking_portal() as thread:  # an event loop may run in this one; an interrupt cancels the work
            return thread.call(listed)
    except ModelError as error:
        raise ConfigError(f"toolset.servers.{name}: {error}") from None


class Session:
    """A connection to a server until it is closed, in a task of its own as the SDK needs it. ``known``: its cards as
    they were before the run; None: whatever they are."""

    def __init__(self, name: str, server: Server, known: Cards | None, timeout_seconds: float) -> None:
        self._name, self._server, self._known, self._timeout = name, server, known, timeout_seconds
        self._diagnostics, self._closing, self._changed = Diagnostics(), asyncio.Event(), False
        self._ready: asyncio.Future[tuple[Client, Cards]] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._own())
        self._task.add_done_callback(lambda task: task.cancelled() or task.exception())  # it is reported by calls

    def close(self) -> None:
        """Let it end; one that is still being opened is broken off."""
        self._closing.set()
        if not self._ready.done():
            self._task.cancel()

    async def list_only(self) -> Cards:
        """What the server offers; then end it, which a server may not answer. Raises ModelError (mcp_server)."""
        try:
            return (await self._within(asyncio.shield(self._ready)))[1]
        finally:
            self.close()
            await asyncio.wait({self._task}, timeout=3 * self._server.grace_seconds)

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Observation:
        """Call a tool. Raises ToolError for its own error, ModelError (mcp_server) for any other."""
        client, cards = await self._within(asyncio.shield(self._ready))
        result = await self._within(client.call_tool(name, dict(arguments)))
        if result.is_error or self._changed:  # the tool may be another one by now
            self._changed = False
            if changes := cards.changes(await self._within(_list_cards(client))):
                raise self._failed(BadServer(f"changed its tools in the middle of a session: {changes}"))
        text, images = _read(result)
        if result.is_error:
            raise ToolError(text or "The tool failed without a message.", "tool_error")
        return Observation(text, images=images)

    async def repeat(self, made: Observed) -> None:
        """Make a call again. Raises ModelError (mcp_server) where its result is another one now."""
        try:
            seen, error = await self.call(made.call.name, made.call.parsed), None
        except ToolError as failure:
            seen, error = Observation(str(failure)), failure.label
        before = made.observation
        if (seen.text, seen.images, error) != (before.text, before.images, made.error):
            call = f"{made.call.name}({made.call.arguments:.80})"
            text = f"gave another result when the session was repeated: {call} gave {seen.text[:80]!r}, had given"
            way = f"if nothing depends on earlier calls: toolset.servers.{self._name}.stateful=false"
            raise self._failed(BadServer(f"{text} {before.text[:80]!r}; {way}"))

    async def _own(self) -> None:
        """In a version of the protocol with sessions, else in one without."""
        try:
            await self._serve("legacy")
        except BaseExceptionGroup as group:
            codes = [one.code for one in _leaves(group) if isinstance(one, MCPError)]
            if self._ready.done() or types.UNSUPPORTED_PROTOCOL_VERSION not in codes:
                raise
            self._diagnostics = Diagnostics()
            await self._serve("auto")

    async def _serve(self, mode: str) -> None:
        if name := absent([*self._server.env, self._server.key_variable]):
            raise BadServer(f"needs the variable {name}, which is not set")

        async def notice(message: Any) -> None:
            self._changed = self._changed or isinstance(message, types.ToolListChangedNotification)

        async with Client(connect(self._server, self._diagnostics), mode=mode, message_handler=notice) as client:
            cards = await _list_cards(client)
            if self._known is not None and (changes := self._known.changes(cards)):
                raise BadServer(f"changed its tools since the run began: {changes}")
            self._ready.set_result((client, cards))
            await self._closing.wait()

    async def _within(self, work: Awaitable[T]) -> T:
        """What comes of it in time. Raises ModelError that names the server."""
        task = asyncio.ensure_future(work)
        try:
            watched: set[asyncio.Future[Any]] = {task, self._task}
            await asyncio.wait(watched, timeout=self._timeout, return_when=asyncio.FIRST_COMPLETED)
            if task.done() and not task.cancelled():
                if (error := task.exception()) is None:
                    return task.result()
                raise self._failed(error)
            if self._task.done():
                ended = None if self._task.cancelled() else self._task.exception()
                raise self._failed(ended or BadServer("its session is over"))
            raise self._failed(BadServer(f"did not answer within {self._timeout:g} s (toolset.timeout_seconds)"))
        finally:
            task.cancel()

    def _failed(self, error: BaseException) -> ModelError:
        """An error in one line that names the server: what is known of its end, else what the SDK says."""
        first, known = _leaves(error)[0], self._diagnostics
        text = known.problem or f"failed: {type(first).__name__}: {first}"
        if isinstance(first, BadServer):
            text = str(first)
        if isinstance(first, ValidationError):
            wrong = first.errors(include_url=False, include_context=False)[0]
            place = ".".join(map(str, wrong["loc"]))
            text = f"sent a {first.title} that is not one of the protocol: {place}: {wrong['msg']}"
        if known.garbage:
            text += f"; it wrote {known.garbage!r}, which is no message of the protocol"
        if known.status:
            text += f"; it replied with status {known.status}"
        line = " ".join(written_out(text).split())[:600].replace(self._server.address, self._server.shown)
        return ModelError(f"the MCP server {self._name!r} ({self._server.shown}) {line}", "mcp_server")


def _leaves(error: BaseException) -> list[BaseException]:
    """The errors in a group; any other error itself."""
    inner = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    return [leaf for one in inner for leaf in _leaves(one)] or [error]


async def _list_cards(client: Client) -> Cards:
    """All cards. Raises BadServer for what no model can be shown, and for too many or too large ones."""
    listed, cursor = list[types.Tool](), None
    for _ in range(_PAGES):
        page = await client.list_tools(cursor=cursor, cache_mode="bypass")
        listed += page.tools
        if len(listed) > _TOOLS:
            raise BadServer(f"lists more than {_TOOLS} tools")
        if (cursor := page.next_cursor) is None:
            break
    else:
        raise BadServer(f"lists its tools on more than {_PAGES} pages")
    specs = [_spec(tool) for tool in listed]
    names = {spec.name: tool.name for spec, tool in zip(specs, listed, strict=True)}
    if len(names) < len(specs):
        raise BadServer("lists two tools whose names are the same, as a model takes them")
    title = f"{info.name} {info.version}"[:200] if (info := client.server_info) else ""
    return Cards(title, specs, names)


def _spec(tool: types.Tool) -> ToolSpec:
    """A tool as it is offered: its name in the characters that endpoints take, at most 64 of them."""
    name = re.sub(r"[^A-Za-z0-9_-]", "_", tool.name)[:64]
    parameters = tool.input_schema
    if not isinstance(parameters.get("properties", {}), dict):
        raise BadServer(f"describes its tool {tool.name!r} with properties that are no object")
    if "properties" not in parameters:  # then JSON schema permits any
        parameters = {**parameters, "properties": {}, "additionalProperties": True}
    spec = ToolSpec(name, tool.description or "", parameters)
    if not name or len(spec.wire) > _CARD:
        raise BadServer(
            f"describes its tool {name!r} in {len(spec.wire):,} bytes; at most {_CARD:,} are taken, and a name"
        )
    return spec


def _read(result: types.CallToolResult) -> tuple[str, tuple[Image, ...]]:
    """Text and images of a result; what is neither is named."""
    texts, images = list[str](), list[Image]()
    for one in result.content:
        match one:
            case types.TextContent(text=text):
                texts.append(text)
            case types.ImageContent(data=data, mime_type=kind) if _IMAGE.fullmatch(kind) and _BASE64.fullmatch(data):
                images.append(Image(f"data:{kind};base64,{data}"))
            case types.EmbeddedResource(resource=types.TextResourceContents(text=text)):
                texts.append(text)
            case _:
                texts.append(f"[{one.type}, which cannot be shown]")
    if not result.content and result.structured_content is not None:
        texts.append(json.dumps(result.structured_content, ensure_ascii=False, separators=(",", ":")))  # NaN is kept
    text = "\n".join(texts)
    if len(text) > _TEXT:
        text = f"{text[:_TEXT]}\n[{len(text) - _TEXT:,} more characters were left out]"
    return text, tuple(images)
