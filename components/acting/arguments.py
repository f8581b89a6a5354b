"""Calls of tools before they run: actions as lines, text arguments, what a tool foresees, the reflection in front.

A line ``Name[argument]`` is for the grammar that reads one of them, and for plans of many: Yao et al. 2023 (ReAct),
arXiv 2210.03629; docs/papers/ehragent.md for its rules: the argument is the raw text up to the last closing bracket of
the line, since SQL and conditions hold brackets themselves. The block ``<Reflection>``, in which a reply thinks before
it acts, is of Zheng et al. 2024, arXiv 2412.09529; it holds ``<Candidates>``, ``<Reasoning>`` and ``<Constraints>``.
"""

import contextlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from threading import Lock
from typing import Any, Protocol, runtime_checkable

from components.core.errors import ActionError, ConfigError, ToolError, missing_extra
from components.core.messages import ToolCall, ToolSpec, encodable
from components.core.task_text import FINISH, action_text
from components.core.tools import Offer, State, Tool, tool_of
from components.core.traits import innermost
from components.core.types import Action

FORM = "Name[argument]"

# White space, quoting, bullets, a number (1. or 1) or #1:) and the word Action may stand before the name.
_HEAD = re.compile(r"(?:[\s>*`-]|#?\d+\s*+[.):=]|Action(?:\s*+\d++)?\s*+:)*+(\w++)\s*+\[", re.ASCII)


@dataclass(frozen=True)
class ActionLine:
    """An action as it is; ``end`` is its end in the text. ``argument`` None: its bracket is not closed."""

    name: str
    argument: str | None
    end: int

    @property
    def text(self) -> str:
        """The action without the text around it."""
        return f"{self.name}[{self.argument}]"


def action_lines(text: str) -> Iterator[ActionLine]:
    """The actions of a text in their order; other lines, thoughts among them, are passed over."""
    start = 0
    for line in text.split("\n"):
        if head := _HEAD.match(line):
            close = line.rfind("]", head.end())
            argument = None if close < 0 else line[head.end() : close].strip()
            yield ActionLine(head[1], argument, start + (len(line) if close < 0 else close + 1))
        start += len(line) + 1


def parameter_of(spec: ToolSpec) -> str:
    """The name of a tool's one text parameter. Raises ConfigError for a tool with other parameters."""
    properties = spec.parameters.get("properties", {})
    names: list[str] = list(properties)
    if len(names) != 1 or properties[names[0]].get("type") != "string":
        parameters = ", ".join(f"{name} ({properties[name].get('type', 'any')})" for name in names) or "none"
        raise ConfigError(
            f"actions are {FORM} here, for tools with one text parameter; {spec.name} has {parameters}:"
            " choose another agent.grammar or toolset"
        )
    return names[0]


def describe_tools(tools: Mapping[str, Tool]) -> list[dict[str, str]]:
    """What prompts say of each tool: ``name``, the name of its ``argument`` and what it is ``about``. Raises
    ConfigError for a tool with other parameters than one text."""
    specs = [tool.spec for tool in tools.values()]
    return [{"name": spec.name, "argument": parameter_of(spec), "about": spec.description} for spec in specs]


def call_of(name: str, argument: str | None, tools: Mapping[str, Tool]) -> ToolCall:
    """The call that an action stands for, also of a tool that is not there. Raises ActionError."""
    if argument is None:
        raise ActionError(f"the bracket after {name!r} is not closed on its line; write the whole action on one line")
    if not encodable(argument):
        raise ActionError("its argument holds what cannot be written as text")
    parameter = parameter_of(tools[name].spec) if name in tools else "argument"
    return ToolCall("call", name, json.dumps({parameter: argument}, ensure_ascii=False))


def line_text(action: Action) -> str:
    """An action as a line, without the thought before it; what has no such form as ``task_text`` writes it."""
    if action.answer is not None and action.error is None:
        return f"{FINISH}[{action.answer}]"
    lines = []
    with contextlib.suppress(ValueError):
        for call in action.calls:
            (value,) = call.parsed.values()  # ValueError for another number of arguments, or unreadable ones
            if isinstance(value, str):
                lines.append(f"{call.name}[{value}]")
    return "; ".join(lines) if lines and len(lines) == len(action.calls) else action_text(action)


LONGEST, LONGEST_ALONE = 20_000, 100_000  # characters of one of several arguments, of the only one
LOADING = Lock()  # for imports of optional libraries: in two threads at once they can end up half-loaded
OPENS, CLOSES = "<Reflection>", "</Reflection>"
_TAG = re.compile(r"</?\w+>")


def text_argument(spec: ToolSpec, parameter: str, value: object, longest: int = LONGEST) -> str:
    """An argument that must be a text. Raises ToolError for any other, for an empty one and above ``longest``."""
    problem = ""
    if not isinstance(value, str):
        problem = f"needs {parameter!r} as a text, found {type(value).__name__}"
    elif not value.strip():
        problem = f"needs a text in {parameter!r}, which is empty"
    elif len(value) > longest:
        problem = (
            f"takes at most {longest:,} characters in {parameter!r}, found {len(value):,}; give a part of the text"
        )
    elif not encodable(value):
        problem = f"cannot read {parameter!r}: it holds what cannot be written as text"
    if problem:
        raise ToolError(f"{spec.name} {problem}.", "bad_arguments")
    return str(value)


def only_text(spec: ToolSpec, value: object) -> str:
    """The tool's one text argument. Raises ToolError when it is not a text, empty, or too long (100,000)."""
    return text_argument(spec, next(iter(spec.parameters["properties"])), value, LONGEST_ALONE)


def text_spec(name: str, description: str, parameter: str, about: str, dimension: str = "", **facts: str) -> ToolSpec:
    """The spec of a tool with one text argument."""
    properties = {parameter: {"type": "string", "description": about}}
    parameters = {"type": "object", "properties": properties, "required": [parameter]}
    given = {"dimension": dimension} if dimension else {}
    return ToolSpec(name, description, parameters, facts={**given, **facts})


def missing_model(tool: str, model: str | None) -> str:
    """What to install when a spaCy pipeline that is named is not there; found without loading spaCy."""
    if model is None:
        return ""
    if lacking := missing_extra(f"{tool} with model: {model}", "spacy", "text"):
        return lacking
    try:
        distribution(model)
    except PackageNotFoundError:
        return f"{tool}: the spaCy pipeline {model!r} is not installed; install its package, or set model: null"
    return ""


@runtime_checkable
class ForeseesErrors(Protocol):
    """A tool that can say that a call would be refused, without running it and without revealing its result."""

    def foresee(self, state: State, **arguments: Any) -> None:
        """Raises ToolError, as the call would."""


def foresee_error(offer: Offer, action: Action) -> ToolError | None:
    """Why the first call that would be refused would be so; None where nothing is known to be wrong. Tools are asked
    about the first call alone: those after it meet what it leaves behind."""
    for number, call in enumerate(action.calls):
        try:
            tool, arguments = tool_of(offer, call)
            if number == 0 and isinstance(inner := innermost(tool), ForeseesErrors):
                inner.foresee(offer.state, **arguments)
        except ToolError as error:
            return error
    return None


def reflection_in(text: str) -> str:
    """What the first block says, without the tags inside it; empty where there is no block or nothing in it."""
    inside, closed, _ = text.partition(OPENS)[2].partition(CLOSES)
    return " ".join(_TAG.sub(" ", inside).split()) if closed else ""
