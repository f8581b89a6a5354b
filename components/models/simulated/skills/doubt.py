"""Skill: saying that a tool is not to be trusted, where what came back from it shows that."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from components.messages import Message
from components.models.simulated.draws import Draws
from components.models.simulated.rates import Rates

# What a message shows -> what is said of it. Stale answers and numbers that are off show in nothing.
_SIGNS = (
    (re.compile(r"(\w+) is unavailable: the service does not respond"), "The tool {0} is unavailable."),
    (re.compile(r"Access denied: no permission to use (\w+)"), "The call of {0} was denied."),
    (re.compile(r"(\w+) timed out: no answer within"), "The call of {0} timed out."),
    (re.compile(r"(\w+), asked the same, (?:answers:|does not confirm)"), "The tools disagree: {0} says otherwise."),
    (re.compile(r"\((\w+)\); [^\"]+ \((\w+)\)\""), "The values of {0} and {1} contradict each other."),
)
_PLACES = (re.compile(r"^Thought: ", re.MULTILINE), re.compile("<Purpose>"))


def doubting(said: Message, messages: Sequence[Message], rates: Rates, draws: Draws) -> Message:
    """The reply, with a sentence on what the newest messages show of a tool; ``competence`` is how often it is seen."""
    newest: list[str] = []
    for message in reversed(messages):
        if message.role not in ("user", "tool"):
            break
        newest.append(message.text)
    told = [words.format(*found.groups()) for text in newest for sign, words in _SIGNS if (found := sign.search(text))]
    if not told or not draws.happens("doubts", rates.competence):
        return said
    for place in _PLACES:
        if found := place.search(said.text):
            return replace(said, content=f"{said.text[: found.end()]}{told[0]} {said.text[found.end() :]}")
    if said.text.startswith("Action:"):
        return replace(said, content=f"Thought: {told[0]}\n{said.text}")
    if said.tool_calls:
        return replace(said, content=f"{told[0]} {said.text}".strip())
    return said
