"""A sentence in the reply that a tool is not to be trusted, where what came back from it shows that."""

import re
from collections.abc import Sequence
from dataclasses import replace

from components.core.messages import Message
from components.simulation.draws import Draws, Rates

_TOOL = r"(\w{1,99})"
# Words of a message, the pattern around them -> what is said. Stale answers and altered numbers show in nothing.
_SIGNS = tuple(
    (words, re.compile(pattern.replace("TOOL", _TOOL)), said)
    for words, pattern, said in (
        (" is unavailable: ", "TOOL is unavailable: the service does not respond", "The tool {0} is unavailable."),
        ("Access denied: ", "Access denied: no permission to use TOOL", "The call of {0} was denied."),
        (" timed out: ", "TOOL timed out: no answer within", "The call of {0} timed out."),
        (", asked the same, ", "TOOL, asked the same, (?:answers:|does not confirm)",
         "The tools disagree: {0} says otherwise."),
        ('); ', r'\(TOOL\); [^"]{1,999} \(TOOL\)"', "The values of {0} and {1} contradict each other."),
    )
)  # fmt: skip
_PLACES = (re.compile(r"^Thought: ", re.MULTILINE), re.compile("<Purpose>"))


def doubting(said: Message, messages: Sequence[Message], rates: Rates, draws: Draws) -> Message:
    """The reply, with a sentence on what the newest messages show of a tool; ``competence`` is how often it is seen."""
    newest: list[str] = []
    for message in reversed(messages):
        if message.role not in ("user", "tool"):
            break
        newest.append(message.text)
    signs = [
        said_of.format(*found.groups())
        for text in newest
        for words, sign, said_of in _SIGNS
        if words in text and (found := sign.search(text))
    ]
    if not signs or not draws.happens("doubts", rates.competence):
        return said
    for place in _PLACES:
        if found := place.search(said.text):
            return replace(said, content=f"{said.text[: found.end()]}{signs[0]} {said.text[found.end() :]}")
    if said.text.startswith("Action:"):
        return replace(said, content=f"Thought: {signs[0]}\n{said.text}")
    if said.tool_calls:
        return replace(said, content=f"{signs[0]} {said.text}".strip())
    return said
