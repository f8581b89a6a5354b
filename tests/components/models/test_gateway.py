import asyncio
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import orjson
import pytest
import uvloop
import yaml
from aiohttp import web

from components.core.errors import ConfigError, ModelError
from components.core.messages import Message
from components.core.protocols import Model
from components.models.gateway import Gateway
from runner.config.build import construct
from tests.components.models.conftest import good
from tests.slow import slow
from tests.table import each_row

KEY = "sk-proj-abcDEF0123456789secret"
ROOT = Path(__file__).parents[3]
CONFIGS = sorted((ROOT / "conf/model").glob("*.yaml"))
OURS = [path for path in CONFIGS if "gateway.Gateway" in path.read_text()]


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("TEST_KEY", KEY)


@pytest.fixture
async def open_gateway(server):
    """Makes gateways to the server that retry at once, and closes them."""
    opened = []

    def make(**settings):
        gateway = Gateway(**{"name": "test-model", "api_base": server.url, "api_key_env": "TEST_KEY", **settings})
        gateway._retries.first_seconds = 0.001
        opened.append(gateway)
        return gateway

    yield make
    for gateway in opened:
        await gateway.close()


async def failure(gateway, request):
    with pytest.raises(ModelError) as caught:
        await gateway.generate(request)
    return caught.value


async def test_a_call_gets_its_completion(open_gateway, server, ask):
    gateway = open_gateway(price={"input": 1.0, "output": 10.0})
    completion = await gateway.generate(ask("Hi", temperature=0.5))
    assert (completion.message.text, completion.usage.cost_usd) == ("Hello", pytest.approx(30 / 1e6))
    assert server.bodies[0]["temperature"] == 0.5
    assert isinstance(gateway, Model)


async def test_only_the_request_is_sent(open_gateway, server, ask):
    gateway = open_gateway(temperature=0.7, extra={"top_k": 5})
    await gateway.generate(ask("Hi"))
    assert "temperature" not in server.bodies[0]
    assert orjson.loads(gateway.sampling.wire) == {"temperature": 0.7, "top_k": 5}


@pytest.mark.parametrize("transport", ["direct", pytest.param("litellm", marks=slow)])
async def test_transient_faults_are_retried_and_counted(open_gateway, server, ask, transport):
    gateway = open_gateway(provider="vllm", transport=transport)
    server.will(server.status(429), server.status(500), server.resets(), server.cuts(), server.raw(b"{"))
    assert (await gateway.generate(ask("Hi"))).message.text == "Hello"
    stats = gateway.counters()
    assert (stats["calls"], stats["failed"], sum(stats["retries"].values()), stats["throttles"]) == (1, 0, 5, 1)
    assert (stats["in_flight"], len(server.bodies)) == (0, 6)


async def test_empty_choices_and_errors_with_status_200_are_retried(open_gateway, server, ask, reply):
    gateway = open_gateway()
    server.will(server.replies(reply(choices=[])), server.replies({"error": {"message": "overloaded", "code": 503}}))
    assert (await gateway.generate(ask("Hi"))).message.text == "Hello"
    assert gateway.counters()["retries"] == {"unreadable": 1, "server": 1}


async def test_it_gives_up_after_the_retries(open_gateway, server, ask):
    gateway = open_gateway(retries=3)
    server.will(*[server.status(503, {"message": "The server is overloaded"})] * 10)
    error = await failure(gateway, ask("Hi"))
    assert (error.kind, len(server.bodies), gateway.counters()["failed"]) == ("server", 4, 1)
    assert (
        str(error) == f"test-model at {server.url[:-3]}: HTTP 503: The server is overloaded; gave up after 4 attempts"
    )


async def test_a_server_that_was_never_reached_is_refused_at_once(ask):
    gateway = Gateway("test-model", "vllm", api_base="http://127.0.0.1:9/v1")
    with pytest.raises(
        ConfigError, match=r"test-model at http://127.0.0.1:9: no connection .* \(vllm serve test-model\)"
    ):
        await gateway.generate(ask("Hi"))
    assert gateway.counters()["retries"] == {} and gateway.counters()["in_flight"] == 0


