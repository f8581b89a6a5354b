"""What can be checked before a call runs: its name, its arguments, what the tool foresees, and the reflection on it.

Source of the block ``<Reflection>``, in which a reply thinks before it acts: Zheng et al. 2024, arXiv 2412.09529; it
holds ``<Candidates>``, ``<Reasoning>`` and ``<Constraints>``.
"""

import re
from typing import Any, Protocol, runtime_checkable

from components.core.errors import ToolError
from components.core.tools import Offer, State, tool_of
from components.core.traits import innermost
from components.core.types import Action


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


OPENS, CLOSES = "<Reflection>", "</Reflection>"
_TAG = re.compile(r"</?\w+>")


def reflection_in(text: str) -> str:
    """What the first block says, without the tags inside it; empty where there is no block or nothing in it."""
    inside, closed, _ = text.partition(OPENS)[2].partition(CLOSES)
    return " ".join(_TAG.sub(" ", inside).split()) if closed else ""
