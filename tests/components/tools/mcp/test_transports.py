"""The toolset and a server of the SDK, over both transports; and a server over HTTP that misbehaves."""

import asyncio
import gzip
import socket
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace

import orjson
import pytest
import uvicorn
from aiohttp import web

from components.core.errors import ConfigError, ModelError, ToolError
from components.core.types import Problem, Sample
from components.tools.mcp import Mcp
from components.tools.mcp.servers import Server
from tests.slow import slow

WARD = Path(__file__).resolve().parents[4] / "docs" / "examples" / "ward_server.py"
SAMPLE = Sample(Problem("p1", "?"), None)


async def listen(handle):
    """An HTTP server on a free port."""
    app = web.Application()
    app.router.add_route("*", "/mcp", handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1, handler_cancellation=True)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    return runner, f"http://127.0.0.1:{runner.addresses[0][1]}/mcp"


@asynccontextmanager
async def ward():
    """The server of the examples, which is the SDK's, over HTTP; its address, and the tokens that it was sent."""
    names, tokens = {}, set()
    exec(WARD.read_text(), names)
    app = names["server"].streamable_http_app()

    async def noting(scope, receive, send):
        tokens.add(dict(scope.get("headers", ())).get(b"authorization"))
        await app(scope, receive, send)

    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(noting, ws="none", log_config=None, timeout_graceful_shutdown=1))
    serving = asyncio.create_task(server.serve([listener]))
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", tokens
    server.should_exit = True
    await serving


async def in_thread(toolset):
    """The offer, which is listed by a server in this thread."""
    return await asyncio.to_thread(toolset.open, SAMPLE)


async def use(offer):
    """A result, the tool's own error, and the end of the session."""
    context = SimpleNamespace(state=offer.state, episode=1)
    seen = await offer.tools["mean_arterial_pressure"](context, systolic=120, diastolic=60)
    with pytest.raises(ToolError, match="creatinine must be above 0 mg/dL, found 0"):
        await offer.tools["creatinine_clearance"](context, age=60, weight_kg=70, creatinine_mg_dl=0)
    offer.state.close()
    return seen.text


async def test_a_server_of_the_sdk_over_http(monkeypatch):
    monkeypatch.setenv("WARD_KEY", "a-token")
    async with ward() as (url, tokens):
        offer = await in_thread(Mcp({"ward": Server(url=url, key_variable="WARD_KEY")}, timeout_seconds=20))
        assert list(offer.tools) == ["body_mass_index", "creatinine_clearance", "mean_arterial_pressure"]
        assert await use(offer) == "80 mmHg" and tokens == {None, b"Bearer a-token"}


@slow
def test_a_server_of_the_sdk_over_its_streams():
    async def main():
        offer = Mcp({"ward": Server([sys.executable, str(WARD)])}, timeout_seconds=30).open(SAMPLE)
        return await use(offer)

    assert asyncio.run(main()) == "80 mmHg"


@pytest.mark.parametrize(
    ("status", "body", "text", "packed"),
    [
        (500, b"", "failed: .*; it replied with status 500", ""),
        (200, b"<html>", "failed: ", ""),
        (200, orjson.dumps({"jsonrpc": "2.0", "id": 1, "result": "x" * 9_000_000}), "8,388,608 bytes", ""),
        (200, gzip.compress(b" " * 50_000_000), r"the reply is packed \(gzip\), unasked", "gzip"),
    ],
    ids=["an error", "a page", "9 MB", "packed"],
)
async def test_a_server_over_http_that_answers_something_else_is_refused_by_its_name(status, body, text, packed):
    async def handle(request):
        headers = {"Content-Encoding": packed} if packed else {}
        return web.Response(status=status, body=body, content_type="application/json", headers=headers)

    runner, url = await listen(handle)
    with pytest.raises(ConfigError, match=rf"servers\.ward: the MCP server 'ward' \({url}\) .*{text}"):
        await in_thread(Mcp({"ward": Server(url=url)}, timeout_seconds=5))
    await runner.cleanup()


async def test_a_server_that_does_not_answer_the_end_of_its_session_holds_nothing_up():
    answers = {"initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                              "serverInfo": {"name": "x", "version": "1"}},
               "tools/list": {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}}  # fmt: skip

    async def handle(request):
        if request.method != "POST":
            await asyncio.sleep(600)
        message = await request.json()
        reply = {"jsonrpc": "2.0", "id": message.get("id"), "result": answers.get(message["method"])}
        return web.json_response(reply, headers={"mcp-session-id": "s"}, status=200 if "id" in message else 202)

    runner, url = await listen(handle)
    server = Server(url=url, grace_seconds=0.03)
    offer = await asyncio.wait_for(in_thread(Mcp({"ward": server}, timeout_seconds=5)), 20)
    assert list(offer.tools) == ["echo"]
    await runner.cleanup()


async def test_a_server_over_http_that_went_away_is_an_error_by_its_name():
    async with ward() as (url, _):
        offer = await in_thread(Mcp({"ward": Server(url=url)}, timeout_seconds=20))
    with pytest.raises(ModelError, match=r"'ward' .* failed: ConnectError"):
        await use(offer)
    offer.state.close()
