import asyncio

import orjson
import pytest
import uvloop

from components.core.messages import Image, Message, ToolCall, ToolSpec
from components.models.openai_chat import OpenAIChat
from components.models.prices import Price
from components.models.replies import Fault
from tests.table import each_row

SPEC = ToolSpec("measure", "Measures.", {"type": "object", "properties": {"site": {"type": "string"}}})


@pytest.fixture
async def chat(server):
    opened = OpenAIChat(server.url, "test-model", "sk-secret-123456")
    yield opened
    await opened.close()


async def failure(chat, request):
    with pytest.raises(Fault) as caught:
        await chat.call(request)
    return caught.value


async def test_request_is_the_chat_completions_body(chat, server, ask):
    history = (
        Message("system", "Be brief."),
        Message("user", ("What is this?", Image("data:image/png;base64,AAAA"))),
        Message("assistant", "", (ToolCall("c1", "measure", '{"site": "liver"}'),), source="x", reasoning="hidden"),
        Message("tool", "3 cm", tool_call_id="c1"),
    )
    await chat.call(ask(*history, tools=[SPEC], temperature=0.0, stop=("END",), extra={"top_k": 5}))
    assert server.bodies == [
        {
            "model": "test-model",
            "messages": [orjson.loads(message.wire) for message in history],
            "tools": [orjson.loads(SPEC.wire)],
            "temperature": 0.0,
            "stop": ["END"],
            "top_k": 5,
            "seed": 7,
        }
    ]
    assert server.headers[0]["Authorization"] == "Bearer sk-secret-123456"


async def test_empty_sampling_leaves_the_defaults_to_the_provider(chat, server, ask):
    await chat.call(ask("Hi"))
    assert server.bodies == [{"model": "test-model", "messages": [{"role": "user", "content": "Hi"}], "seed": 7}]


async def test_seed_is_left_out_when_it_is_not_wanted_and_never_sent_twice(server, ask):
    chat = OpenAIChat(server.url, "m", seeded=False)
    await chat.call(ask("Hi"))
    await chat.close()
    assert "seed" not in server.bodies[0]
    chat = OpenAIChat(server.url, "m")
    assert chat.body(ask("Hi", extra={"seed": 3})).count(b'"seed"') == 1


async def test_openais_own_endpoint_gets_max_completion_tokens(ask):
    chat = OpenAIChat("https://api.openai.com/v1", "m", renames_max_tokens=True)
    body = orjson.loads(chat.body(ask("Hi", max_tokens=5, temperature=0.5)))
    assert (body["max_completion_tokens"], body["temperature"], "max_tokens" in body) == (5, 0.5, False)


async def test_large_images_are_sent(chat, server, ask):
    url = "data:image/png;base64," + "A" * 3_000_000
    await chat.call(ask(Message("user", ("Look", Image(url)))))
    assert server.bodies[0]["messages"][0]["content"][1]["image_url"]["url"] == url


async def test_no_key_sends_no_authorization(server, ask):
    chat = OpenAIChat(server.url, "m")
    await chat.call(ask("Hi"))
    await chat.close()
    assert "Authorization" not in server.headers[0]


async def test_connections_are_reused_and_counted(chat, server, ask):
    for _ in range(5):
        await chat.call(ask("Hi"))
    assert chat.connections == 1
    server.latency = 0.05
    await asyncio.gather(*(chat.call(ask("Hi")) for _ in range(4)))
    assert chat.connections == 4


async def test_cost_is_from_the_price(server, ask):
    chat = OpenAIChat(server.url, "m", price=Price(1.0, 10.0))
    completion = await chat.call(ask("Hi"))
    await chat.close()
    assert completion.usage.cost_usd == pytest.approx((10 * 1 + 2 * 10) / 1e6)


@each_row(
    "status, kind, retryable",
    [
        (400, "bad_request", False),
        (401, "auth", False),
        (403, "auth", False),
        (404, "bad_request", False),
        (408, "timeout", True),
        (422, "bad_request", False),
        (429, "rate_limit", True),
        (500, "server", True),
        (502, "server", True),
        (503, "server", True),
        (529, "server", True),
        (307, "redirect", False),
    ],
)
async def test_status_decides_the_kind(chat, server, ask, status, kind, retryable):
    server.will(server.status(status))
    fault = await failure(chat, ask("Hi"))
    assert (fault.kind, fault.retryable) == (kind, retryable)
    assert str(fault).startswith(f"HTTP {status}")


