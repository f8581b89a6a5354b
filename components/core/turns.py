"""Joining one more user message to a dialogue."""

from collections.abc import Sequence
from dataclasses import replace

from components.core.messages import Message


def continued(messages: Sequence[Message], ask: Message) -> list[Message]:
    """The messages with one more of the user, joined to the last: some chat templates want roles to alternate."""
    last = messages[-1]
    if last.role != "user":
        return [*messages, ask]
    if isinstance(last.content, str) and isinstance(ask.content, str):
        return [*messages[:-1], replace(ask, content=f"{last.content}\n\n{ask.content}")]
    parts = [(part.content,) if isinstance(part.content, str) else part.content for part in (last, ask)]
    return [*messages[:-1], replace(ask, content=(*parts[0], *parts[1]))]
