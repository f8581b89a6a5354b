"""How sure the simulated model says it is, where a prompt asks for it, and the log-probabilities of its tokens.

Four random numbers are drawn per reply. Where the answer is right its certainty is the largest of them, else the second
largest: beta distributed, (4, 1) and (3, 2), which is perfectly calibrated where three of four answers are right. The
log-probabilities say this certainty. In words the model is overconfident: it states the square root, rounded to 5 %,
and at ``malformed_rate`` nothing that can be read.
"""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from components.core.messages import Message
from components.prompts import load
from components.simulation.asked import Asked
from components.simulation.history import call_in
from components.text.answers import after_mark

_MARK = "how likely you think it is, in per cent"
_N, _STEP = 4, 5  # numbers drawn; per cent
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_ENDINGS: Mapping[str, tuple[re.Pattern[str], str]] = {  # form -> the end of what ends a dialogue, and what replaces it
    "xml_call": (re.compile(r"</EndCall>\s*\Z"), "<Confidence>{}</Confidence>\n</EndCall>"),
    "bracket_json": (re.compile(r"(?<=[\"'\]\w])\}\]\s*\Z"), ', "confidence": {}}}]'),
    "bracket_text": (re.compile(r"\]\s*\Z"), " | confidence: {}]"),
    "code_block": (re.compile(r"TERMINATE\s*\Z"), "Confidence: {}\nTERMINATE"),
    "native_tools": (re.compile(r"\Z"), "\nConfidence: {}"),
    "plain": (re.compile(r"\Z"), "\nConfidence: {}"),
}


def without_request(messages: Sequence[Message]) -> tuple[Sequence[Message], Collection[str]]:
    """The messages without what asks for a confidence, and the forms in which they do: that of the last one, where it
    is a plain question, else those of the grammar."""
    if not any(_MARK in one.text for one in messages if one.role != "assistant"):
        return messages, ()
    texts = {form: load("confidence").render(form) for form in _ENDINGS}
    found = [form for form, text in texts.items() if any(text in one.text for one in messages)]
    forms = ["plain"] if texts["plain"] in messages[-1].text else [form for form in found if form != "plain"]

    return [_without(one, [texts[form] for form in found]) if _MARK in one.text else one for one in messages], forms


def _without(message: Message, texts: Sequence[str]) -> Message:
    """A message without these texts, which follow its own or are parts of it."""
    parts = []
    for part in (message.content,) if isinstance(message.content, str) else message.content:
        for text in texts if isinstance(part, str) else ():
            part = str(part).replace(f"\n\n{text}", "").replace(text, "")
        parts += [part] if part else []
    return replace(message, content="".join(map(str, parts)) if isinstance(message.content, str) else tuple(parts))


def certainty(asked: Asked, reply: Message) -> float:
    """The certainty of a reply, 0 to 1; of one on nothing that is known as of a wrong one."""
    action = call_in(reply.text)
    answer = str(action.arguments.get("response", "")) if action is not None else after_mark(reply.text)
    right = asked.knowledge is not None and asked.voice.serves(asked.knowledge, answer)
    drawn = sorted(asked.draws.share(f"certainty {number}") for number in range(_N))
    return drawn[-1 if right else -2]


def with_confidence(reply: Message, forms: Collection[str], certain: float, unread: bool) -> Message:
    """A reply that ends a dialogue, with the confidence in the form that is asked for; any other as it is."""
    said = "null" if unread else str(min(100, _STEP * round(100 * math.sqrt(certain) / _STEP)))
    if reply.tool_calls:
        return reply
    for form in forms:
        end, written = _ENDINGS[form]
        if end.search(reply.text) and ("Finish[" in reply.text or not form.startswith("bracket")):
            return replace(reply, content=end.sub(written.format(said), reply.text, count=1))
    return reply


def logprobs(reply: Message, certain: float) -> list[dict[str, Any]]:
    """The tokens of a reply, all with the log-probability of its certainty."""
    value = math.log(max(certain, 1e-9))
    return [
        {"token": token, "logprob": value, "bytes": list(token.encode()), "top_logprobs": []}
        for token in _TOKEN.findall(reply.text)
    ]
