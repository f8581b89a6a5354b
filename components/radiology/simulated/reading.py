"""How the simulated model reads radiology prompts: tool cards, memory variables, plans, earlier calls."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, NamedTuple

import orjson

from components.core.messages import Message, ToolSpec
from components.radiology.simulated.stages import MARKS as ADVISED
from components.radiology.tasks import BQ, CATEGORIES, PLANNING_NAMES, Step
from components.simulation.grammar import STYLE_MARKS

QUANTIFICATION = "Biomarker Quantification Tool"  # one planning name for both kinds of measurement
NOTES, REFLECTS = "Use when:", "<Reflection>"
EVIDENCE, ALIGNS = "supporting evidence", "align with the plan"  # what a conclusion is to hold after the answer
AS_OBJECT, THINKS, HANDED = '"Tool Chain"', "Self-Reflection", "\n[Plan]\n"
_NAMED = re.compile(r'\{"Name":\s*"([^"\\]+)",(.*)')
_OBJECT = re.compile(r'\{"\$.*\}')
_VARIABLES = re.compile(r"\$\w+\$")
_UPPER = re.compile(r"upper bound ([\d.]+)")
_LISTED = re.compile(r"Supported list: \[([^\]]*)\]")
_LABEL = re.compile(r"(?:(Organ|Anomaly) )?([A-Z]\w+ [A-Z]\w+) \(([^;)]*)")
_STEPS = {**PLANNING_NAMES, QUANTIFICATION: (BQ, None)}
_PLANNED = re.compile("|".join(re.escape(name) for name in sorted(_STEPS, key=len, reverse=True)))
_XML_TOOL = re.compile(r"<(?:Call|EndCall)>.*?<Tool>\s*(.*?)\s*</Tool>", re.DOTALL)
# Marks of the format of the reply that a prompt asks for, and of its advice.
_MARKS = (
    "<NoCall>", "Refuse[", "Tool Chain:", *ADVISED,
    NOTES, REFLECTS, EVIDENCE, ALIGNS, AS_OBJECT, THINKS, HANDED, f"Organ {QUANTIFICATION}", QUANTIFICATION,
    *STYLE_MARKS,
)  # fmt: skip
_REMEMBERED = 256  # dialogues
_IS_DOWN = " is unavailable: "
_DOWN = re.compile(rf"(\w+){_IS_DOWN}")
_BRACKET_TOOL = re.compile(r"Action:\s*(\w+)\s*[\[{]")


class Card(NamedTuple):
    """A tool as its card describes it."""

    name: str
    category: str
    type: str | None
    pair: tuple[str, str] | None
    listed: tuple[str, ...] | None
    compulsory: tuple[str, ...]
    optional: tuple[str, ...]
    outputs: tuple[str, ...]
    upper: float


class Situation(NamedTuple):
    """The content of a conversation: the offered cards, the memory, the plan, the finished calls, ``marks`` of the
    formats that its prompts ask for, the tools that are ``down``, and calls whose results may still come."""

    cards: Mapping[str, Card] = {}
    memory: Mapping[str, Any] = {}
    plan: tuple[Step, ...] = ()
    called: tuple[Card, ...] = ()
    marks: frozenset[str] = frozenset()
    down: frozenset[str] = frozenset()
    pending: tuple[Card, ...] = ()


class _Noted(NamedTuple):
    """What one message holds."""

    cards: Mapping[str, Card] = {}
    memory: Mapping[str, Any] = {}
    plan: tuple[Step, ...] = ()
    tool: str = ""
    marks: frozenset[str] = frozenset()
    down: frozenset[str] = frozenset()


class Reader:
    """Reads dialogues; of one that it has read before, only the new messages."""

    def __init__(self) -> None:
        self._known: dict[bytes, tuple[tuple[Message, ...], Situation]] = {}  # by tools and first messages

    def read(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Situation:
        """All that the messages say. A call counts as finished when its outputs are in memory later."""
        given = tuple(messages)
        key = b"".join([*(tool.digest for tool in tools), *(message.digest for message in given[:2])])
        before, situation = self._known.get(key, ((), None))
        if situation is None or given[: len(before)] != before:
            native = (_native_card(one.name, one.description) for one in tools)
            before, situation = (), Situation({card.name: card for card in native if card is not None})
        situation = _after(situation, given[len(before) :])
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
        self._known[key] = given, situation
        return situation


def _after(situation: Situation, messages: Sequence[Message]) -> Situation:
    """The situation once these messages are read, too."""
    cards, memory, plan, called, marks, down, pending = situation
    for message in messages:
        names = tuple([one.name for one in message.tool_calls]) if message.tool_calls else ()
        noted = _noted(message.role, message.text, names)
        if noted.cards:
            cards = {**cards, **noted.cards}
        if noted.memory:
            memory = {**memory, **noted.memory}
            called, pending = (*called, *[c for c in pending if all(map(memory.__contains__, c.outputs))]), ()
        if noted.tool in cards:
            pending = (*pending, cards[noted.tool])
        plan = plan or noted.plan
        if noted.marks or noted.down:
            marks, down = marks | noted.marks, down | noted.down
    return Situation(cards, memory, plan, called, marks, down, pending)


@lru_cache(maxsize=512)
def _noted(role: str, text: str, called: tuple[str, ...]) -> _Noted:
    """What one message holds; remembered, since episodes and dialogues that take turns repeat it."""
    if role == "assistant":
        names = [*called, *(_XML_TOOL.findall(text) or _BRACKET_TOOL.findall(text))]
        return _Noted(plan=_plan(text), memory=_memory(text), tool=next(iter(names), ""))
    marks = frozenset([mark for mark in _MARKS if mark in text])
    if role == "system":  # its examples are not the plan
        return _Noted(_cards(text), plan=_plan(text.partition(HANDED)[2].partition("\n\n")[0]), marks=marks)
    down = frozenset(_DOWN.findall(text) if _IS_DOWN in text else ())
    return _Noted(_cards(text), _memory(text), marks=marks, down=down)


def _cards(text: str) -> Mapping[str, Card]:
    if '"Compulsory Input"' not in text:
        return {}
    found = (_NAMED.match(line) for line in text.split("\n") if line.startswith('{"Name"'))
    return {one[1]: _text_card(one[2], one[1]) for one in found if one}


@lru_cache(maxsize=8192)
def _text_card(rest: str, name: str) -> Card:
    """The card in a line of JSON, of which ``rest`` comes after the name."""
    shown = orjson.loads("{" + rest)
    texts = (", ".join(shown[name]) for name in ("Compulsory Input", "Optional Input", "Output"))
    return _make(name, shown["Property"], shown["Ability"], shown["Performance"], *texts)


@lru_cache(maxsize=8192)
def _native_card(name: str, description: str) -> Card | None:
    """The card in a native tool's description; None for other tools."""
    found = re.search(r"Compulsory inputs: ([^.]*)\.(?: Optional inputs: ([^.]*)\.)? Outputs: ([^.]*)\.", description)
    if not found:
        return None
    label, _, rest = description.partition(". ")
    return _make(name, label, rest, rest, found[1], found[2] or "", found[3])


