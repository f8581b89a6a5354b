import asyncio

import aiohttp
import orjson
import pytest

from components.core.messages import Image, Message, ToolCall, ToolSpec
from components.models.simulated import Core, Simulated
from components.models.simulated.serve import Faults, Server
from components.serving.endpoint import Unreadable, read_request
from tests.slow import slow
from tests.table import each_row

HELLO = {"messages": [{"role": "user", "content": "hello"}]}


@pytest.fixture
async def serving():
    """Starts servers on free ports; gives the base URL and a session."""
    servers = []
    async with aiohttp.ClientSession() as session:

        async def start(server):
            servers.append(server)
            return await server.start(), session

        yield start
    for server in servers:
        await server.stop()


async def test_it_reports_its_models_and_what_it_has_studied(serving):
    url, session = await serving(Server(Simulated(), latency=0.3))
    async with session.get(f"{url}/models") as reply:
        assert [m["id"] for m in (await reply.json())["data"]] == ["simulated"]
    posts = [session.post(f"{url}/chat/completions", json=HELLO) for _ in range(5)]
    assert [r.status for r in await asyncio.gather(*posts)] == [200] * 5
    async with session.get(url.removesuffix("/v1") + "/stats") as reply:
        assert await reply.json() == {"requests": 5, "answered": 5, "most_in_flight": 5, "in_flight": 0}


@pytest.mark.parametrize(
    "wrong", [b"{", b"[]", b'{"messages": 3}', b'{"messages": [{"content": "x"}]}', b'{"messages": []}']
)
async def test_an_unreadable_request_is_reported_as_a_client_error(serving, wrong):
    server = Server(Simulated())
    url, session = await serving(server)
    async with session.post(f"{url}/chat/completions", data=wrong) as reply:
        assert reply.status == 400
        assert (await reply.json())["error"]["type"] == "invalid_request_error"
    assert server.seen["bad_requests"] == 1 and server.in_flight == 0


@slow
async def test_faults_happen_at_their_rates(serving):
    faults = Faults(status_429=0.1, status_500=0.05, resets=0.04, stalls=0.03, malformed=0.02, stall_seconds=0.001)
    server = Server(Simulated(), faults)
    url, session = await serving(server)
    outcomes = []

    async def ask():
        try:
            async with session.post(f"{url}/chat/completions", json=HELLO) as reply:
                if reply.status == 429:
                    assert reply.headers["Retry-After"] == "0.1"
                try:
                    orjson.loads(await reply.read())
                    outcomes.append(reply.status)
                except orjson.JSONDecodeError:
                    outcomes.append("malformed")
        except aiohttp.ClientError:
            outcomes.append("cut off")

    for _ in range(8):
        await asyncio.gather(*(ask() for _ in range(75)))
    shares = {kind: outcomes.count(kind) / len(outcomes) for kind in (200, 429, 500, "malformed", "cut off")}
    wanted = {200: 0.76, 429: 0.1, 500: 0.05, "malformed": 0.02, "cut off": 0.07}
    assert shares == pytest.approx(wanted, abs=0.05)
    counts = ("answered", "status_429", "status_500", "malformed")
    assert [server.seen[c] for c in counts] == [outcomes.count(k) for k in (200, 429, 500, "malformed")]
    assert server.seen["resets"] + server.seen["stalls"] == outcomes.count("cut off")


async def test_without_faults_nothing_goes_wrong_and_with_all_everything_does(serving):
    for share, status in ((0.0, 200), (1.0, 500)):
        url, session = await serving(Server(Simulated(), Faults(status_500=share)))
        for _ in range(30):
            async with session.post(f"{url}/chat/completions", json=HELLO) as reply:
                assert reply.status == status


async def test_an_error_in_the_core_is_reported_as_a_server_error(serving):
    class Broken(Core):
        def reply(self, messages, tools, seed, logprobs=False):
            raise KeyError("a mistake in the core")

    model = Simulated()
    model.core = Broken(model.core.rates)
    server = Server(model)
    url, session = await serving(server)
    async with session.post(f"{url}/chat/completions", json=HELLO) as reply:
        assert reply.status == 500
    assert server.seen["bad_requests"] == 0 and server.in_flight == 0


def test_requests_received_over_http_have_the_same_digest():
    messages = [
        Message("user", ("text", Image("data:image/png;base64,AA"))),
        Message("assistant", "", (ToolCall("1", "add", '{"n": 1}'),)),
        Message("tool", "2", tool_call_id="1"),
    ]
    tool = ToolSpec("add", "Adds.", {"type": "object", "properties": {"n": {"type": "integer"}}})
    body = {"messages": [orjson.loads(m.wire) for m in messages], "tools": [orjson.loads(tool.wire)]}
    found = read_request(orjson.dumps(body))
    assert [one.digest for one in (*found.messages, *found.tools)] == [one.digest for one in (*messages, tool)]


def test_a_request_is_read_with_what_it_may_leave_out():
    asked = read_request(b'{"messages": [{"role": "user", "content": "x"}]}')
    assert (asked.messages, asked.tools, asked.seed, asked.model) == ((Message("user", "x"),), (), 0, "")
    assert read_request(b'{"messages": [{"role": "user"}], "seed": 3, "model": "m"}').seed == 3


@each_row("raw", [b"{", b"[]", b"3", b"{}", b'{"messages": []}', b'{"messages": [3]}', b'{"messages": [{"role": "user"}], "seed": "x"}', b'{"messages": [{"role": "user"}], "tools": [1]}'])  # fmt: skip
def test_an_invalid_request_is_unreadable(raw):
    with pytest.raises(Unreadable):
        read_request(raw)
