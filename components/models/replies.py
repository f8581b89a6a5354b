"""Read a chat-completions reply into a Completion; both transports end here, so both give the same.

Source: OpenAI's chat-completions reference, and what vLLM, Ollama, DeepSeek and OpenRouter add to it.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import orjson

from components.core.messages import Completion, Message, ToolCall, Usage
from components.models.endpoints import Price
from components.models.faults import Fault, from_error_body

_THOUGHTS = re.compile(r"<(?:think|thinking)>(.*?)</(?:think|thinking)>(.*)", re.DOTALL)
_FINISH = {
    "eos": "stop", "eos_token": "stop", "end_turn": "stop", "stop_sequence": "stop", "STOP": "stop",
    "max_tokens": "length", "MAX_TOKENS": "length", "tool_use": "tool_calls", "function_call": "tool_calls",
}  # fmt: skip
_LOGPROB = ("token", "logprob", "bytes", "top_logprobs")  # of each token
_MOST_CALLS = 128  # what providers take as tools at the most
_LONGEST_NAME = 200  # of a model, as its server reports it
_BROKEN_OFF = frozenset({"error", "ERROR", "abort", "network_error"})


def read_reply(body: object, price: Price | None) -> Completion:
    """The completion in a decoded reply. Raises Fault where there is none. Thoughts that a server left in the content
    (``<think>...</think>`` at its start) become reasoning. A refusal in its own field becomes the content, with finish
    ``refusal``."""
    if not isinstance(body, Mapping):
        raise Fault("unreadable", f"the reply is not a JSON object but {type(body).__name__}")
    if _means_something(body.get("error")):
        raise from_error_body(body["error"])
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
        raise Fault("unreadable", "the reply holds no choices")
    choice = choices[0]
    if _means_something(choice.get("error")):
        raise from_error_body(choice["error"])
    message = choice.get("message")
    if not isinstance(message, Mapping):
        raise Fault("unreadable", "the reply's choice holds no message")
    finish = str(choice.get("finish_reason") or "stop")
    if finish in _BROKEN_OFF:
        raise Fault("server", f"the server broke the reply off (finish reason {finish!r})")
    finish = _FINISH.get(finish, finish)
    content, reasoning = _texts(message)
    calls = tuple(_calls(message.get("tool_calls")))
    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal and not content:
        content, finish = refusal, "refusal"
    elif calls and finish == "stop":
        finish = "tool_calls"
    reply = Message("assistant", content, calls, reasoning=reasoning or None)
    logprobs, answered_by = choice.get("logprobs"), body.get("model")
    tokens = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    if isinstance(tokens, list):
        tokens = [{key: one.get(key) for key in _LOGPROB} for one in tokens if isinstance(one, Mapping)]
    completion = Completion(reply, read_usage(body, price), finish, tokens if isinstance(tokens, list) else None)
    return replace(completion, model=answered_by[:_LONGEST_NAME]) if isinstance(answered_by, str) else completion


def read_usage(body: Mapping[str, Any], price: Price | None) -> Usage:
    """Tokens and cost of a reply; what was not reported is None, also where a library put zeros in its place."""
    usage = body.get("usage")
    if not isinstance(usage, Mapping):
        return Usage()
    sent, received = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
    if not sent and not received:
        return Usage()
    cached = _count(usage.get("prompt_tokens_details"), "cached_tokens")
    if cached is None:
        cached = _count(usage, "prompt_cache_hit_tokens")
    reasoning = _count(usage.get("completion_tokens_details"), "reasoning_tokens")
    cost = None
    if price is not None and sent is not None and received is not None:
        cost = price.cost(sent, received, cached or 0)
    return Usage(sent, received, cost, cached, reasoning)


def _texts(message: Mapping[str, Any]) -> tuple[str, str]:
    """The content and the reasoning."""
    content = message.get("content") or ""
    if isinstance(content, list):
        content = "".join(
            p if isinstance(p, str) else str(p.get("text", "")) for p in content if isinstance(p, str | Mapping)
        )
    if not isinstance(content, str):
        raise Fault("unreadable", f"the reply's content is not a text but {type(content).__name__}")
    for field in ("reasoning_content", "reasoning"):
        if field in message:
            thoughts = message[field]
            return str(content), thoughts if isinstance(thoughts, str) else ""
    if content.startswith("<think") and (match := _THOUGHTS.match(content)):
        return match[2], match[1]
    return str(content), ""


def _calls(calls: object) -> list[ToolCall]:
    """Tool calls with their arguments as written; a missing id is made from the position."""
    read: list[ToolCall] = []
    if not calls:
        return read
    if not isinstance(calls, list):
        raise Fault("unreadable", f"the reply's tool_calls are not a list but {type(calls).__name__}")
    if len(calls) > _MOST_CALLS:
        raise Fault("unreadable", f"the reply holds {len(calls)} tool calls; {_MOST_CALLS} are the most that are read")
    for index, call in enumerate(calls):
        function = call.get("function") if isinstance(call, Mapping) else None
        if not isinstance(function, Mapping):
            raise Fault("unreadable", "the reply holds a tool call without a function")
        arguments = function.get("arguments")
        text = arguments if isinstance(arguments, str) else orjson.dumps(arguments).decode() if arguments else ""
        read.append(ToolCall(str(call.get("id") or f"call_{index}"), str(function.get("name") or ""), text))
    return read


def _count(place: object, field: str) -> int | None:
    value = place.get(field) if isinstance(place, Mapping) else None
    return value if type(value) is int and 0 <= value < 1 << 53 else None


def _means_something(error: object) -> bool:
    """Whether an ``error`` field reports one: some servers send an empty object with a good reply."""
    if isinstance(error, Mapping):
        return bool(error.get("message")) or error.get("code") is not None
    return bool(error)
