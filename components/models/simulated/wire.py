"""Reading requests of the chat-completions API, as the simulated endpoint gets them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from components.core.messages import Image, Message, ToolCall, ToolSpec


class Unreadable(Exception):
    """The body of a request is none of the API's."""


@dataclass(frozen=True)
class Asked:
    """What a request asks; ``model`` is empty where it names none."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    seed: int
    model: str


def body_of(raw: bytes) -> Mapping[str, Any]:
    """The JSON object that was sent. Raises Unreadable."""
    try:
        body = orjson.loads(raw)
    except ValueError as error:
        raise Unreadable(str(error)) from None
    if not isinstance(body, dict):
        raise Unreadable(f"found {type(body).__name__}, an object was expected")
    return body


def asked_in(body: Mapping[str, Any]) -> Asked:
    """What a body asks. Raises Unreadable; whatever goes wrong later is the server's fault."""
    try:
        messages = tuple(message_of(one) for one in body["messages"])
        tools = tuple(spec_of(one) for one in body.get("tools") or ())
        if not messages:
            raise ValueError("there are no messages")
        return Asked(messages, tools, int(body.get("seed") or 0), str(body.get("model") or ""))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Unreadable(str(error)) from None


def message_of(wire: Mapping[str, Any]) -> Message:
    """A message from its wire form, with the same digest."""
    content = wire.get("content") or ""
    if not isinstance(content, str):
        content = tuple(p["text"] if p["type"] == "text" else Image(p["image_url"]["url"]) for p in content)
    calls = tuple(
        ToolCall(c["id"], c["function"]["name"], c["function"]["arguments"]) for c in wire.get("tool_calls") or ()
    )
    return Message(wire["role"], content, calls, wire.get("tool_call_id"))


def spec_of(wire: Mapping[str, Any]) -> ToolSpec:
    """A tool from its wire form, with the same digest."""
    function = wire["function"]
    return ToolSpec(function["name"], function.get("description", ""), function.get("parameters") or {})
