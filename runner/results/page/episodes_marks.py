"""Marks of steps, by which a page finds where two trajectories of a sample first differ without reading either."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import orjson

from components.core.messages import ToolCall
from components.core.types import Step, Trajectory
from runner.results.page.episodes_told import text_of

Marks = tuple[list[str], list[list[int]]]


class Marker:
    """Numbers what steps hold. Equal numbers say equal content, for episodes of one sample and epoch; 0: nothing."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int], dict[bytes, int]] = {}

    def marks(self, record: Mapping[str, Any], trajectory: Trajectory, tools: Mapping[str, str]) -> Marks:
        """The purposes of the steps; per step [who, asked, said, called, observed], then [how it ended].

        ``tools``: name -> what the tool is: one that two runs call by different names is the same.
        """
        known = self._known.setdefault((record["sample_id"], record["epoch"]), {})
        refusal = dict(trajectory.refusal.grounds) if trajectory.refusal else None
        end = [trajectory.stop, trajectory.answer, refusal, trajectory.failure]
        steps = [[_number(known, part) for part in _parts(step, tools)] for step in trajectory.steps]
        return [step.purpose for step in trajectory.steps], [*steps, [_number(known, end)]]


def _parts(step: Step, tools: Mapping[str, str]) -> tuple[Any, ...]:
    """Who, asked, said, called, observed; without what differs by chance: ids of calls, times."""
    calls = step.action.calls if step.action is not None else ()
    seen = [[_call(one.call, tools), one.observation.text, one.error] for one in (*step.tried, *step.observed)]
    return (
        [step.purpose, step.role, step.branch, step.committed],
        [[message.role, text_of(message)] for message in step.asked],
        [text_of(step.reply), step.verdict],
        [_call(call, tools) for call in calls],
        [len(step.tried), seen] if seen else [],
    )


def _call(call: ToolCall, tools: Mapping[str, str]) -> list[str]:
    return [tools.get(call.name, call.name), call.arguments]


def _number(known: dict[bytes, int], part: Any) -> int:
    if not part:
        return 0
    return known.setdefault(sha256(orjson.dumps(part)).digest()[:12], len(known) + 1)
