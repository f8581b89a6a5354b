"""The tools of an episode as a Model Context Protocol server, by the official SDK (extra ``mcp``).

Source: https://modelcontextprotocol.io/specification/2025-11-25/server/tools. What a condition leaves of the offer is
listed, and calls run as those of an agent do: checked, wrapped by conditions, journalled. A ToolError is a result with
``isError``, any other failure an error of the protocol.
"""

import logging
import re
from collections.abc import Callable
from typing import Any, Protocol

import mcp_types as types
import orjson
from mcp.server import Server, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from components.core.errors import LimitReached, ModelError, RunLimitReached
from components.core.installed import version_of
from components.core.messages import Image
from components.core.redaction import redact
from components.core.tools import Offer
from components.core.types import Observed

logging.getLogger("mcp.server").setLevel(logging.WARNING)  # it reports every session
Context = ServerRequestContext[Any]
_DATA = re.compile(r"data:(image/[\w.+-]+);base64,(.+)", re.DOTALL)


class Caller(Protocol):
    """The episode, as far as its tools go."""

    @property
    def offer(self) -> Offer: ...

    async def call(self, name: str, arguments: str, /) -> Observed: ...


def tool_server(episode_of: Callable[[Context], Caller], by_session: bool = False) -> Server[Any]:
    """A server of the tools of the episode that a request belongs to. ``by_session``: it offers only the versions of
    the protocol whose requests over HTTP name their session (before 2026-07-28)."""

    async def list_tools(context: Context, _: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        specs = [tool.spec for tool in episode_of(context).offer.tools.values()]
        cards = [types.Tool(name=s.name, description=s.description, input_schema=dict(s.parameters)) for s in specs]
        return types.ListToolsResult(tools=cards)

    async def call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        arguments = orjson.dumps(params.arguments or {}).decode()
        try:
            observed = await episode_of(context).call(params.name, arguments)
        except (LimitReached, ModelError, RunLimitReached) as error:
            raise MCPError(types.INTERNAL_ERROR, redact(str(error))) from None
        content: list[types.ContentBlock] = [types.TextContent(text=observed.observation.text)]
        content += map(_image, observed.observation.images)
        return types.CallToolResult(content=content, is_error=observed.error is not None)

    async def discover(_: Context, __: types.RequestParams | None) -> types.DiscoverResult:
        versions = list(HANDSHAKE_PROTOCOL_VERSIONS)
        return types.DiscoverResult(supported_versions=versions, capabilities=server.get_capabilities())

    version = version_of("wardround") or ""
    server: Server[Any] = Server("wardround", version=version, on_list_tools=list_tools, on_call_tool=call_tool)
    if by_session:
        server.add_request_handler("server/discover", types.RequestParams, discover)
    return server


def _image(image: Image) -> types.ContentBlock:
    found = _DATA.fullmatch(image.url)
    if found is None:
        return types.TextContent(text=image.url)
    return types.ImageContent(mime_type=found[1], data=found[2])