def _make(name: str, label: str, ability: str, performance: str, *variables: str) -> Card:
    """A card from its texts. ``label`` is the Property: category and what the tool is bound to."""
    found, listed, upper = _LABEL.match(label), _LISTED.search(ability), _UPPER.search(performance)
    place = [part.strip() for part in found[3].split(",")] if found else []
    pair = (place[0], place[1]) if len(place) == 2 else None
    category, kind = (found[2] if found[2] in CATEGORIES else "", found[1]) if found else ("", None)
    entries = tuple(entry.strip() for entry in listed[1].split(";")) if listed else None
    compulsory, optional, outputs = (tuple(_VARIABLES.findall(text)) for text in variables)
    best = float(upper[1].rstrip(".")) if upper else 0.0
    return Card(name, category, kind, pair, entries, compulsory, optional, outputs, best)


def _memory(text: str) -> Mapping[str, Any]:
    """Variables and values of the JSON objects in the text, one per line."""
    found: dict[str, Any] = {}
    for match in _OBJECT.finditer(text):
        with suppress(ValueError):
            found |= {name: value for name, value in orjson.loads(match[0]).items() if name[:1] == "$"}
    return found


def _plan(text: str) -> tuple[Step, ...]:
    """The planned categories in order, from a tool chain or its echo."""
    at = max(text.find("Tool Chain:"), text.find("Plan:"))
    return tuple(_STEPS[name] for name in _PLANNED.findall(text, at)) if at >= 0 else ()
