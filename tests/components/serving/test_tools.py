"""The tools of an episode as an MCP server, asked by the SDK's client in this process."""

from importlib.metadata import version
from types import SimpleNamespace

import pytest

from components.core.messages import Image, ToolCall
from components.core.tools import Offer
from components.core.types import Observation, Observed
from tests.components.conftest import Add


class Caller:
    """An episode whose one tool returns an image, or fails for a call without arguments."""

    offer = Offer({"add": Add()})

    async def call(self, name, arguments):
        images = (Image("data:image/png;base64,QQ=="), Image("https://a.b/c.png"))
        seen = Observation(f"{name} {arguments}", images=images)
        return Observed(ToolCall("1", name, arguments), seen, "bad_arguments" if arguments == "{}" else None)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_what_is_offered_is_listed_and_called_in_every_version_of_the_protocol(mode):
    from mcp import Client

    from components.serving.tools import tool_server

    async with Client(tool_server(lambda _: Caller()), mode=mode) as client:
        assert client.server_info is None or client.server_info.version == version("wardround")
        (card,) = (await client.list_tools()).tools
        assert (card.name, card.description, card.input_schema) == ("add", Add.spec.description, Add.spec.parameters)
        result = await client.call_tool("add", {"numbers": [1]})
        assert not result.is_error and result.content[0].text == 'add {"numbers":[1]}'
        assert (result.content[1].mime_type, result.content[1].data) == ("image/png", "QQ==")
        assert result.content[2].text == "https://a.b/c.png"
        assert (await client.call_tool("add", {})).is_error


async def test_a_server_with_sessions_names_the_versions_that_have_them():
    from components.serving.tools import tool_server

    handlers = {
        by: tool_server(lambda _: Caller(), by_session=by).get_request_handler("server/discover")
        for by in (True, False)
    }
    found = await handlers[True].handler(SimpleNamespace(protocol_version="2025-11-25"), None)
    assert "2025-11-25" in found.supported_versions and "2026-07-28" not in found.supported_versions
    found = await handlers[False].handler(SimpleNamespace(protocol_version="2026-07-28"), None)
    assert "2026-07-28" in found.supported_versions
