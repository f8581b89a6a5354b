"""Skill: writing a move in the grammar that the prompt asks for."""

from __future__ import annotations

from typing import Literal

import orjson

from components.core.messages import Message, ToolCall
from components.models.simulated.skills.act import Move

Style = Literal["xml", "bracket", "native"]


def write(move: Move, style: Style, answer: str) -> Message:
    """The move as a message; ``answer`` is said when nothing is left to do."""
    if style == "native":
        return _native(move, answer)
    return Message("assistant", _xml(move, answer) if style == "xml" else _bracket(move, answer))


def _xml(move: Move, answer: str) -> str:
    if move.grounds is not None:
        fields = "\n".join(
            f"<{name.capitalize()}>{value}</{name.capitalize()}>" for name, value in move.grounds.items()
        )
        return f"<NoCall>\n{fields}\n</NoCall>"
    if move.card is None:
        return answer
    tag = "EndCall" if move.last else "Call"
    inputs = ", ".join(move.inputs)
    return (
        f"<{tag}>\n<Purpose>{_purpose(move)}</Purpose>\n<Tool>{move.card.name}</Tool>\n"
        f"<Input>[{inputs}]</Input>\n</{tag}>"
    )


def _bracket(move: Move, answer: str) -> str:
    if move.grounds is not None:
        return f"Thought: {move.grounds['purpose']}\nAction: Refuse[{_json(move.grounds)}]"
    if move.card is None:
        return f"Thought: The task is done.\nAction: Finish[{_json({'response': answer})}]"
    arguments = {"purpose": _purpose(move), "input": list(move.inputs)}
    return f"Thought: {_purpose(move)}\nAction: {move.card.name}[{_json(arguments)}]"


def _native(move: Move, answer: str) -> Message:
    if move.grounds is not None:
        return Message("assistant", "", tool_calls=(ToolCall("call_refuse", "refuse", _json(move.grounds)),))
    if move.card is None:
        return Message("assistant", answer)
    arguments = _json({"purpose": _purpose(move), "input": list(move.inputs)})
    return Message("assistant", "", tool_calls=(ToolCall(f"call_{move.card.name}", move.card.name, arguments),))


def _purpose(move: Move) -> str:
    return f"Run the {move.card.category.lower()}." if move.card is not None else ""


def _json(value: object) -> str:
    return orjson.dumps(value).decode()
