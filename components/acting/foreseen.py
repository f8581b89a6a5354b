"""What is wrong with a call before it runs: its name, its arguments, and what the tool itself foresees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from components.core.errors import ToolError
from components.core.messages import ToolCall
from components.core.protocols import Tool
from components.core.types import Action, Offer, State
from components.core.wrapping import innermost


@runtime_checkable
class Foreseeing(Protocol):
    """A tool that can say that a call would be refused, without running it and without telling what it would give."""

    def foresee(self, state: State, **arguments: Any) -> None:
        """Raises ToolError, as the call would."""


def tool_of(offer: Offer, call: ToolCall) -> tuple[Tool, Mapping[str, Any]]:
    """The tool that a call names and its arguments, of which the names are checked: values are the tool's own matter.

    Raises ToolError ``unknown_tool``, ``bad_arguments``.
    """
    tool = offer.tools.get(call.name)
    if tool is None:
        raise ToolError(f"There is no tool {call.name!r}; the tools are {', '.join(offer.tools)}.", "unknown_tool")
    try:
        arguments = call.parsed
    except ValueError as error:
        raise ToolError(f"The arguments of {call.name} cannot be read: {error}.", "bad_arguments") from None
    schema = tool.spec.parameters
    known = schema.get("properties", {})
    extra = [name for name in arguments if name not in known]
    missing = [name for name in schema.get("required", ()) if name not in arguments]
    if extra and not schema.get("additionalProperties", False):
        raise ToolError(f"{tool.spec.name} takes {', '.join(known) or 'nothing'}; found {extra[0]!r}.", "bad_arguments")
    if missing:
        raise ToolError(f"{tool.spec.name} needs {missing[0]!r}.", "bad_arguments")
    return tool, arguments


def foreseen(offer: Offer, action: Action) -> ToolError | None:
    """Why the first call that would be refused would be so; None where nothing is known to be wrong.

    Tools are asked about the first call alone: those after it meet what it leaves behind.
    """
    for number, call in enumerate(action.calls):
        try:
            tool, arguments = tool_of(offer, call)
            if number == 0 and isinstance(inner := innermost(tool), Foreseeing):
                inner.foresee(offer.state, **arguments)
        except ToolError as error:
            return error
    return None
