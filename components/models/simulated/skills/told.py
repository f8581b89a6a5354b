"""What a prompt on health records tells: functions, knowledge, solved questions, how to refuse, and what was run.

Everything here is read from the messages; the answer key only adds which tables and columns the question is about.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import takewhile
from typing import Any, Literal

import orjson

from components.action_lines import action_lines
from components.ehr.complexity import tables_of
from components.ehr.metadata import metadata
from components.errors import ConfigError
from components.messages import Message, ToolCall, ToolSpec
from components.models.simulated.dialogue import Done, call_in
from components.models.simulated.review import written
from components.types import Sample

Channel = Literal["fence", "native", "bracket", "xml", "line"]
CODE_TOOL = "python"
_WORD = re.compile(r"\w+")
_COLUMN = re.compile(r"\b[A-Za-z]\w*\.([A-Za-z]\w*)")
_TEXT = re.compile(r"'(?:[^']|'')*'")
_QUESTION = re.compile(r"^Question: ", re.MULTILINE)
_END = "### The solved questions end here"
_KNOWN = re.compile(r"^(?:Knowledge|Schema links):\n(.*)\Z", re.DOTALL | re.MULTILINE)
_NOTES = re.compile(r"^This is what you noted.*?\n(.*?)\n\nNow try again", re.DOTALL | re.MULTILINE)
_FIELDS = re.compile(r"Refuse\[(\{[^\n]*\})\]")
_REFUSES = re.compile(r"\bRefuse\b|write the word null")
_TABLE = re.compile(r"^(\w+): \w+(?:, \w+)+$", re.MULTILINE)
_FENCE = re.compile(r"```python\n(.*?)\n```", re.DOTALL)


@dataclass(frozen=True)
class Gold:
    """What the answer key holds: the statement ("" where no table answers), the tables and columns that it reads."""

    sql: str
    database: str
    answer: Sequence[str]
    tables: frozenset[str]
    names: frozenset[str]

    @cached_property
    def spelt(self) -> Mapping[str, Sequence[str]]:
        """Its tables with those of its columns that they have, spelt as the tables have them."""
        try:
            tables = metadata(self.database).tables
        except ConfigError:
            return {}
        return {
            table: [one for one in columns if one.lower() in self.names]
            for table, columns in tables.items()
            if table.lower() in self.tables
        }


def gold_of(sample: Sample) -> Gold:
    """The key's part of a sample."""
    sql = " ".join(str(sample.metadata.get("sql") or "").split())
    answer = sample.target.get("answer") or ()
    tables = frozenset(tables_of(sql)) if sql else frozenset()
    columns = frozenset(one.lower() for one in _COLUMN.findall(_TEXT.sub("''", sql)))
    return Gold(sql, str(sample.metadata.get("sql_dialect")), answer, tables, tables | columns)


@dataclass(frozen=True)
class Told:
    """``text``: all that stands before the first reply. ``known``: knowledge on this question; ``solved``: other
    questions with what solved them. ``channel``: how an action is written, None where none is asked for; ``offered``:
    tools -> names of their parameters."""

    text: str
    known: str = ""
    solved: Sequence[str] = ()
    channel: Channel | None = None
    offered: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @cached_property
    def words(self) -> frozenset[str]:
        """All words, in lower case."""
        return words_of(self.text)

    @cached_property
    def refusal(self) -> Mapping[str, str] | None:
        """The grounds of a refusal by the fields that are asked for; None where the prompt tells no way to refuse."""
        why = "No table of the database holds what is asked."
        if found := _FIELDS.search(self.text):
            return dict.fromkeys(orjson.loads(found[1]), why)
        if "refuse" in self.offered:
            return dict.fromkeys(self.offered["refuse"], why)
        tags = re.findall(r"^<([A-Z]\w+)>what is missing", self.text.partition("<NoCall>")[2], re.MULTILINE)
        told = tags or (["reason"] if _REFUSES.search(self.text) else [])
        return {name.lower(): why for name in told} or None

    @cached_property
    def any_table(self) -> str:
        """The first table that is listed."""
        found = _TABLE.search(self.text)
        return found[1] if found else "sqlite_master"

    @property
    def runs_code(self) -> bool:
        """Whether actions are cells of code."""
        return self.channel == "fence" or (CODE_TOOL in self.offered and "SQLInterpreter" not in self.offered)

    @property
    def ends_so(self) -> bool:
        """Whether the dialogue is ended by a word of its own."""
        return "TERMINATE" in self.text

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
        return said(f"{lead}Refuse[{shown if _FIELDS.search(self.text) else next(iter(grounds.values()), '')}]")


