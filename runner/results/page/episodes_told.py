"""An episode as the page's viewer reads it: plain JSON, empty values left out, long texts by reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from components.core.messages import Image, Message, ToolCall
from components.core.types import Observed, Step, Trajectory
from components.faults.marks import fault_lines
from runner.results.page.episodes_packed import Text, Texts

Plain = dict[str, Any]


class Teller:
    """Tells episodes; their texts go into ``texts``."""

    def __init__(self, texts: Texts) -> None:
        self._text = texts.add
        self._lines = texts.lines

    def episode(self, record: Mapping[str, Any], trajectory: Trajectory, offered: Sequence[str]) -> Plain:
        """All of an episode but what the list says. ``offered``: the stored lines of its tools."""
        grounds = trajectory.refusal.grounds if trajectory.refusal else {}
        return _without_empty(
            {
                "question": self._text(question_of(trajectory)),
                "offered": self._lines(list(offered)),
                "steps": [self._step(step) for step in trajectory.steps],
                "answer": None if trajectory.answer is None else self._text(trajectory.answer),
                "grounds": {str(name): self._text(str(ground)) for name, ground in grounds.items()},
                "failure": trajectory.failure,
                "error": self._text(trajectory.error or ""),
                "scores": record["scores"],
                "ceilings": record.get("ceilings"),
                "explanations": {name: self._text(why) for name, why in (record.get("explanations") or {}).items()},
                "purposes": record["usage"].get("purposes"),
            }
        )

    def _step(self, step: Step) -> Plain:
        action = step.action
        calls = action.calls if action is not None else ()
        done = [one.call for one in (*step.tried, *step.observed)]
        remarks = {name: value for name, value in step.remarks.items() if name != "label"}
        return _without_empty(
            {
                "purpose": step.purpose,
                "role": "" if step.role == "main" else step.role,
                "branch": step.branch,
                "label": str(step.remarks.get("label", "")),
                "kept": step.kept,
                "asked": [self._message(message) for message in step.asked],
                "reply": self._message(step.reply, calls),
                "finish": "" if step.finish == "stop" else step.finish,
                "aside": not step.committed,
                "verdict": self._text(step.verdict),
                "unreadable": self._text(action.error_text or action.error) if action and action.error else "",
                "tried": [self._observed(one) for one in step.tried],
                "observed": [self._observed(one) for one in step.observed],
                "skipped": [self._call(call) for call in calls if call not in done],
                "remarks": self._text(orjson.dumps(remarks, option=orjson.OPT_INDENT_2).decode()) if remarks else "",
                "usage": [step.usage.input_tokens, step.usage.output_tokens, step.usage.cost_usd],
                "seconds": round(step.seconds, 3),
            }
        )

    def _message(self, message: Message, shown: Sequence[ToolCall] = ()) -> Plain:
        """A message; images as places in its text, native calls that are not ``shown`` elsewhere."""
        return _without_empty(
            {
                "role": message.role,
                "text": self._text(text_of(message)),
                "source": message.source,
                "thought": self._text(message.reasoning or ""),
                "calls": [self._call(call) for call in message.tool_calls if call not in shown],
            }
        )

    def _observed(self, one: Observed) -> Plain:
        pictures = "".join("\n[an image]" for _ in one.observation.images)
        told = {
            "call": self._call(one.call), "text": self._text(one.observation.text + pictures), "error": one.error,
            "control": one.control, "seconds": round(one.seconds, 3),
            "faults": [self._text(fault) for fault in fault_lines(one)],
        }  # fmt: skip
        return _without_empty(told)

    def _call(self, call: ToolCall) -> list[Text]:
        return [call.name, self._text(call.arguments)]


def question_of(trajectory: Trajectory) -> str:
    """What the first call was asked last by a user; empty for an episode without a call."""
    first = trajectory.steps[0].asked if trajectory.steps else ()
    return next((text_of(message) for message in reversed(first) if message.role == "user"), "")


def text_of(message: Message) -> str:
    """What a message says, images by name."""
    if isinstance(message.content, str):
        return message.content
    return "\n".join("[an image]" if isinstance(part, Image) else part for part in message.content)


def _without_empty(told: Plain) -> Plain:
    return {name: value for name, value in told.items() if value}
