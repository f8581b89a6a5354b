"""litellm itself, against a local server: it takes seconds to import."""

import asyncio
import warnings

import orjson
import pytest

from components.core.errors import CUT_OFF
from components.core.messages import Image, Message, ToolCall, ToolSpec
from components.models.litellm_chat import LitellmChat
from components.models.openai_chat import OpenAIChat
from components.models.prices import Price
from components.models.replies import Fault
from tests.components.models.test_overflow import NOT, TOO_LONG
from tests.slow import slow

pytestmark = slow

SPEC = ToolSpec("measure", "Measures.", {"type": "object", "properties": {"site": {"type": "string"}}})
CALLS = [
    {"id": "c1", "type": "function", "function": {"name": "measure", "arguments": '{"site": "liver"}'}},
    {"id": "c2", "type": "function", "function": {"name": "measure", "arguments": '{"site": "liv'}},
]
LOGPROBS = {"content": [{"token": "He", "logprob": -0.1, "bytes": [72, 101], "top_logprobs": []}], "refusal": None}
USAGE = {
    "prompt_tokens": 100,
    "completion_tokens": 40,
    "total_tokens": 140,
    "prompt_tokens_details": {"cached_tokens": 64},
    "completion_tokens_details": {"reasoning_tokens": 30},
}


@pytest.fixture
async def pair(request, server, ask):
    """Both transports to one server. litellm is imported before the clock of any test runs."""
    prefix = getattr(request, "param", "hosted_vllm")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # litellm's import of its own dependencies
        slow = LitellmChat(f"{prefix}/test-model", server.url, "sk-secret-123456", Price(1.0, 10.0, 0.5))
        await slow.call(ask("warm up"))
    fast = OpenAIChat(server.url, "test-model", "sk-secret-123456", Price(1.0, 10.0, 0.5))
    server.bodies.clear()
    server.headers.clear()
    yield fast, slow
    await fast.close()
    await slow.close()


REPLIES = {
    "text": {},
    "null content": {"message": {"content": None}},
    "tool calls": {"message": {"content": None, "tool_calls": CALLS}, "choice": {"finish_reason": "tool_calls"}},
    "tool calls under stop": {"message": {"content": "", "tool_calls": CALLS[:1]}},
    "reasoning_content": {"message": {"reasoning_content": "First ..."}},
    "reasoning": {"message": {"reasoning": "First ..."}},
    "think in content": {"message": {"content": "<think>First ...</think>\n\nHello"}},
    "open think": {"message": {"content": "<think>First ..."}},
    "refusal": {"message": {"content": None, "refusal": "I cannot help with that."}},
    "length": {"choice": {"finish_reason": "length"}},
    "content filter": {"choice": {"finish_reason": "content_filter"}},
    "eos_token": {"choice": {"finish_reason": "eos_token"}},
    "unknown finish": {"choice": {"finish_reason": "repetition"}},
    "no finish": {"choice": {"finish_reason": None}},
    "logprobs": {"choice": {"logprobs": LOGPROBS}},
    "null logprobs": {"choice": {"logprobs": None}},
    "usage missing": {"usage": ...},
    "usage details": {"usage": USAGE},
}


@pytest.mark.parametrize("pair", ["hosted_vllm", "openai"], indirect=True)
@pytest.mark.parametrize("name", REPLIES)
async def test_both_transports_give_the_same_completion(pair, server, ask, reply, name):
    server.default = reply(**{**REPLIES[name]})
    fast, slow = [await chat.call(ask("Hi", tools=[SPEC])) for chat in pair]
    assert fast == slow
    assert fast.message.reasoning == slow.message.reasoning


async def test_both_transports_send_the_same_request(pair, server, ask):
    history = (
        Message("system", "Be brief."),
        Message("user", ("What is this?", Image("data:image/png;base64,AAAA"))),
        Message("assistant", "", (ToolCall("c1", "measure", '{"site": "liver"}'),)),
        Message("tool", "3 cm", tool_call_id="c1"),
    )
    for chat in pair:
        await chat.call(
            ask(*history, tools=[SPEC], temperature=0.0, max_tokens=9, stop=("END",), logprobs=True, extra={"top_k": 5})
        )
    fast, slow = server.bodies
    assert slow == fast
    assert server.headers[1]["Authorization"] == server.headers[0]["Authorization"]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 408, 422, 429, 500, 502, 503, 529])
async def test_both_transports_name_a_status_alike(pair, server, ask, status):
    server.will(server.status(status), server.status(status))
    kinds = []
    for chat in pair:
        with pytest.raises(Fault) as caught:
            await chat.call(ask("Hi"))
        kinds.append(caught.value.kind)
    assert kinds[0] == kinds[1]
    assert len(server.bodies) == 2


async def test_too_long_a_prompt_is_a_context_window_error(pair, server, ask):
    error = {"message": "This model's maximum context length is 8192 tokens.", "code": "context_length_exceeded"}
    server.will(server.status(400, error))
    with pytest.raises(Fault) as caught:
        await pair[1].call(ask("Hi"))
    assert caught.value.kind == "context_window"


async def test_retry_after_is_read(pair, server, ask):
    server.will(server.status(429, Retry_After="7"))
    with pytest.raises(Fault) as caught:
        await pair[1].call(ask("Hi"))
    assert (caught.value.kind, caught.value.retry_after) == ("rate_limit", 7.0)


