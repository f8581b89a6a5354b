"""OpenAI's chat completions as a server reads and writes them, whole or as server-sent events.

Source: https://platform.openai.com/docs/api-reference/chat (read November 2026).
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from components.core.messages import JSON, Completion, Image, Message, Role, ToolCall, ToolSpec

ROLES: Mapping[str, Role] = {
    "system": "system", "developer": "system", "user": "user", "assistant": "assistant", "tool": "tool",
}  # fmt: skip
_PIECE = re.compile(r"\s*\S{1,40}|\s+\Z")  # about a word, as servers stream


@dataclass(frozen=True)
class ChatRequest:
    """What a ``body`` asks for; ``model`` is empty where it names none."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    seed: int
    model: str
    stream: bool
    usage_in_stream: bool
    logprobs: bool
    body: JSON

    @classmethod
    def of(cls, body: JSON, messages: tuple[Message, ...], tools: tuple[ToolSpec, ...]) -> "ChatRequest":
        """The parts, with what both APIs call the same. Raises ValueError without messages."""
        if not messages:
            raise ValueError("there are no messages")
        usage = bool((body.get("stream_options") or {}).get("include_usage"))
        seed, model = int(body.get("seed") or 0), str(body.get("model") or "")
        return cls(messages, tools, seed, model, bool(body.get("stream")), usage, bool(body.get("logprobs")), body)


def read(body: JSON) -> ChatRequest:
    """The request in a body. Raises ValueError, KeyError, TypeError or AttributeError for one that is not valid."""
    tools = tuple(read_tool(one["function"]) for one in body.get("tools") or ())
    return ChatRequest.of(body, tuple(_message(one) for one in body["messages"]), tools)


def read_tool(function: JSON) -> ToolSpec:
    """A tool from its description as a function. Raises ValueError for parts of other types."""
    name, about, parameters = function["name"], function.get("description") or "", function.get("parameters") or {}
    if not (isinstance(name, str) and isinstance(about, str) and isinstance(parameters, dict)):
        raise ValueError("of a function, name and description are texts, parameters an object")
    return ToolSpec(name, about, parameters)


def _message(wire: JSON) -> Message:
    content = wire.get("content") or ""
    if not isinstance(content, str):
        content = tuple(p["text"] if p["type"] == "text" else Image(p["image_url"]["url"]) for p in content)
    functions = ((one["id"], one["function"]) for one in wire.get("tool_calls") or ())
    calls = tuple(ToolCall(name, function["name"], function["arguments"]) for name, function in functions)
    return Message(ROLES[wire["role"]], content, calls, wire.get("tool_call_id"))


def write(completion: Completion, number: int, model: str, created: int) -> dict[str, Any]:
    """The whole reply; ``created`` in seconds since 1970."""
    message, usage = completion.message, completion.usage
    content: dict[str, Any] = {"role": "assistant", "content": message.content}
    if message.tool_calls:
        content["tool_calls"] = orjson.loads(message.wire)["tool_calls"]
    sent, written = usage.input_tokens or 0, usage.output_tokens or 0
    logprobs = {} if completion.logprobs is None else {"logprobs": {"content": completion.logprobs}}
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": created,
        "model": model,
        "choices": [{"index": 0, "message": content, "finish_reason": completion.finish, **logprobs}],
        "usage": {"prompt_tokens": sent, "completion_tokens": written, "total_tokens": sent + written},
    }


def write_events(reply: JSON, usage: bool) -> Iterator[bytes]:
    """The reply in pieces: content, tool calls, the finish reason; then, on request, the usage."""
    head = {key: reply[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    if usage:
        head["usage"] = None

    def chunk(delta: JSON, finish: str | None = None) -> bytes:
        return event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    choice = reply["choices"][0]
    yield chunk({"role": "assistant", "content": ""})
    for piece in pieces(choice["message"]["content"]):
        yield chunk({"content": piece})
    for index, call in enumerate(choice["message"].get("tool_calls", ())):
        function = {"name": call["function"]["name"], "arguments": ""}
        yield chunk({"tool_calls": [{"index": index, "id": call["id"], "type": "function", "function": function}]})
        for piece in pieces(call["function"]["arguments"]):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, choice["finish_reason"])
    if usage:
        yield event({**head, "choices": [], "usage": reply["usage"]})
    yield b"data: [DONE]\n\n"


def pieces(text: str) -> list[str]:
    """A text as a stream sends it; joined, they are the text."""
    return _PIECE.findall(text)


def event(data: JSON, name: str = "") -> bytes:
    """A server-sent event."""
    return (b"event: " + name.encode() + b"\n" if name else b"") + b"data: " + orjson.dumps(data) + b"\n\n"