def read_told(messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Told:
    """Read what stands before the first reply."""
    opening = list(takewhile(lambda message: message.role != "assistant", messages))
    text = "\n\n".join([*(tool.description for tool in tools), *(message.text for message in opening)])
    *solved, asked = _QUESTION.split(text)
    before = solved[-1].rpartition(_END)[2] if solved and _END in solved[-1] else solved[0] if len(solved) == 1 else ""
    notes = _NOTES.search(text)
    known = [found[1] for part in (before, asked) if (found := _KNOWN.search(part))]
    known += [asked.partition("Sub-questions:")[0].partition("Schema links:\n")[2], notes[1] if notes else ""]
    shown = [one.partition(_END)[0] for one in solved[1:]]
    offered = {tool.name: tuple(tool.parameters.get("properties", {})) for tool in tools} or _cards(text)
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


def _cards(text: str) -> dict[str, Sequence[str]]:
    """The tools of a text grammar: a JSON object a line, or Name[argument]: what it does."""
    cards: dict[str, Sequence[str]] = {}
    for line in text.split("\n"):
        if line.startswith('{"name":'):
            card = orjson.loads(line)
            cards[card["name"]] = tuple(card.get("parameters", {}).get("properties", {}))
        elif found := re.match(r"(\w+)\[(\w+)\]: ", line):
            cards[found[1]] = (found[2],)
    return cards


def words_of(text: str) -> frozenset[str]:
    """The words of a text, in lower case."""
    return frozenset(one.lower() for one in _WORD.findall(text))


def said(text: str) -> Message:
    """A reply in words."""
    return Message("assistant", text)


def done(messages: Sequence[Message]) -> list[Done]:
    """What was done, each with what came of it; of a reply that does nothing the name is empty."""
    found: list[Done] = []
    for message in messages:
        if message.role == "assistant":
            found += [Done(call.name, arguments(call)) for call in message.tool_calls] or [_written(message.text)]
        elif (waiting := next((n for n, one in enumerate(found) if one.saw is None), None)) is not None:
            found[waiting] = replace(found[waiting], saw=_seen(message.text))
    return found


def argument(one: Done) -> str:
    """The first argument of what was done."""
    return str(next(iter(one.arguments.values()), ""))


def arguments(call: ToolCall) -> Mapping[str, Any]:
    """The arguments of a call; none where they cannot be read."""
    try:
        return call.parsed
    except ValueError:
        return {}


def _written(text: str) -> Done:
    """The action of a reply: the last cell, else a call in JSON, else the first line of the form Name[argument]."""
    if blocks := _FENCE.findall(text):
        return Done(CODE_TOOL, {"cell": blocks[-1]})
    if (call := call_in(text)) is not None:
        return call
    line = next(action_lines(text), None)
    return Done("") if line is None else Done(line.name, {"argument": line.argument or ""})


def _seen(text: str) -> str:
    """What came back, without what is put around it."""
    if text.startswith("<Observation>\n"):
        text = text.removeprefix("<Observation>\n").partition("\n</Observation>")[0]
    text = text.removeprefix("Observation: ").removeprefix("What came of the cell:\n")
    return text.partition("\n\nExplain the cell line by line")[0]
