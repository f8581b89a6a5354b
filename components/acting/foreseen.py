"""What is wrong with a call before it runs: its name, its arguments, and what the tool itself foresees."""

from typing import Any, Protocol, runtime_checkable

from components.core.errors import ToolError
from components.core.tools import Offer, State, tool_of
from components.core.types import Action
from components.core.wrapping import innermost


@runtime_checkable
class Foreseeing(Protocol):
    """A tool that can say that a call would be refused, without running it and without telling what it would give."""

    def foresee(self, state: State, **arguments: Any) -> None:
        """Raises ToolError, as the call would."""


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