@pytest.mark.parametrize(
    "error",
    [
        {"message": "This model's maximum context length is 8192 tokens.", "code": "context_length_exceeded"},
        {"message": "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens"},
        {"message": "prompt is too long: 210000 tokens > 200000 maximum", "type": "invalid_request_error"},
    ],
)
async def test_too_long_a_prompt_is_a_context_window_error(chat, server, ask, error):
    server.will(server.status(400, error))
    fault = await failure(chat, ask("Hi"))
    assert (fault.kind, fault.retryable) == ("context_window", False)


async def test_retry_after_is_read(chat, server, ask):
    server.will(server.status(429, Retry_After="7"))
    assert (await failure(chat, ask("Hi"))).retry_after == 7.0


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("resets", "connection"),
        ("cuts", "unreadable"),
    ],
)
async def test_broken_connections_are_transient(chat, server, ask, answer, kind):
    server.will(getattr(server, answer)())
    fault = await failure(chat, ask("Hi"))
    assert (fault.kind, fault.retryable) == (kind, True)
    assert (await chat.call(ask("Hi"))).message.text == "Hello"


@each_row(
    "raw, kind",
    [
        (b"<html>busy</html>", "unreadable"),
        (b'{"choices": [{"mess', "unreadable"),
        (b"[]", "unreadable"),
        (b"", "unreadable"),
        (b'{"choices": []}', "unreadable"),
        (b'{"choices": [{"finish_reason": "stop"}]}', "unreadable"),
        (b'{"error": {"message": "overloaded", "code": 503}}', "server"),
        (b'{"error": {"message": "slow down", "code": 429}}', "rate_limit"),
        (b'{"error": "boom"}', "server"),
    ],
)
async def test_unreadable_replies_are_transient(chat, server, ask, raw, kind):
    server.will(server.raw(raw))
    fault = await failure(chat, ask("Hi"))
    assert (fault.kind, fault.retryable) == (kind, True)


async def test_nobody_listening_is_a_connection_error(ask):
    chat = OpenAIChat("http://127.0.0.1:9/v1", "m")
    fault = await failure(chat, ask("Hi"))
    await chat.close()
    assert (fault.kind, str(fault)[:13]) == ("connection", "no connection")


async def test_a_reply_that_is_not_http_is_unreadable(ask):
    async def serve(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"SSH-2.0-OpenSSH_9.6\r\n\r\n")
        writer.close()

    listener = await asyncio.start_server(serve, "127.0.0.1", 0)
    chat = OpenAIChat(f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/v1", "m")
    fault = await failure(chat, ask("Hi"))
    await chat.close()
    listener.close()
    assert fault.kind in ("unreadable", "connection") and fault.retryable


async def test_nan_and_half_surrogates_do_not_cost_a_reply(chat, server, ask):
    server.will(
        server.raw(
            b'{"choices": [{"message": {"content": "caf\\u00e9 \\ud83d"}, "logprobs": {"content":'
            b' [{"token": "a", "logprob": NaN}]}}]}'
        )
    )
    completion = await chat.call(ask("Hi"))
    assert completion.message.text == "café ?"
    assert orjson.loads(completion.message.wire)["content"] == "café ?"


async def test_cancelling_a_call_closes_its_connection(chat, server, ask):
    server.will(server.stalls())
    task = asyncio.create_task(chat.call(ask("Hi")))
    while not server.in_flight:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    for _ in range(100):
        if server.lost:
            break
        await asyncio.sleep(0.01)
    assert (server.lost, server.in_flight) == (1, 0)


async def test_closed_pool_opens_again(chat, ask):
    await chat.call(ask("Hi"))
    await chat.close()
    assert (await chat.call(ask("Hi"))).message.text == "Hello"


def test_works_on_uvloop_and_on_one_loop_after_another(serving, ask):
    async def once(chat):
        async with serving() as server:
            chat.__init__(server.url, "m")
            text = (await chat.call(ask("Hi"))).message.text
            await chat.close()
            return text

    chat = OpenAIChat("http://127.0.0.1:9/v1", "m")
    assert [uvloop.run(once(chat)), asyncio.run(once(chat)), uvloop.run(once(chat))] == ["Hello"] * 3


async def test_a_reply_that_is_not_a_completion_is_not_retried(chat, server, ask):
    server.will(server.raw(b" " * ((8 << 20) + 1)))
    fault = await failure(chat, ask("Hi"))
    assert (fault.kind, fault.retryable) == ("too_large", False)
    assert str(fault) == "the reply is larger than 8 MB"
