"""What a prompt on health records says: functions, tables, knowledge, solved questions, how to refuse, what was run."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from components.acting.arguments import action_lines
from components.core.messages import Message
from components.simulation.asked import Asked
from components.simulation.grammar import CODE_TOOL, Style, called, finished, refused, said
from components.simulation.history import Done, call_in, cards, done_in, native_calls, observed, parsed

PROSE = (
    "I would load the tables first, look at their columns, and then filter them.",
    "The last run has given what was asked for.",
)
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
_WHY = "No table of the database holds what is asked."


@dataclass(frozen=True)
class Prompt:
    """``text``: all before the first reply. ``known``: knowledge on this question; ``solved``: other questions with
    what solved them. ``style``: how an action is written, if one is asked for; ``offered``: tools -> parameters."""

    text: str
    known: str = ""
    solved: Sequence[str] = ()
    style: Style | None = None
    offered: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @cached_property
    def tables(self) -> Mapping[str, Sequence[str]]:
        """The tables that are listed, each with its columns."""
        return {table: columns.split(", ") for table, columns in _TABLE.findall(self.text)}

    @cached_property
    def listed(self) -> Sequence[str]:
        """The names of these tables and columns, each once."""
        return list(dict.fromkeys([*self.tables, *(one for columns in self.tables.values() for one in columns)]))

    @cached_property
    def fields(self) -> Sequence[str]:
        """The fields of a refusal that is written as an object."""
        return [*parsed(found[1])] if (found := _FIELDS.search(self.text)) else []

    @cached_property
    def grounds(self) -> Mapping[str, str] | None:
        """The grounds of a refusal by the fields that are asked for; None where the prompt shows no way to refuse."""
        if self.fields:
            return dict.fromkeys(self.fields, _WHY)
        if "refuse" in self.offered:
            return dict.fromkeys(self.offered["refuse"], _WHY)
        tags = re.findall(r"^<([A-Z]\w+)>what is missing", self.text.partition("<NoCall>")[2], re.MULTILINE)
        names = tags or (["reason"] if _REFUSES.search(self.text) else [])
        return {name.lower(): _WHY for name in names} or None

    @cached_property
    def any_table(self) -> str:
        """The first table that is listed."""
        return next(iter(self.tables), "sqlite_master")

    @property
    def runs_code(self) -> bool:
        """Whether actions are cells of code."""
        return self.style == "fence" or (CODE_TOOL in self.offered and "SQLInterpreter" not in self.offered)

    def names(self, functions: Iterable[str]) -> bool:
        """Whether the prompt names all of these functions."""
        return all(one in self.text or one in self.offered for one in functions)

    def call(self, name: str, argument: str, last: bool = False) -> Message:
        """A call or a cell; ``last``: the answer is known after it."""
        values = {next(iter(self.offered.get(name, ())), "cell"): argument}
        return called(self.style or "native", name, values, last=last)

    def end(self, answer: str) -> Message:
        """The final answer."""
        return said("TERMINATE") if self.runs_code and "TERMINATE" in self.text else finished(self.style, answer)

    def refuse(self) -> Message:
        """The refusal."""
        style = "native" if "refuse" in self.offered else self.style or "line"
        return refused(style, self.grounds or {}, as_object=bool(self.fields))


def prompt_of(asked: Asked) -> Prompt:
    """What the messages before the first reply say."""
    texts = [*(tool.description for tool in asked.tools), *(message.text for message in asked.opening)]
    offered = tuple((tool.name, tuple(tool.parameters.get("properties", {}))) for tool in asked.tools)
    return _read("\n\n".join(texts), offered, asked.style)


@lru_cache(maxsize=256)
def _read(text: str, native: tuple[tuple[str, tuple[str, ...]], ...], style: Style | None) -> Prompt:
    """Read an opening; remembered, since each call of a dialogue repeats it."""
    *solved, question = _QUESTION.split(text)
    before = solved[-1].rpartition(_END)[2] if solved and _END in solved[-1] else solved[0] if len(solved) == 1 else ""
    notes = _NOTES.search(text)
    known = [found[1] for part in (before, question) if (found := _KNOWN.search(part))]
    known += [question.partition("Sub-questions:")[0].partition("Schema links:\n")[2], notes[1] if notes else ""]
    shown = [one.partition(_END)[0] for one in solved[1:]]
    offered = dict(native) or cards(text) | {name: (one,) for name, one in _CARD.findall(text)}
    return Prompt(text, "\n".join(known), shown, style, offered)


@lru_cache(maxsize=1024)
def words_of(text: str) -> frozenset[str]:
    """The words of a text, in lower case."""
    return frozenset(_WORD.findall(text.lower()))


def done(messages: Sequence[Message]) -> Sequence[Done]:
    """What was done, each with what came of it; of a reply that does nothing the name is empty."""

    def seen(text: str) -> str:
        inner = observed(text).removeprefix("What came of the cell:\n")
        return inner.partition("\n\nExplain the cell line by line")[0]

    return done_in(messages, _read_actions, seen)


def argument(one: Done) -> str:
    """The first argument of what was done."""
    return str(next(iter(one.arguments.values()), ""))


def _read_actions(message: Message) -> Sequence[Done]:
    """Native calls, else the last cell, else a call in JSON, else the first line of the form Name[argument]."""
    if message.tool_calls:
        return native_calls(message)
    if blocks := _FENCE.findall(message.text):
        return [Done(CODE_TOOL, {"cell": blocks[-1]})]
    if (call := call_in(message.text)) is not None:
        return [call]
    line = next(action_lines(message.text), None)
    return [Done("") if line is None else Done(line.name, {"argument": line.argument or ""})]
