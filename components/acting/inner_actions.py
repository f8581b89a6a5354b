"""Plan and Think: actions that only write something down; every clinical toolset has them, and agents use them too.

Source: Liao et al. 2024 (ReflecTool), arXiv 2410.17657, table 4.
"""

from dataclasses import dataclass
from typing import Any

from components.core.messages import ToolSpec
from components.core.tools import Context, Effect, Tool
from components.core.types import Observation

OK = "OK"


def _spec(name: str, description: str, response: str) -> ToolSpec:
    """A spec with one text; further parameters are accepted and ignored, as in the reference implementation."""
    properties = {"response": {"type": "string", "description": response}}
    parameters = {"type": "object", "properties": properties, "additionalProperties": True}
    return ToolSpec(name, description, parameters, facts={"dimension": "inner"})


_PLAN = _spec("Plan", "Write down the steps that you will take to solve the task.", "The steps, in order.")
_THINK = _spec("Think", "Write down what you make of the findings so far.", "Your reasoning.")


@dataclass(frozen=True)
class Plan:
    """Write down a plan. Input: ``response`` and whatever else. Output: ``OK``."""

    effect: Effect = "pure"

    @property
    def spec(self) -> ToolSpec:
        """What the model is told."""
        return _PLAN

    async def __call__(self, context: Context, **_: Any) -> Observation:
        """Take note."""
        return Observation(OK)


@dataclass(frozen=True)
class Think:
    """Write down a thought. Input: ``response`` and whatever else. Output: ``OK``."""

    effect: Effect = "pure"

    @property
    def spec(self) -> ToolSpec:
        """What the model is told."""
        return _THINK

    async def __call__(self, context: Context, **_: Any) -> Observation:
        """Take note."""
        return Observation(OK)


INNER: tuple[Tool, ...] = (Plan(), Think())
