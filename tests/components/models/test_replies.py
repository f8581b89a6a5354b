import pytest

from components.core.messages import ToolCall, Usage
from components.models.prices import Price
from components.models.replies import Fault, read_reply
from tests.table import each_row


def test_tool_calls_keep_their_arguments_as_written(reply):
    calls = [
        {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x": '}},
        {"function": {"name": "g", "arguments": {"y": 1}}},
        {"id": "", "function": {"name": "h", "arguments": None}},
    ]
    completion = read_reply(reply({"content": None, "tool_calls": calls}), None)
    assert completion.message.tool_calls == (
        ToolCall("a", "f", '{"x": '),
        ToolCall("call_1", "g", '{"y":1}'),
        ToolCall("call_2", "h", ""),
    )
    assert (completion.message.content, completion.finish) == ("", "tool_calls")


def test_content_in_parts_is_joined(reply):
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert read_reply(reply({"content": parts}), None).message.content == "ab"


@each_row(
    "message, content, reasoning",
    [
        ({"reasoning_content": "r"}, "Hello", "r"),
        ({"reasoning": "r"}, "Hello", "r"),
        ({"reasoning_content": None}, "Hello", None),
        ({"content": "<think>r</think>\nHello"}, "\nHello", "r"),
        ({"content": "<thinking>r</thinking>Hello"}, "Hello", "r"),
        ({"content": "<think>r"}, "<think>r", None),
        ({"content": "Hello <think>r</think>"}, "Hello <think>r</think>", None),
        ({"content": "<think>r</think>Hello", "reasoning": None}, "Hello", "r"),
        ({"content": "<think>r</think>Hello", "reasoning": ""}, "<think>r</think>Hello", None),
        ({"reasoning_content": None, "reasoning": "r"}, "Hello", "r"),
    ],
)
def test_reasoning_is_kept_apart(reply, message, content, reasoning):
    read = read_reply(reply(message), None).message
    assert (read.content, read.reasoning) == (content, reasoning)


def test_a_refusal_is_the_reply(reply):
    completion = read_reply(reply({"content": None, "refusal": "No."}), None)
    assert (completion.message.content, completion.finish) == ("No.", "refusal")


@each_row(
    "written, read",
    [
        ("stop", "stop"),
        (None, "stop"),
        ("length", "length"),
        ("MAX_TOKENS", "length"),
        ("end_turn", "stop"),
        ("x", "x"),
    ],
)
def test_finish_reasons(reply, written, read):
    assert read_reply(reply(choice={"finish_reason": written}), None).finish == read


@pytest.mark.parametrize("finish", ["error", "abort"])
def test_a_reply_that_stopped_early_is_refused(reply, finish):
    with pytest.raises(Fault) as caught:
        read_reply(reply(choice={"finish_reason": finish}), None)
    assert caught.value.retryable


@pytest.mark.parametrize("content", [None, ""])
def test_a_reply_of_which_a_filter_left_nothing_is_no_answer(reply, content):
    with pytest.raises(Fault, match="filter") as caught:
        read_reply(reply({"content": content}, choice={"finish_reason": "content_filter"}), None)
    assert (caught.value.kind, caught.value.retryable) == ("content_filter", False)


@each_row(
    "usage, read",
    [
        (..., Usage()),
        (None, Usage()),
        ({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}, Usage()),
        ({"prompt_tokens": 100, "completion_tokens": 10}, Usage(100, 10, 120 / 1e6)),
        ({"prompt_tokens": 100, "completion_tokens": 0}, Usage(100, 0, 100 / 1e6)),
        ({"prompt_tokens": 100}, Usage(100)),
        (
            {
                "prompt_tokens": 100,
                "completion_tokens": 10,
                "prompt_tokens_details": {"cached_tokens": 40},
                "completion_tokens_details": {"reasoning_tokens": 5},
            },
            Usage(100, 10, 84 / 1e6, 40, 5),
        ),
        ({"prompt_tokens": 100, "completion_tokens": 10, "prompt_tokens_details": None}, Usage(100, 10, 120 / 1e6)),
        ({"prompt_tokens": 100, "completion_tokens": 10, "prompt_cache_hit_tokens": 0}, Usage(100, 10, 120 / 1e6, 0)),
    ],
)
def test_unreported_usage_is_none(reply, usage, read):
    found = read_reply(reply(usage=usage), Price(1.0, 2.0, 0.1)).usage
    assert found.cost_usd == (None if read.cost_usd is None else pytest.approx(read.cost_usd))
    assert (found.input_tokens, found.output_tokens, found.cached_tokens, found.reasoning_tokens) == (
        read.input_tokens, read.output_tokens, read.cached_tokens, read.reasoning_tokens,
    )  # fmt: skip


def test_unknown_price_gives_no_cost(reply):
    assert read_reply(reply(), None).usage == Usage(10, 2, None)


def test_an_empty_error_next_to_a_good_reply_is_ignored(reply):
    assert read_reply(reply(error={"message": "", "code": None}), None).message.content == "Hello"
    assert read_reply(reply(error=None), None).message.content == "Hello"


def test_an_error_in_the_choice_is_one(reply):
    with pytest.raises(Fault) as caught:
        read_reply(reply(choice={"error": {"message": "upstream", "code": 502}}), None)
    assert caught.value.kind == "server"


def test_logprobs_are_per_token(reply):
    tokens = [{"token": "a", "logprob": -0.5, "bytes": None, "top_logprobs": [], "id": 7}]
    completion = read_reply(reply(choice={"logprobs": {"content": tokens}}), None)
    assert completion.logprobs == [{"token": "a", "logprob": -0.5, "bytes": None, "top_logprobs": []}]


@pytest.mark.parametrize("content", [7, True, {"a": 1}])
def test_content_that_is_not_text_is_a_fault(reply, content):
    with pytest.raises(Fault, match="content is not a text"):
        read_reply(reply({"content": content}), None)


def test_more_calls_than_any_provider_supports_are_a_fault(reply):
    calls = [{"function": {"name": "f", "arguments": "{}"}}] * 129
    with pytest.raises(Fault, match="129 tool calls; 128 are the most"):
        read_reply(reply({"content": None, "tool_calls": calls}), None)


def test_tool_calls_that_are_not_a_list_are_a_fault(reply):
    with pytest.raises(Fault, match="tool_calls are not a list but dict"):
        read_reply(reply({"content": "a", "tool_calls": {"function": {"name": "f", "arguments": "{}"}}}), None)


@each_row("tokens", [-5, True, 2**60, 1.5, "7"])
def test_a_null_token_count_counts_as_not_reported(reply, tokens):
    body = reply({"content": "a"}) | {"usage": {"prompt_tokens": tokens, "completion_tokens": 3}}
    usage = read_reply(body, Price(1.0, 10.0, 0.5)).usage
    assert (usage.input_tokens, usage.cost_usd) == (None, None)


@each_row(
    "model, fingerprint, read",
    [
        ("gpt-4o", "fp_1", "gpt-4o fp_1"),
        ("gpt-4o", None, "gpt-4o"),
        (None, "fp_1", "fp_1"),
        ("m", 7, "m"),
        ("", "", ""),
    ],
)
def test_what_answered_is_a_model_with_the_fingerprint_of_its_server(reply, model, fingerprint, read):
    assert read_reply(reply(model=model, system_fingerprint=fingerprint), None).model == read
