"""What a prompt on health records tells: functions, tables, knowledge, solved questions, how to refuse, and what was
run. Everything here is read from the messages alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile
from typing import Literal

import orjson

from components.acting.action_lines import action_lines
from components.core.messages import Message, ToolCall, ToolSpec
from components.models.simulated.dialogue import Done, call_in, cards, done_in, native_calls, observed, parsed
from components.models.simulated.review import written

Channel = Literal["fence", "native", "bracket", "xml", "line"]
CODE_TOOL = "python"
PROSE = (
    "I would load the tables first, look at their columns, and then filter them.",
    "The last run has given what was asked for.",
)
_REMEMBERED = 256  # openings, about a hundred kilobytes each
_WORD = re.compile(r"\w+")
_QUESTION = re.compile(r"^Question: ", re.MULTILINE)
_END = "### The solved questions end here"
_KNOWN = re.compile(r"^(?:Knowledge|Schema links):\n(.*)\Z", re.DOTALL | re.MULTILINE)
_NOTES = re.compile(r"^This is what you noted.*?\n(.*?)\n\nNow try again", re.DOTALL | re.MULTILINE)
_FIELDS = re.compile(r"Refuse\[(\{[^\n]*\})\]")
_REFUSES = re.compile(r"\bRefuse\b|write the word null")
_TABLE = re.compile(r"^(\w+): (\w+(?:, \w+)+)$", re.MULTILINE)
_CARD = re.compile(r"^(\w+)\[(\w+)\]: ", re.MULTILINE)
_FENCE = re.compile(r"```python\n(.*?)\n```", re.DOTALL)


@dataclass(frozen=True)
class Told:
    """``text``: all that stands before the first reply. ``known``: knowledge on this question; ``solved``: other
    questions with what solved them. ``channel``: how an action is written, None where none is asked for; ``offered``:
    tools -> names of their parameters; ``says``: how who replies words an answer."""

    text: str
    known: str = ""
    solved: Sequence[str] = ()
    channel: Channel | None = None
    offered: Mapping[str, Sequence[str]] = field(default_factory=dict)
    says: Callable[[str], str] = str

    @cached_property
    def words(self) -> frozenset[str]:
        """All words, in lower case."""
        return words_of(self.text)

    @cached_property
    def known_words(self) -> frozenset[str]:
        """Those of the knowledge."""
        return words_of(self.known)

    @cached_property
    def solved_words(self) -> Sequence[frozenset[str]]:
        """Those of each solved question."""
        return [words_of(one) for one in self.solved]

    @cached_property
    def tables(self) -> Mapping[str, Sequence[str]]:
        """The tables that are listed, each with its columns."""
        return {table: columns.split(", ") for table, columns in _TABLE.findall(self.text)}

    @cached_property
    def listed(self) -> Sequence[str]:
        """The names of these tables and columns, each once."""
        return list(dict.fromkeys([*self.tables, *(one for columns in self.tables.values() for one in columns)]))

    @cached_property
    def refusal(self) -> Mapping[str, str] | None:
        """The grounds of a refusal by the fields that are asked for; None where the prompt tells no way to refuse."""
        why = "No table of the database holds what is asked."
        if fields := self._fields:
            return dict.fromkeys(fields, why)
        if "refuse" in self.offered:
            return dict.fromkeys(self.offered["refuse"], why)
        tags = re.findall(r"^<([A-Z]\w+)>what is missing", self.text.partition("<NoCall>")[2], re.MULTILINE)
        told = tags or (["reason"] if _REFUSES.search(self.text) else [])
        return {name.lower(): why for name in told} or None

    @cached_property
    def any_table(self) -> str:
        """The first table that is listed."""
        return next(iter(self.tables), "sqlite_master")

    @property
    def runs_code(self) -> bool:
        """Whether actions are cells of code."""
        return self.channel == "fence" or (CODE_TOOL in self.offered and "SQLInterpreter" not in self.offered)

    @property
    def ends_so(self) -> bool:
        """Whether the dialogue is ended by a word of its own."""
        return "TERMINATE" in self.text

    @property
    def _fields(self) -> Sequence[str]:
        """The fields of a refusal that is written as an object."""
        return [*parsed(found[1])] if (found := _FIELDS.search(self.text)) else []

    def names(self, functions: frozenset[str]) -> bool:
        """Whether the prompt names all of these functions."""
        return all(one in self.text or one in self.offered for one in functions)

    def call(self, name: str, argument: str, last: bool = False) -> Message:
        """A call, or a cell, as the prompt asks for it; ``last``: the answer is known after it."""
        if self.channel == "fence":
            return said(f"```python\n{argument}\n```")
        if self.channel == "line":
            return said(f"Thought: {name} comes next.\nAction: {name}[{argument}]")
        values = {next(iter(self.offered.get(name, ())), "cell"): argument}
        if self.channel == "bracket":
            return written(name, values, "bracket")
        if self.channel == "xml":
            return written(name, values, "xml", last=last)
        return Message("assistant", "", tool_calls=(ToolCall(f"call_{name}", name, orjson.dumps(values).decode()),))

    def end(self, answer: str) -> Message:
        """The final answer as the prompt asks for it."""
        answer = self.says(answer)
        if self.channel == "line":
            return said(f"Thought: This is the answer.\nAction: Finish[{answer}]")
        if self.channel == "bracket":
            return written("Finish", {"response": answer}, "bracket")
        return said("TERMINATE" if self.runs_code and self.ends_so else answer)

    def refuse(self) -> Message:
        """The refusal as the prompt asks for it."""
        grounds = dict(self.refusal or {})
        shown = orjson.dumps(grounds).decode()
        if "refuse" in self.offered:
            return Message("assistant", "", tool_calls=(ToolCall("call_refuse", "refuse", shown),))
        if self.channel == "xml":
            inner = "\n".join(f"<{name.capitalize()}>{why}</{name.capitalize()}>" for name, why in grounds.items())
            return said(f"<NoCall>\n{inner}\n</NoCall>")
        lead = "" if self.channel == "fence" else "Action: "
        return said(f"{lead}Refuse[{shown if self._fields else next(iter(grounds.values()), '')}]")


class Reading:
    """Reads what stands before the first reply, and remembers it: each call of a dialogue repeats it."""

    def __init__(self) -> None:
        self._known: dict[bytes, Told] = {}

    def read(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Told:
        """What the messages and native tools tell."""
        opening = list(takewhile(lambda message: message.role != "assistant", messages))
        key = b"".join([*(tool.digest for tool in tools), *(message.digest for message in opening)])
        told = self._known.get(key)
        if told is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            told = self._known[key] = read_told(opening, tools)
        return told


def read_told(opening: Sequence[Message], tools: Sequence[ToolSpec]) -> Told:
    """Read what stands before the first reply."""
    opening = list(takewhile(lambda message: message.role != "assistant", opening))
    text = "\n\n".join([*(tool.description for tool in tools), *(message.text for message in opening)])
    *solved, asked = _QUESTION.split(text)
    before = solved[-1].rpartition(_END)[2] if solved and _END in solved[-1] else solved[0] if len(solved) == 1 else ""
    notes = _NOTES.search(text)
    known = [found[1] for part in (before, asked) if (found := _KNOWN.search(part))]
    known += [asked.partition("Sub-questions:")[0].partition("Schema links:\n")[2], notes[1] if notes else ""]
    shown = [one.partition(_END)[0] for one in solved[1:]]
    offered = {tool.name: tuple(tool.parameters.get("properties", {})) for tool in tools}
    offered = offered or cards(text) | {name: (one,) for name, one in _CARD.findall(text)}
    return Told(text, "\n".join(known), shown, _channel(text, tools), offered)


def _channel(text: str, tools: Sequence[ToolSpec]) -> Channel | None:
    """The grammar that is asked for."""
    if tools:
        return "native"
    if "between ```python and ```" in text:
        return "fence"
    if "<EndCall>" in text:
        return "xml"
    if "Finish[" not in text:
        return None
    return "bracket" if 'Finish[{"response"' in text else "line"


def words_of(text: str) -> frozenset[str]:
    """The words of a text, in lower case."""
    return frozenset(_WORD.findall(text.lower()))


def said(text: str) -> Message:
    """A reply in words."""
    return Message("assistant", text)


def done(messages: Sequence[Message]) -> Sequence[Done]:
    """What was done, each with what came of it; of a reply that does nothing the name is empty."""
    return done_in(messages, _acted, _seen)


def argument(one: Done) -> str:
    """The first argument of what was done."""
    return str(next(iter(one.arguments.values()), ""))


def _acted(message: Message) -> Sequence[Done]:
    """What a reply does: its native calls, else its last cell, else a call in JSON, else the first line of the form
    Name[argument]."""
    if message.tool_calls:
        return native_calls(message)
    text = message.text
    if blocks := _FENCE.findall(text):
        return [Done(CODE_TOOL, {"cell": blocks[-1]})]
    if (call := call_in(text)) is not None:
        return [call]
    line = next(action_lines(text), None)
    return [Done("") if line is None else Done(line.name, {"argument": line.argument or ""})]


def _seen(text: str) -> str:
    """What came back, without what is put around it."""
    return observed(text).removeprefix("What came of the cell:\n").partition("\n\nExplain the cell line by line")[0]
