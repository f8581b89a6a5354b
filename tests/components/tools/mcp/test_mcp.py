"""The toolset of MCP servers: their cards, their results, and that what they do wrong is reported by their name."""

import asyncio
import os
import re
import signal
import sys
import time
from pathlib import Path
from threading import Timer
from types import SimpleNamespace

import pytest

from components.core.errors import ConfigError, ModelError, ToolError
from components.core.messages import Image
from components.core.traits import ToolTraits, declared
from components.core.types import Problem, Sample
from components.tools.mcp import Mcp
from components.tools.mcp.servers import Server, Slots

SERVER = str(Path(__file__).with_name("server.py"))
SAMPLE = Sample(Problem("p1", "?"), None)


def serving(*words, **settings):
    """The toolset of a server that behaves so."""
    own = {name: settings.pop(name) for name in ("tools", "stateful") if name in settings}
    server = Server([sys.executable, "-S", SERVER, *words], env=["PATH"], grace_seconds=0.02, **own)
    return Mcp({"calc": server}, **{"timeout_seconds": 20.0, **settings})


async def call(offer, name="echo", **arguments):
    """The observation of a call."""
    return await offer.tools[name](SimpleNamespace(state=offer.state, episode=1), **arguments or {"text": "hello"})


async def result_of(toolset, name="echo", **arguments):
    """The observation of a call in a session of its own."""
    offer = toolset.open(SAMPLE)
    try:
        return await call(offer, name, **arguments)
    finally:
        offer.state.close()


async def test_cards_are_those_of_the_server_and_results_are_observations():
    toolset = serving("plain", effects={"count": "pure"})
    tools = toolset.open(SAMPLE).tools
    assert [(one.spec.name, one.spec.description, one.effect) for one in tools.values()] == [
        ("echo", "Repeats.", "external"), ("count", "Counts.", "pure")
    ]  # fmt: skip
    assert tools["echo"].spec.parameters["required"] == ["text"]
    assert tools["count"].spec.parameters["additionalProperties"] is True  # a schema without properties takes any
    assert (await result_of(toolset)).text == "hello"


def test_what_a_tool_is_called_with_leaves_the_process_whatever_its_effect():
    tools = serving("plain", effects={"count": "pure"}).open(SAMPLE).tools
    assert all(declared(tool, ToolTraits).sends_data_out for tool in tools.values())
    assert [declared(tool, ToolTraits).triable for tool in tools.values()] == [False, True]


async def test_a_session_belongs_to_one_sample_and_ends_with_it():
    toolset = serving("plain")
    one, other = toolset.open(SAMPLE), toolset.open(Sample(Problem("p2", "?"), None))
    counts = [(await call(offer, "count", x=1)).text for offer in (one, one, other, one)]
    assert counts == ["1", "2", "1", "3"]
    one.state.close()
    other.state.close()
    for _ in range(100):
        if len(asyncio.all_tasks()) == 1:
            break
        await asyncio.sleep(0.05)
    assert len(asyncio.all_tasks()) == 1, "the tasks of the sessions end"
    with pytest.raises(asyncio.CancelledError):
        await call(one)


async def test_results_of_every_kind_are_read():
    mixed = await result_of(serving("mixed"))
    assert mixed.text == "two\na note\n[audio, which cannot be shown]\n[image, which cannot be shown]"
    assert mixed.images == (Image("data:image/png;base64,QQ=="),)
    assert (await result_of(serving("structured"))).text == '{"rate":3,"dose":NaN}'
    long = (await result_of(serving("long"))).text
    assert len(long) < 201_000 and long.endswith("\n[100,000 more characters were left out]")


async def test_a_name_is_offered_in_the_characters_that_endpoints_take():
    toolset = serving("dotted")
    assert (await result_of(toolset, "files_read")).text == "hello"


async def test_a_server_without_the_handshake_is_asked_in_the_version_that_has_none():
    assert (await result_of(serving("modern"))).text == "hello"


async def test_the_tools_own_error_is_an_observation():
    with pytest.raises(ToolError, match=r"^there is no such patient$"):
        await result_of(serving("fails"))


FAULTS = {
    "it dies": ("dies", "ended with exit code 3: the ward is closed"),
    "it hangs": ("hangs", r"did not answer within 1 s \(toolset.timeout_seconds\)"),
    "it writes garbage": ("garbage", "did not answer .* it wrote '<html>', which is no message of the protocol"),
    "it writes without end": ("flood", "sent a message of more than 8,388,608 bytes"),
    "it refuses by the protocol": ("refuses", "failed: MCPError: the database is locked"),
    "it answers in another form": (
        "wrong",
        "sent a CallToolResult that is not one of the protocol: content: Input should be",
    ),
    "it changes a card": ("changes", "changed its tools in the middle of a session: changed: echo"),
    "it loses a tool": ("loses", "changed its tools in the middle of a session: gone: count"),
}


@pytest.mark.parametrize("what, text", FAULTS.values(), ids=FAULTS)
async def test_a_fault_of_a_server_is_an_error_by_its_name_and_no_observation(what, text):
    toolset = serving(what, timeout_seconds=1.0 if what in ("hangs", "garbage") else 20.0)
    with pytest.raises(ModelError, match=rf"^the MCP server 'calc' \(.*\) {text}") as caught:
        await result_of(toolset)
    assert caught.value.kind == "mcp_server" and "\n" not in str(caught.value)


