"""Actions as lines of text, ``Name[argument]``: for the grammar that reads one of them, and for plans of many.

Source: Yao et al. 2023 (ReAct), arXiv 2210.03629, for the form; docs/papers/ehragent.md for its rules: the argument is
the raw text up to the last closing bracket of the line, since SQL and conditions hold brackets themselves.
"""

import contextlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from components.core.errors import ActionError, ConfigError
from components.core.messages import ToolCall, ToolSpec, encodable
from components.core.task_text import FINISH, action_text
from components.core.tools import Tool
from components.core.types import Action

FORM = "Name[argument]"

# White space, quoting, bullets, a number (1. or 1) or #1:) and the word Action may stand before the name.
_HEAD = re.compile(r"(?:[\s>*`-]|#?\d+\s*+[.):=]|Action(?:\s*+\d++)?\s*+:)*+(\w++)\s*+\[", re.ASCII)


@dataclass(frozen=True)
class ActionLine:
    """One action as it is written; ``end`` is where it ends in the text. ``argument`` None: its bracket is not closed
    on the line."""

    name: str
    argument: str | None
    end: int

    @property
    def text(self) -> str:
        """The action without what is around it."""
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
