"""What the simulated model reads in a dialogue with tools: what is offered, what was done, what a verifier asks; and
how it answers a verifier. It sees what is better with a probability that lessons on the action raise; otherwise it
takes the first candidate, or leaves the proposal. What was rewritten once it mostly rewrites again, or spoils.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any

from components.core.messages import Message, ToolSpec
from components.simulation.draws import Draws
from components.simulation.grammar import Style, called, finished, refused, said

SELECT, REFINE = "Selected action:", "Refined action:"
_GUIDE, _CANDIDATES, _REVIEW = "[Action_Guide]\n", "[Candidate_Actions]\n", "[Review]\n"
_BUILT = "The tool was built"
_LESSONS = re.compile(r"^(\w+): \[", re.MULTILINE)
_CANDIDATE = re.compile(r"^(\d+)\. Action: (.*)$", re.MULTILINE)
_CURRENT = re.compile(r"^Current action: (.*)$", re.MULTILINE)
_EARLIER = re.compile(r"^Earlier action: ", re.MULTILINE)
_SHOWN = re.compile(r"^Action: (\w+)\[", re.MULTILINE)
_BRACKET = re.compile(r"(?:^|Action:\s*)(\w+)\s*\[\s*(?=\{)")
_XML = re.compile(r"<Tool>\s*(\w+)\s*</Tool>\s*<Input>\s*(?=\{)")
_DECODER = json.JSONDecoder(strict=False)
SEES, SEES_GUIDED = 0.6, 0.9  # picks a good candidate where there is one
REPAIRS, REPAIRS_GUIDED = 0.45, 0.85  # rewrites a proposal that is not good
REPAIRS_AGAIN = 0.8  # rewrites one that was rewritten once and is still not good
OVERDOES = 0.5  # rewrites a good proposal that has been rewritten twice or more
Good = Callable[[str], bool]


@dataclass(frozen=True)
class Done:
    """A call: the tool's name, its parameters, and what came of it (None: not known)."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    saw: str | None = None


@dataclass(frozen=True)
class History:
    """``offered``: tool -> names of its parameters. ``shown``: actions in solved tasks and earlier trials. ``guided``:
    actions that lessons are shown on. ``candidates`` and ``current`` are those of a verifier's question; ``earlier`` is
    how many versions it shows before the current one."""

    offered: Mapping[str, Sequence[str]] = field(default_factory=dict)
    done: Sequence[Done] = ()
    shown: frozenset[str] = frozenset()
    guided: frozenset[str] = frozenset()
    candidates: Sequence[str] = ()
    current: str | None = None
    earlier: int = 0


def read_history(messages: Sequence[Message], tools: Sequence[ToolSpec]) -> History:
    """Read the messages and the native tools."""
    offered: dict[str, Sequence[str]] = {tool.name: tuple(tool.parameters.get("properties", {})) for tool in tools}
    opening = list(takewhile(lambda message: message.role != "assistant", messages))
    described = [one.text.partition("\n[Example]\n")[0] for one in opening if one.role == "system"]
    later = (one for one in messages[len(opening) :] if one.role != "assistant")
    for text in [*described, *(one.text for one in later if _BUILT in one.text)]:
        offered |= cards(text)

    def acted(message: Message) -> Sequence[Done]:
        return native_calls(message) or ([found] if (found := call_in(message.text)) is not None else [])

    shown = set[str]()  # in solved tasks and earlier trials
    for text in (one.text.partition("\n[Execution]\n")[0] for one in opening):
        starts = [at for mark in ("[Example]\n", "[Previous_Trial]\n") if (at := text.find(mark)) >= 0]
        shown.update(_SHOWN.findall(text, min(starts, default=len(text))))
    read = History(offered, done_in(messages, acted, observed), frozenset(shown))
    last = messages[-1].text
    if not last.endswith((SELECT, REFINE)):
        return read
    guide, _, shown_actions = last.rpartition(_CANDIDATES if last.endswith(SELECT) else _REVIEW)
    read = replace(read, guided=frozenset(_LESSONS.findall(guide.rpartition(_GUIDE)[2])))
    if last.endswith(REFINE):
        found = _CURRENT.search(shown_actions)
        return replace(read, current=found[1] if found else "", earlier=len(_EARLIER.findall(shown_actions)))
    candidates: list[str] = []
    for number, action in _CANDIDATE.findall(shown_actions):
        if number == str(len(candidates) + 1):  # a line of an observation that looks like one has another number
            candidates.append(action)
    calls = [one for one in map(call_in, candidates) if one is not None]  # all that is known of tools without cards
    named = {one.name: () for one in calls if one.name != "Finish"}
    return replace(read, offered=offered or named, candidates=tuple(candidates))


