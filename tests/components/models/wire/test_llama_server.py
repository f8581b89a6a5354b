"""llama.cpp's own server, built from source, with a model of random weights: both transports against it.

Source: https://github.com/ggml-org/llama.cpp/tree/master/tools/server. Built by ``make .venv-llama/.installed``; runs with
``WARDROUND_TEST_SLOW=1 python -m pytest tests/components/models/wire/test_llama_server.py``.
"""

import asyncio
import json

import pytest
from openai import AsyncOpenAI

from components.core.messages import Message, ToolCall, ToolSpec
from components.models.litellm_chat import LitellmChat
from components.models.openai_chat import OpenAIChat
from tests.components.models.wire.forms import Failed, read
from tests.llama_server import needs_llama, serving, slots
from tests.slow import slow

pytestmark = [slow, needs_llama, pytest.mark.filterwarnings("ignore")]  # of pydantic, about litellm's own classes
SITES = ["liver", "lung"]
SPEC = ToolSpec(
    "measure", "Measures.", {"type": "object", "properties": {"site": {"enum": SITES}, "mm": {"type": "integer"}}, "required": ["site", "mm"]}
)  # fmt: skip
SCHEMA = {"type": "object", "properties": {"answer": {"enum": ["A", "B", "C"]}}, "required": ["answer"]}


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("llama"), "-c", "32768", "--parallel", "1") as url:
        yield url


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Four requests at once share a window of 512 tokens, as they do by default."""
    with serving(tmp_path_factory.mktemp("small"), "-c", "512", "--parallel", "4", "--kv-unified") as url:
        yield url


@pytest.fixture(params=["direct", "litellm"])
async def connect(request):
    """Opens the transport for an address."""
    opened = []

    def make(url):
        opened.append(
            OpenAIChat(url, "random") if request.param == "direct" else LitellmChat("hosted_vllm/random", url, "none")
        )
        return opened[-1]

    yield make
    for chat in opened:
        await chat.close()


async def test_text_and_usage_are_those_of_a_streamed_reply(url, connect, ask):
    asked = {"temperature": 1.0, "max_tokens": 40}
    completion = await connect(url).call(
        ask("Where is it?", seed=3, **asked, extra={"cache_prompt": False, "ignore_eos": True})
    )
    async with AsyncOpenAI(base_url=url, api_key="none") as client:
        stream = await client.chat.completions.create(
            model="random", messages=[{"role": "user", "content": "Where is it?"}], seed=3, stream=True,
            stream_options={"include_usage": True}, extra_body={"cache_prompt": False, "ignore_eos": True}, **asked,
        )  # fmt: skip
        chunks = [chunk async for chunk in stream]
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    usage = chunks[-1].usage
    assert completion.message.text == text and len(text) > 3
    assert (completion.usage.input_tokens, completion.usage.output_tokens) == (
        usage.prompt_tokens,
        usage.completion_tokens,
    )
    assert completion.finish == next(
        c.choices[0].finish_reason for c in chunks if c.choices and c.choices[0].finish_reason
    )


async def test_reply_is_cut_at_max_tokens(url, connect, ask):
    completion = await connect(url).call(ask("Hi", max_tokens=5, extra={"ignore_eos": True}))
    assert (completion.finish, completion.usage.output_tokens) == ("length", 5)


async def test_tools_are_called_and_their_results_are_taken(url, connect, ask):
    chat, asked = connect(url), Message("user", "How large is it?")
    completion = await chat.call(ask(asked, tools=[SPEC], temperature=1.0, max_tokens=600, seed=3))
    reply, calls = completion.message, completion.message.tool_calls
    assert calls and len({call.id for call in calls}) == len(calls) and completion.finish == "tool_calls"
    for call in calls:
        assert call.name == "measure" and call.parsed["site"] in SITES and isinstance(call.parsed["mm"], int)
    results = [Message("tool", "12 mm", tool_call_id=call.id) for call in calls]
    assert (await chat.call(ask(asked, reply, *results, tools=[SPEC], max_tokens=5))).usage.output_tokens > 0


async def test_calls_that_were_cut_off_can_be_answered(url, connect, ask):
    calls = tuple(ToolCall(str(n), "measure", text) for n, text in enumerate(('{"site": "li', "")))
    results = [Message("tool", "this is not JSON", tool_call_id=call.id) for call in calls]
    asked = ask(Message("user", "Hi"), Message("assistant", "", calls), *results, tools=[SPEC], max_tokens=5)
    assert (await connect(url).call(asked)).usage.output_tokens > 0


async def test_reply_fits_the_schema_that_is_asked_for(url, connect, ask):
    form = {"type": "json_schema", "json_schema": {"name": "choice", "schema": SCHEMA, "strict": True}}
    completion = await connect(url).call(
        ask("Which?", temperature=1.0, max_tokens=200, extra={"response_format": form})
    )
    assert json.loads(completion.message.text)["answer"] in "ABC" and completion.finish == "stop"


async def test_every_token_has_its_probability_and_the_likeliest_others(url, connect, ask):
    asked = {"max_tokens": 6, "extra": {"logprobs": True, "top_logprobs": 3, "ignore_eos": True}}
    completion = await connect(url).call(ask("Hi", **asked))
    assert "".join(token["token"] for token in completion.logprobs) == completion.message.text
    assert [len(token["top_logprobs"]) for token in completion.logprobs] == [3] * 6
    assert all(token["logprob"] <= 0 for token in completion.logprobs)


async def test_prompt_that_is_longer_than_the_window_is_an_overflow(small, connect, ask):
    assert await read(connect(small), ask("long " * 600)) == Failed("context_window")


async def test_requests_that_are_only_together_too_long_are_tried_again(small, connect, ask):
    chat, asked = connect(small), ask("short " * 40, max_tokens=200, extra={"ignore_eos": True})
    seen = await asyncio.gather(*(read(chat, asked) for _ in range(4)))
    failed = [one for one in seen if isinstance(one, Failed)]
    assert failed and set(failed) == {Failed("server", None, True)}
    assert (await read(chat, asked)).finish == "length"


async def test_call_that_is_cancelled_ends_on_the_server(url, connect, ask):
    call = asyncio.ensure_future(connect(url).call(ask("Hi", max_tokens=30_000, extra={"ignore_eos": True})))
    while not (await asyncio.to_thread(slots, url))[0]["is_processing"]:
        await asyncio.sleep(0.01)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await asyncio.sleep(2.5)  # it looks once a second, and later where it is asked for its slots meanwhile
    assert not (await asyncio.to_thread(slots, url))[0]["is_processing"]


async def test_schema_that_it_does_not_know_is_refused(url, connect, ask):
    form = {"type": "json_schema", "json_schema": {"schema": {"type": "nothing"}}}
    assert await read(connect(url), ask("Hi", max_tokens=5, extra={"response_format": form})) == Failed("bad_request")