async def test_a_server_that_changed_since_the_run_began_is_an_error(tmp_path):
    toolset = serving("started", str(tmp_path / "mark"))
    assert set(toolset.open(SAMPLE).tools) == {"echo", "count"}
    with pytest.raises(ModelError, match=r"'calc' .* changed its tools since the run began: gone: count"):
        await result_of(toolset)


async def test_cards_in_a_file_need_no_server_until_a_call_and_are_compared_then(tmp_path):
    path, mark = tmp_path / "kept" / "cards.json", str(tmp_path / "mark")
    first = serving("started", mark, cards=str(path)).open(SAMPLE)
    gone = Mcp({"calc": Server([sys.executable, "-c", "exit(3)"])}, cards=str(path))
    assert {name: tool.spec for name, tool in gone.open(SAMPLE).tools.items()} == {
        name: tool.spec for name, tool in first.tools.items()
    }
    with pytest.raises(ModelError, match=r"ended with exit code 3"):
        await result_of(gone)
    with pytest.raises(ModelError, match=r"changed its tools since the run began: gone: count"):
        await result_of(serving("started", mark, cards=str(path)))
    path.write_text('{"calc": 3}')
    with pytest.raises(ConfigError, match=r"cards: .* is damaged"):
        gone = Mcp({"calc": Server([sys.executable, "-c", "exit(3)"])}, cards=str(path)).open(SAMPLE)


REFUSED = {
    "it does not answer": ("silent", "did not answer within 0.3 s"),
    "its pages have no end": ("pages", "lists its tools on more than 20 pages"),
    "it has many tools": ("many", "lists more than 200 tools"),
    "a card is large": ("large", "describes its tool 'echo' in 40,1.. bytes"),
    "a card has null for its properties": ("null", "describes its tool 'echo' with properties that are no object"),
    "a card has a list for its properties": ("list", r"not one of the protocol: tools\.0\.inputSchema\.properties: "),
    "names are the same": ("named", "two tools whose names are the same"),
}


@pytest.mark.parametrize("what, text", REFUSED.values(), ids=REFUSED)
def test_a_server_that_cannot_be_used_is_refused_before_the_run(what, text):
    with pytest.raises(ConfigError, match=rf"toolset\.servers\.calc: the MCP server 'calc' .*{text}"):
        serving(what, timeout_seconds=0.3 if what == "silent" else 20.0).open(SAMPLE)


def test_a_variable_that_a_server_needs_is_named_and_its_key_is_not():
    server = Server(url="http://127.0.0.1:9/mcp?token=abc", key_variable="NO_SUCH_KEY")
    with pytest.raises(ConfigError, match=r"\(http://127\.0\.0\.1:9/mcp\) needs the variable NO_SUCH_KEY, .* not set"):
        Mcp({"calc": server}).open(SAMPLE)


def test_an_interrupt_ends_the_listing_of_tools():
    Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        serving("silent").open(SAMPLE)
    assert time.monotonic() - begun < 10


def test_identities_differ_where_cards_or_versions_do():
    each = [serving(what).traits.identities["calc"] for what in ("plain", "fails", "other", "newer")]
    assert each[0] == each[1] and len(set(each)) == 3


WRONG = {
    "no server": ({}, "servers: empty; name at least one"),
    "neither way": ({"a": Server()}, "servers.a: name either a command or a url"),
    "both ways": ({"a": Server(["python3"], "http://a")}, "servers.a: name either a command or a url"),
    "no program": ({"a": Server(["no-such-program"])}, "servers.a.command: there is no program 'no-such-program'"),
    "no url": ({"a": Server(url="localhost:80")}, "servers.a.url: found 'localhost:80', should be like https://host"),
}


@pytest.mark.parametrize("servers, text", WRONG.values(), ids=WRONG)
def test_a_server_is_named_in_one_way(servers, text):
    with pytest.raises(ConfigError, match=re.escape(text)):
        Mcp(servers)


def test_tools_are_chosen_by_server_and_offered_once():
    assert list(serving("plain", tools=["count"]).open(SAMPLE).tools) == ["count"]
    with pytest.raises(
        ConfigError, match=r"tools: there is no 'cont'; did you mean count or echo\? it has echo, count"
    ):
        serving("plain", tools=["cont"]).open(SAMPLE)
    server = Server([sys.executable, SERVER, "plain"])
    with pytest.raises(
        ConfigError, match=r"'a' and 'b' both have a tool 'echo'; offer one of them: toolset\.servers\.b\.tools"
    ):
        Mcp({"a": server, "b": server}).open(SAMPLE)
    with pytest.raises(ConfigError, match="effects: there is no tool 'ecko'; did you mean echo"):
        serving("plain", effects={"ecko": "pure"}).open(SAMPLE)


async def test_at_most_so_many_episodes_have_sessions_and_lines_of_one_share_a_slot():
    slots = Slots(1)
    await asyncio.wait_for(asyncio.gather(slots.enter("a"), slots.enter("a")), 1)
    waiting = asyncio.create_task(slots.enter("b"))
    slots.release("a")
    await asyncio.sleep(0)
    assert not waiting.done()
    slots.release("a")
    await asyncio.wait_for(waiting, 1)
    given_up = asyncio.create_task(slots.enter("c"))
    await asyncio.sleep(0)
    given_up.cancel()
    slots.release("b")
    await asyncio.wait_for(slots.enter("d"), 1)