async def test_a_server_that_went_away_is_tried_again(serving, ask):
    async with serving() as server:
        gateway = Gateway("test-model", api_base=server.url, retries=2)
        gateway._retries.first_seconds = 0.001
        await gateway.generate(ask("Hi"))
        await gateway.close()
    assert (await failure(gateway, ask("Hi"))).kind == "connection"
    assert gateway.counters()["retries"] == {"connection": 2}


@pytest.mark.parametrize("status", [400, 401, 403, 404])
async def test_4xx_is_not_retried(open_gateway, server, ask, status):
    server.will(server.status(status))
    error = await failure(open_gateway(), ask("Hi"))
    assert len(server.bodies) == 1
    assert error.kind == ("auth" if status in (401, 403) else "bad_request")


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_redirect_names_where_it_points_and_the_setting(open_gateway, server, ask, status):
    server.will(server.status(status, location=f"https://me:pa?s@s@other:8443/v2/chat/completions#key={KEY}"))
    error = await failure(open_gateway(), ask("Hi"))
    assert (len(server.bodies), error.kind) == (1, "redirect")
    assert str(error).endswith(
        f": HTTP {status}, which is not followed: it points to https://[hidden]other:8443/v2; "
        "set model.api_base to the address that it points to, if that is your server"
    )


@pytest.mark.parametrize("transport", ["direct", pytest.param("litellm", marks=slow)])
@pytest.mark.parametrize("status", [400, 401, 503])
async def test_neither_key_nor_request_is_in_an_error_text(open_gateway, server, ask, transport, status):
    message = f"Incorrect API key provided: {KEY}. Input was 'Mrs Quarterman, swollen knee' Bearer {KEY}"
    server.will(server.status(status, {"message": message, "code": KEY}))
    gateway = open_gateway(provider="openai", transport=transport, retries=0)
    error = await failure(gateway, ask(Message("user", "Mrs Quarterman, swollen knee")))
    texts = (str(error), repr(error), repr(gateway), str(gateway.counters()), repr(gateway._transport))
    assert not any(KEY in text or "abcDEF" in text or "Quarterman" in text for text in texts)


async def test_a_stalled_call_times_out_and_is_retried(open_gateway, server, ask):
    gateway = open_gateway(timeout_seconds=0.1, retries=1)
    server.will(server.stalls(), server.stalls())
    error = await failure(gateway, ask("Hi"))
    assert (error.kind, gateway.counters()["retries"], gateway.counters()["in_flight"]) == (
        "timeout",
        {"timeout": 1},
        0,
    )
    assert "no reply within 0.1 seconds" in str(error) and "model.timeout_seconds" in str(error)


@pytest.mark.parametrize("transport", ["direct", pytest.param("litellm", marks=slow)])
async def test_a_reply_above_the_limit_is_refused_once_and_the_setting_named(open_gateway, server, ask, transport):
    server.will(*[server.replies(good({"content": "x" * n})) for n in (1 << 20, 900_000)])
    gateway = open_gateway(provider="openai", transport=transport, max_reply_mb=1)
    error = await failure(gateway, ask("Hi"))
    assert (error.kind, len(server.bodies)) == ("too_large", 1)
    assert str(error).endswith("is larger than 1 MB; raise model.max_reply_mb, or see what answers at model.api_base")
    assert len((await gateway.generate(ask("Hi"))).message.text) == 900_000


async def test_a_reply_that_does_not_end_is_not_waited_for(open_gateway, server, ask):
    closed = asyncio.Event()

    async def endless(request):
        response = web.StreamResponse()
        await response.prepare(request)
        try:
            while True:
                await response.write(bytes(1 << 16))
        finally:
            closed.set()

    server.will(endless)
    error = await failure(open_gateway(max_reply_mb=1), ask("Hi"))
    assert error.kind == "too_large"
    await asyncio.wait_for(closed.wait(), 5)


@pytest.mark.parametrize("status", [429, 503])  # only the first pauses all calls
async def test_retry_after_is_honoured(open_gateway, server, ask, status):
    server.will(server.status(status, Retry_After="0.3"))
    gateway, loop = open_gateway(), asyncio.get_running_loop()
    before = loop.time()
    await gateway.generate(ask("Hi"))
    assert 0.3 <= loop.time() - before < 3
    assert 0.3 <= gateway.counters()["waited_seconds"] < 3


