"""How the simulated core answers a verifier: with a candidate as it is written, or with a proposal, mended or not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import orjson

from components.core.messages import Message, ToolCall
from components.models.simulated.dialogue import Consultation, call_in
from components.models.simulated.draws import Draws
from components.models.simulated.skills.act import Move
from components.models.simulated.skills.judge import Good, mends, pick
from components.models.simulated.skills.write import Style, write


def review(dialogue: Consultation, good: Good, better: Callable[[], Message], style: Style, draws: Draws) -> Message:
    """The reply to the question at the dialogue's end; ``better`` writes the action that the core would take."""
    if dialogue.candidates:
        return Message("assistant", pick(dialogue, good, draws))
    return better() if mends(dialogue, good, draws) else again(dialogue.current or "", style)


def again(text: str, style: Style) -> Message:
    """An action that stands in the prompt, in the grammar that is asked for."""
    found = call_in(text)
    if style == "bracket" or found is None:
        return Message("assistant", f"Action: {text}")
    if found.name == "Refuse":
        return write(Move(grounds={name: str(value) for name, value in found.arguments.items()}), style, "")
    return written(found.name, found.arguments, style)


def written(name: str, arguments: Mapping[str, Any], style: Style, last: bool = False) -> Message:
    """A call, or the final answer, in a grammar; ``last``: the task is done after it (tags only)."""
    shown = orjson.dumps(dict(arguments)).decode()
    if style == "bracket":
        return Message("assistant", f"Action: {name}[{shown}]")
    if name == "Finish":
        return Message("assistant", str(arguments.get("response", "")))
    if style == "native":
        return Message("assistant", "", tool_calls=(ToolCall(f"call_{name}", name, shown),))
    tag, inside = "EndCall" if last else "Call", shown.replace("<", "\\u003c")
    purpose = f"<Purpose>Ask {name}.</Purpose>\n<Tool>{name}</Tool>\n<Input>{inside}</Input>"
    return Message("assistant", f"<{tag}>\n{purpose}\n</{tag}>")
