"""OpenAI's responses as a server reads and writes them, whole or as server-sent events. Nothing is stored.

Source: https://platform.openai.com/docs/api-reference/responses (read November 2026).
"""

from collections.abc import Iterator
from typing import Any

from components.core.messages import JSON, Completion, Image, Message, ToolCall
from components.serving.chat_api import ROLES, ChatRequest, event, pieces, read_tool


def read(body: JSON) -> ChatRequest:
    """The request in a body. Raises ValueError, KeyError, TypeError or AttributeError for one that is not valid."""
    if stored := next((key for key in ("previous_response_id", "conversation", "prompt") if body.get(key)), None):
        raise ValueError(f"{stored}: nothing is stored here; send the whole conversation as input")
    given = body["input"]
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    if body.get("instructions"):
        items = [{"role": "system", "content": body["instructions"]}, *items]
    messages: list[Message] = []
    for item in items:
        if (kind := item.get("type", "message")) == "function_call":  # of the message before it, as in chat completions
            last = messages.pop() if messages and messages[-1].role == "assistant" else Message("assistant")
            call = ToolCall(item["call_id"], item["name"], item["arguments"])
            messages.append(Message("assistant", last.content, (*last.tool_calls, call)))
        elif kind == "function_call_output":
            messages.append(Message("tool", _content(item["output"]), tool_call_id=item["call_id"]))
        elif kind == "message":
            messages.append(Message(ROLES[item["role"]], _content(item["content"])))
        elif kind != "reasoning":  # hidden thoughts of an earlier reply
            raise ValueError(f"an input item of type {kind} is not supported")
    for tool in (tools := body.get("tools") or ()):
        if tool["type"] != "function":
            raise ValueError(f"a tool of type {tool['type']} is not supported")
    return ChatRequest.of(body, tuple(messages), tuple(map(read_tool, tools)))


def _content(content: str | list[JSON]) -> str | tuple[str | Image, ...]:
    if isinstance(content, str):
        return content
    parts = tuple(Image(one["image_url"]) if one["type"] == "input_image" else str(one["text"]) for one in content)
    return parts[0] if len(parts) == 1 and isinstance(parts[0], str) else parts


def write(completion: Completion, number: int, model: str, created: int) -> dict[str, Any]:
    """The whole reply; ``created`` in seconds since 1970."""
    message, usage = completion.message, completion.usage
    output: list[dict[str, Any]] = []
    if message.text or not message.tool_calls:
        content = [{"type": "output_text", "text": message.text, "annotations": []}]
        output.append({"type": "message", "id": f"msg_{number}", "role": "assistant", "content": content})
    for index, call in enumerate(message.tool_calls):
        called = {"call_id": call.id, "name": call.name, "arguments": call.arguments}
        output.append({"type": "function_call", "id": f"fc_{number}_{index}", **called})
    sent, written = usage.input_tokens or 0, usage.output_tokens or 0
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": created,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "model": model,
        "output": [{**item, "status": "completed"} for item in output],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": sent, "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": written, "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": sent + written,
        },
    }  # fmt: skip


def write_events(reply: JSON, _: bool) -> Iterator[bytes]:
    """The reply in pieces, an item after the other; the last event has the whole reply, the usage in it."""
    started = {"response": {**reply, "status": "in_progress", "output": [], "usage": None}}
    parts: list[tuple[str, JSON]] = [("response.created", started), ("response.in_progress", started)]
    for index, item in enumerate(reply["output"]):
        parts += _item_events(item, index)
    for number, (name, data) in enumerate([*parts, ("response.completed", {"response": reply})]):
        yield event({"type": name, "sequence_number": number, **data}, name)


def _item_events(item: JSON, index: int) -> Iterator[tuple[str, JSON]]:
    place, is_text = {"output_index": index, "item_id": item["id"]}, item["type"] == "message"
    added = {**item, "status": "in_progress", **({"content": []} if is_text else {"arguments": ""})}
    yield "response.output_item.added", {"output_index": index, "item": added}
    if is_text:
        part, place = item["content"][0], {**place, "content_index": 0}
        yield "response.content_part.added", {**place, "part": {**part, "text": ""}}
        for piece in pieces(part["text"]):
            yield "response.output_text.delta", {**place, "delta": piece, "logprobs": []}
        yield "response.output_text.done", {**place, "text": part["text"], "logprobs": []}
        yield "response.content_part.done", {**place, "part": part}
    else:
        for piece in pieces(item["arguments"]):
            yield "response.function_call_arguments.delta", {**place, "delta": piece}
        called = {name: item[name] for name in ("name", "arguments")}
        yield "response.function_call_arguments.done", {**place, **called}
    yield "response.output_item.done", {"output_index": index, "item": item}