@pytest.mark.parametrize(("status", "kind"), [(429, "quota"), (503, "server")])
async def test_a_pause_of_a_day_is_not_waited_for(open_gateway, server, ask, status, kind):
    server.will(server.status(status, Retry_After="86400"))
    gateway = open_gateway()
    error = await failure(gateway, ask("Hi"))
    assert (error.kind, len(server.bodies)) == (kind, 1)
    assert "asking to wait 24 hours; the longest wait is 10 minutes" in str(error)
    assert (await gateway.generate(ask("Hi"))).message.text == "Hello"


async def test_a_pause_is_reported_once(open_gateway, server, ask, caplog):
    server.will(*[server.status(429, Retry_After="300")] * 4)
    gateway = open_gateway(max_connections=4)
    calls = asyncio.gather(*(gateway.generate(ask(str(n))) for n in range(4)))
    while len(server.bodies) < 4 or server.in_flight:
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.05)
    calls.cancel()
    messages = [record.getMessage() for record in caplog.records]
    assert messages == [
        f"test-model at {server.url[:-3]} asks for a pause of 300 seconds (HTTP 429 (some_type)): waiting"
    ]


async def test_100_calls_through_a_limit_of_10(open_gateway, server, ask):
    server.latency = 0.01
    gateway = open_gateway(max_connections=10)
    await asyncio.gather(*(gateway.generate(ask(str(n))) for n in range(100)))
    assert (server.peak, len(server.bodies)) == (10, 100)
    assert (gateway.counters()["peak_in_flight"], gateway.counters()["connections"]) == (10, 10)


async def test_429_replies_reduce_the_concurrency(open_gateway, server, ask):
    server.latency = 0.01
    server.will(*[server.status(429)] * 20)
    gateway = open_gateway(max_connections=20)
    await asyncio.gather(*(gateway.generate(ask(str(n))) for n in range(40)))
    assert (gateway.counters()["throttles"], gateway.counters()["lowest_limit"]) == (20, 10)
    assert gateway.counters()["failed"] == 0


async def test_cancelling_closes_the_connection_and_frees_the_limiter(open_gateway, server, ask):
    server.will(server.stalls())
    gateway = open_gateway(max_connections=1)
    first = asyncio.create_task(gateway.generate(ask("a")))
    second = asyncio.create_task(gateway.generate(ask("b")))
    while not server.in_flight:
        await asyncio.sleep(0.01)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert (await second).message.text == "Hello"
    await asyncio.sleep(0.05)
    assert (server.lost, gateway.counters()["in_flight"]) == (1, 0)


@slow
async def test_tokens_per_minute_delay_calls(open_gateway, server, ask):
    gateway = open_gateway(tokens_per_minute=300)
    gateway._limiter.tokens.seconds = 0.6
    loop = asyncio.get_running_loop()
    before = loop.time()
    await asyncio.gather(*(gateway.generate(ask("Hi", max_tokens=200)) for _ in range(2)))
    assert loop.time() - before < 0.55  # the first call took 12 tokens, not the 200 it might have
    await gateway.generate(ask(Message("user", "word " * 300)))
    assert loop.time() - before > 0.55


def test_it_works_on_uvloop(serving, ask):
    async def once():
        async with serving() as server:
            patient = Gateway("m", api_base=server.url, timeout_seconds=30, retries=0)
            text = (await patient.generate(ask("Hi"))).message.text
            server.will(server.stalls())
            hasty = Gateway("m", api_base=server.url, timeout_seconds=0.2, retries=0)
            kind = (await failure(hasty, ask("Hi"))).kind
            await patient.close()
            await hasty.close()
            return text, kind

    assert uvloop.run(once()) == ("Hello", "timeout")


def test_a_missing_key_is_reported_at_construction(monkeypatch):
    monkeypatch.delenv("TEST_KEY")
    with pytest.raises(ConfigError, match="the environment variable TEST_KEY is not set"):
        Gateway("gpt-4o-mini", provider="openai", api_key_env="TEST_KEY")
    Gateway("gpt-4o-mini", provider="openai", api_key_env="TEST_KEY", key_optional=True)