def call_in(text: str) -> Done | None:
    """The first call that is written in a text, as Name[{...}] or in tags; None when there is none to be read."""
    found = _BRACKET.search(text) or _XML.search(text)
    if found is None:
        return None
    try:
        return Done(found[1], _DECODER.raw_decode(text, found.end())[0])
    except (ValueError, RecursionError):
        return None


def done_in(
    messages: Sequence[Message], acted: Callable[[Message], Sequence[Done]], seen: Callable[[str], str]
) -> Sequence[Done]:
    """What replies did (``acted``) in its order, each with the first message after it that is not another's result;
    empty where the next reply came first."""
    done: list[Done] = []
    for message in messages:
        if message.role == "assistant":
            done = [one if one.saw is not None else replace(one, saw="") for one in done]
            done += acted(message)
        elif (waiting := next((n for n, one in enumerate(done) if one.saw is None), None)) is not None:
            done[waiting] = replace(done[waiting], saw=seen(message.text))
    return tuple(done)


def native_calls(message: Message) -> Sequence[Done]:
    """The native calls of a reply."""
    return [Done(call.name, parsed(call.arguments)) for call in message.tool_calls]


def observed(text: str) -> str:
    """An observation without what the grammar puts around it and a verifier behind it."""
    if text.endswith((SELECT, REFINE)):
        text = text.rpartition(f"\n\n{_GUIDE}")[0]
    if text.startswith("<Observation>\n"):
        return text.removeprefix("<Observation>\n").partition("\n</Observation>")[0]
    return text.removeprefix("Observation: ")


def parsed(arguments: str) -> Mapping[str, Any]:
    """A JSON object, such as the parameters of a native call; empty where it cannot be read."""
    try:
        value = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def cards(text: str) -> dict[str, Sequence[str]]:
    """The cards of a text grammar: one JSON object per line."""
    found: dict[str, Sequence[str]] = {}
    for card in (parsed(line) for line in text.split("\n") if line.startswith('{"name":')):
        parameters = card.get("parameters")
        properties = parameters.get("properties") if isinstance(parameters, dict) else None
        found[str(card.get("name"))] = tuple(properties) if isinstance(properties, dict) else ()
    return found


def review(history: History, good: Good, better: Callable[[], Message], style: Style, draws: Draws) -> Message:
    """The reply to a verifier's question; ``better`` writes the action that the model would take."""
    if not history.candidates:
        current = history.current or ""
        if good(current):
            rewrites = history.earlier >= 2 and draws.happens("overdoes", OVERDOES)
        else:  # what cannot be read is written again
            rate = REPAIRS_GUIDED if guided(history, [current]) else REPAIRS_AGAIN if history.earlier == 1 else REPAIRS
            rewrites = call_in(current) is None or draws.happens("mends", rate)
        return better() if rewrites else repeated(current, style)
    best = [text for text in history.candidates if good(text)]
    sees = best and draws.happens("sees the better", SEES_GUIDED if guided(history, history.candidates) else SEES)
    return said(best[0] if sees else history.candidates[0])


def repeated(text: str, style: Style) -> Message:
    """An action that the prompt shows, in the grammar that is asked for."""
    found = call_in(text)
    if style == "bracket" or found is None:
        return said(f"Action: {text}")
    if found.name == "Refuse":
        return refused(style, {name: str(value) for name, value in found.arguments.items()})
    if found.name == "Finish":
        return finished(style, str(found.arguments.get("response", "")))
    return called(style, found.name, found.arguments)


def guided(history: History, texts: Sequence[str]) -> bool:
    """Whether lessons are shown on one of these actions."""
    return any((found := call_in(text)) is not None and found.name in history.guided for text in texts)
