"""A toolset served over MCP, asked by the SDK's own client over both transports."""

import os
import re
import socket
import sys

import httpx2
import pytest

from components.serving.tools import tool_server
from runner.mcp import listening, main, sessions_of
from tests.acceptance.command import ROOT
from tests.slow import slow

RADIOLOGY = ("toolset=radiology", "dataset=radabench_mini")


@pytest.fixture
async def radiology():
    """The sessions over a study."""
    sessions = sessions_of(RADIOLOGY, None, ())
    yield sessions
    await sessions.close_all()


def text_of(result):
    """The text of a result."""
    return result.content[0].text


async def names_of(client):
    """The tools that a client sees."""
    return [tool.name for tool in (await client.list_tools()).tools]


async def test_a_condition_changes_what_is_served():
    from mcp import Client

    withheld = ("condition=withhold", "condition.tools=[Organ Segmentor]")
    served = {}
    for words in ((), withheld):
        sessions = sessions_of([*RADIOLOGY, *words], None, ())
        async with Client(tool_server(sessions.of)) as client:
            served[words] = await names_of(client)
        await sessions.close_all()
    assert len(served[()]) == 12 and served[withheld] == [name for name in served[()] if name != "TOOL3"]


async def test_each_session_over_http_has_a_state_of_its_own_that_ends_with_it(radiology):
    from mcp import Client

    def image_and(*names):
        return {"purpose": "look", "input": ["$Image$", *names]}

    async with listening(radiology, "127.0.0.1", 0) as url:
        async with Client(url) as one, Client(url) as other:
            found = [await one.call_tool(name, image_and()) for name in await names_of(one)]
            assert any("$Anatomy$" in text_of(each) and not each.is_error for each in found)
            texts = [text_of(await each.call_tool("TOOL1", image_and("$Anatomy$"))) for each in (one, other)]
            assert ["does not hold" in text for text in texts] == [False, True], texts
            wrong = await one.call_tool("TOOL99", {})
            assert wrong.is_error and "There is no tool 'TOOL99'" in text_of(wrong)
            assert len(radiology._open) == 2
        assert not radiology._open


async def test_a_token_is_needed_where_there_is_one_and_pages_may_not_connect(radiology):
    async with listening(radiology, "127.0.0.1", 0, "a-key") as url, httpx2.AsyncClient() as client:
        statuses = [
            (await client.post(url, headers=headers, json={})).status_code
            for headers in ({}, {"Authorization": "Bearer b"}, {"Authorization": "Bearer a-key", "Origin": "http://a"})
        ]
    assert statuses == [401, 401, 403]


MODERN = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
          "io.modelcontextprotocol/clientInfo": {"name": "a", "version": "1"}}  # fmt: skip


async def test_a_request_over_http_that_names_no_session_is_refused(radiology):
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": MODERN}}
    headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28",
               "Mcp-Method": "tools/list"}  # fmt: skip
    async with listening(radiology, "127.0.0.1", 0) as url, httpx2.AsyncClient() as client:
        reply = (await client.post(url, headers=headers, json=body)).json()
    assert reply["error"]["message"] == "the request names no session (mcp-session-id); initialize opens one"
    assert not radiology._open


async def test_the_budget_of_the_run_and_the_number_of_calls_of_a_session_hold():
    from mcp import Client
    from mcp.shared.exceptions import MCPError

    words = ("toolset=clinic", "dataset=clinic_mini", "budget.run.calls=1")
    sessions, seen = sessions_of(words, None, ()), []
    sessions.max_calls = 2
    async with Client(tool_server(sessions.of)) as client:
        for name in ("ask_patient", "ask_patient", "nothing", "nothing"):
            try:
                seen.append(text_of(await client.call_tool(name, {"question": "What is wrong?"})))
            except MCPError as error:
                seen.append(str(error))
    await sessions.close_all()
    assert seen[1] == "budget.run.calls=1 is reached" and seen[2].startswith("There is no tool 'nothing'")
    assert seen[3] == "this session has made 2 calls; open another one"


REFUSED = {
    "a setting of runs": (("limit=3",), "limit: it does not apply to a server of tools; these do: toolset, .*"),
    "a budget of samples": (("budget.sample.calls=3",), "budget.sample.calls: it does not apply"),
    "another sample": (("--sample", "nobody"), "--sample: there is no 'nobody'; .*the dataset has"),
    "an unknown tool": (("condition=withhold", "condition.tools=[Scissors]"), "there is no tool 'Scissors'"),
    "another machine": (("--host", "0.0.0.0"), "--key-variable NAME is needed"),
    "no port": (("--port", "99999"), "--port 99999: a port is a number from 0 to 65535"),
    "an absent key": (("--key-variable", "NO_SUCH_KEY"), "NO_SUCH_KEY is not set"),
    "no tool": (("toolset=none", "dataset=cab_mini", "seed=0"), "toolset: it offers no tool"),
    "an unknown class": (("--permits", "xx"), "--permits: invalid choice: 'xx'"),
    "data of patients": (
        ("toolset=none", "dataset=cab_mini", "dataset.privacy=phi"),
        "clients would receive phi data.*--permits phi",
    ),
}


def test_a_port_that_is_in_use_is_refused_in_one_line(capfd):
    with socket.create_server(("127.0.0.1", 0)) as other:
        assert main([*RADIOLOGY, "--port", str(other.getsockname()[1])]) == 2
    (line,) = capfd.readouterr().err.strip().splitlines()
    assert "Address already in use" in line


@pytest.mark.parametrize("words, text", REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_served_is_refused_in_one_line(words, text, capfd):
    assert main([*(RADIOLOGY if len(words) < 3 else ()), *words]) == 2
    err = capfd.readouterr().err
    assert len(err.strip().splitlines()) == 1
    assert re.search(text, err), err


@slow
async def test_it_is_started_by_a_client_over_its_standard_streams():
    from mcp import Client, StdioServerParameters
    from mcp.client.stdio import stdio_client

    words = ["-m", "runner.mcp", "toolset=clinical", "dataset=cab_mini", "toolset.use=[DrugBank]"]
    server = StdioServerParameters(command=sys.executable, args=words, cwd=ROOT, env=dict(os.environ))
    with open(os.devnull, "w") as log:
        async with Client(stdio_client(server, log)) as client:
            assert await names_of(client) == ["Plan", "Think", "DrugBank"]
            found = await client.call_tool("DrugBank", {"drug_name": "aspirin"})
    assert not found.is_error and "aspirin" in text_of(found).lower()