def test_a_key_in_the_configuration_is_refused_and_not_repeated():
    with pytest.raises(ConfigError, match="must be the name of an environment variable") as caught:
        Gateway("m", provider="openai", api_key_env=KEY)
    assert KEY not in str(caught.value)
    with pytest.raises(ConfigError, match="must not hold credentials") as caught:
        Gateway("m", api_base="http://me:pa55word@host/v1")
    assert "pa55word" not in str(caught.value)


@each_row(
    "settings, message",
    [
        ({"name": ""}, "model.name: found ''"),
        ({"transport": "fast"}, "model.transport: found 'fast', did you mean auto? valid: auto, direct, litellm"),
        ({"max_connections": 0}, "model.max_connections: found 0, should be greater than or equal to 1"),
        ({"retries": 1.5}, "model.retries: found 1.5, should be a whole number"),
        ({"retries": None}, "model.retries: found None, should be a whole number"),
        ({"timeout_seconds": "2 min"}, "model.timeout_seconds: found '2 min', should be a number"),
        ({"temperature": -1}, "model.temperature: found -1, should be greater than or equal to 0"),
        ({"permits": "phi"}, "model.permits: found 'phi'"),
        ({"permits": ["secret"]}, "model.permits[0]: found 'secret'"),
        ({"extra": {"stream": True}}, "model.extra holds further sampling parameters, found ['stream']"),
        ({"price": {"input": 1}}, "model.price must hold input and output"),
        ({"api_base": "127.0.0.1:8000"}, "model.api_base must be an http(s) URL such as http://127.0.0.1:8000/v1"),
        ({"provider": "anthropic", "transport": "direct"}, "model.transport=direct needs model.api_base"),
    ],
)
def test_a_wrong_setting_is_named(settings, message):
    with pytest.raises(ConfigError) as caught:
        construct({"_target_": "components.models.gateway.Gateway", "name": "m", **settings}, "model")
    assert message in str(caught.value)


def test_identity_is_the_name_and_not_where_it_is_served():
    here = Gateway("m", api_base="http://here/v1", max_connections=5, timeout_seconds=1.0)
    there = Gateway(
        "m", provider="vllm", api_base="http://there/v1", transport="litellm", price={"input": 0, "output": 0}
    )
    assert here.identity == there.identity == "m"
    assert Gateway("m", send_seed=False).identity != "m"


def test_price_row_says_what_was_used_or_why_nothing_was():
    assert Gateway("gpt-4o-mini", provider="openai").traits.price["row"] == "gpt-4o-mini"
    assert Gateway("gpt-4o-mini", provider="openai").traits.context_tokens == 128_000
    own = Gateway("openai/gpt-4o-mini", api_base="http://here/v1").traits.price
    assert (own["row"], own["input"]) == (None, None) and own["reason"].startswith("price unknown")
    stated = Gateway("gpt-4o-mini", provider="openai", price={"input": 0, "output": 0}).traits.price
    assert (stated["row"], stated["input"], stated["source"]) == ("gpt-4o-mini", 0, "model.price")
    assert orjson.dumps(dict(stated))


def test_stats_can_be_written_down():
    assert orjson.dumps(Gateway("m").counters())


def test_construction_imports_nothing_heavy():
    code = (
        "import sys; from components.models.gateway import Gateway; Gateway('m', provider='openai');"
        "print([m for m in ('aiohttp', 'httptools', 'litellm', 'openai', 'httpx') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert found.stdout.strip() == "[]"


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_every_configuration_builds_and_shows_every_setting(path, monkeypatch):
    lines = path.read_text().splitlines()
    settings = yaml.safe_load(path.read_text())
    assert settings.pop("_target_") == "components.models.gateway.Gateway"
    assert list(settings) == [one.name for one in fields(Gateway)]
    assert lines[0].startswith("# ") and len(lines) <= 30
    if settings["api_key_env"]:
        monkeypatch.setenv(settings["api_key_env"], KEY)
    gateway = Gateway(**settings)
    assert isinstance(gateway, Model)
    assert (gateway.traits.price["input"] is None) == (path.stem in ("ollama", "vllm"))


def test_there_is_a_configuration_for_every_provider():
    names = {path.stem for path in OURS}
    assert names >= {"openai", "anthropic", "gemini", "azure", "bedrock", "ollama", "vllm", "litellm"}