@pytest.mark.parametrize("answer", ["resets", "cuts", "malformed", "empty choices", "error body"])
async def test_transient_faults_are_retryable(pair, server, ask, reply, answer):
    answers = {
        "malformed": server.raw(b'{"choices": [{"mess'),
        "empty choices": server.replies(reply(choices=[])),
        "error body": server.replies({"error": {"message": "overloaded", "code": 503}}),
    }
    broken = answers[answer] if answer in answers else getattr(server, answer)()
    server.will(broken, broken)
    with pytest.raises(Fault) as caught:
        await pair[1].call(ask("Hi"))
    assert caught.value.retryable


async def test_cancelling_a_call_closes_its_connection(pair, server, ask):
    server.will(server.stalls())
    task = asyncio.create_task(pair[1].call(ask("Hi")))
    while not server.in_flight:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    for _ in range(100):
        if server.lost:
            break
        await asyncio.sleep(0.01)
    assert server.lost == 1


async def test_a_missing_key_is_reported_without_asking_the_provider(pair, ask, monkeypatch):
    monkeypatch.delenv("GROQ_API_KEY", raising=False)
    with pytest.raises(Fault, match="GROQ_API_KEY is not set") as caught:
        await LitellmChat("groq/llama-3.3-70b-versatile").call(ask("Hi"))
    assert caught.value.kind == "auth"


async def test_seed_goes_only_to_providers_that_take_one(pair, ask):
    claude, other = LitellmChat("anthropic/claude-sonnet-4-5"), LitellmChat("openai/gpt-4o-mini")
    assert ("seed" in claude.arguments(ask("Hi")), other.arguments(ask("Hi"))["seed"]) == (False, 7)


async def test_connections_stay_open_for_another_model(pair, server, ask):
    other = LitellmChat("hosted_vllm/test-model", server.url)
    await other.call(ask("Hi"))
    await other.close()
    assert (await pair[1].call(ask("Hi"))).message.text == "Hello"


@pytest.mark.parametrize("pair", ["hosted_vllm", "openai"], indirect=True)
async def test_a_later_model_opens_connections_again(pair, server, ask):
    await pair[1].close()
    later = LitellmChat(pair[1].model, server.url, "sk-secret-123456")
    assert (await later.call(ask("Hi"))).message.text == "Hello"
    await later.close()
    assert (await pair[1].call(ask("Hi"))).message.text == "Hello"


ANTHROPIC = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [{"type": "text", "text": "Hel"}],
             "stop_reason": CUT_OFF, "stop_sequence": None, "usage": {"input_tokens": 10, "output_tokens": 2}}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("model", "body"), [("anthropic/claude-3-5-haiku-latest", ANTHROPIC), ("openai/m", None)])
async def test_a_reply_that_the_window_cuts_off_says_so_through_litellm(server, ask, reply, model, body):
    server.default = body or reply(choice={"finish_reason": CUT_OFF})
    chat = LitellmChat(model, server.url, "sk-test-123456")
    assert (await chat.call(ask("Hi"))).finish == CUT_OFF
    await chat.close()


async def kind(chat, ask):
    with pytest.raises(Fault) as caught:
        await chat.call(ask("Hi"))
    await chat.close()
    return caught.value.kind


LITELLM = {
    "anthropic/claude-3-5-haiku-latest": ("Anthropic", "Anthropic, with the reply"),
    "gemini/gemini-2.0-flash": ("Gemini",),
    "mistral/mistral-large-latest": ("Mistral",),
    "cohere_chat/command-r": ("Cohere",),
    "groq/llama-3.1-8b-instant": ("Groq", "Groq, without its code"),
    "together_ai/m": ("Together",),
    "deepseek/deepseek-chat": ("DeepSeek",),
    "fireworks_ai/m": ("Fireworks",),
    "openrouter/m": ("OpenRouter, of the provider",),
    "xai/grok-3": ("xAI",),
    "hosted_vllm/m": ("vLLM, since 0.16", "vLLM, prompt"),
    "ollama_chat/m": ("Ollama",),
    "openai/m": ("OpenAI", "SGLang", "llama.cpp", "LM Studio, MLX", "TGI"),
}


@pytest.mark.filterwarnings("ignore")  # of pydantic, about litellm's own classes
@pytest.mark.parametrize(("model", "name"), [(model, name) for model, names in LITELLM.items() for name in names])
async def test_through_litellm(server, ask, model, name):
    status, body = TOO_LONG[name]
    server.will(*[server.raw(orjson.dumps(body), status)] * 2)
    assert await kind(LitellmChat(model, server.url, "sk-test-123456"), ask) == "context_window"
    assert len(server.bodies) == 1


@pytest.mark.parametrize(("model", "name"), [
    ("groq/llama-3.1-8b-instant", "Groq, reply"), ("openai/gpt-4o", "OpenAI, reply"), ("openai/gpt-4o", "OpenAI, tokens per minute"),
    ("anthropic/claude-3-5-haiku-latest", "Anthropic, reply"),
])  # fmt: skip
async def test_similar_replies_are_not_an_overflow_through_litellm(server, ask, model, name):
    status, body, found = NOT[name]
    server.will(server.raw(orjson.dumps(body), status))
    assert await kind(LitellmChat(model, server.url, "sk-test-123456"), ask) == found
