"""What a server sends and what is read of it."""

from collections.abc import Mapping
from typing import NamedTuple

from components.models.replies import Fault


class Seen(NamedTuple):
    """A completion; ``usage``: input, output, cached and reasoning tokens, None where the server reports none."""

    text: str = "Hello"
    reasoning: str | None = None
    calls: tuple = ()
    finish: str = "stop"
    usage: tuple = (20, 5, None, None)


class Failed(NamedTuple):
    """A fault; ``wait``: seconds, as the server asks."""

    kind: str
    wait: float | None = None
    retryable: bool = False


class Form(NamedTuple):
    """One reply, with what is to be read of it. ``body``: bytes as they are, all else as JSON."""

    body: object
    seen: Seen | Failed
    status: int = 200
    headers: Mapping[str, str] | None = None


def chat(message, finish="stop", usage=None, **more):
    """A reply of chat completions; a text stands for a message that is nothing else."""
    if isinstance(message, str):
        message = {"content": message}
    return {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1764140000, "model": "m",
        "choices": [{"index": 0, "message": {"role": "assistant", **message}, "logprobs": None, "finish_reason": finish}],
        "usage": usage or {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25}, **more,
    }  # fmt: skip


def call(name, arguments, call_id):
    """A tool call of chat completions."""
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


async def read(chat, request):
    """What the client makes of the next reply."""
    try:
        message, usage, finish, *_ = await chat.call(request)
    except Fault as fault:
        return Failed(fault.kind, fault.retry_after, fault.retryable)
    calls = tuple((call.id, call.name, call.arguments) for call in message.tool_calls)
    counts = (usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.reasoning_tokens)
    return Seen(message.content, message.reasoning, calls, finish, counts)
