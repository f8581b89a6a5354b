"""What an agent's own code may do with a RadABench offer: start from a plan, look, look for the last time.

Source: Zheng et al. 2024, arXiv 2412.09529; the reference implementation (MAGIC-AI4Med/RadABench,
January 2025) reads plans differently, and hides the patient's information to the end, in its separate
pipeline for condition baseline.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from components.core.messages import ToolSpec
from components.core.tools import Context, Effect, Tool
from components.core.types import Observation
from components.radiology.plan import KnownInfo, is_code_baseline, known_mode, read_known, runtime_plan
from components.radiology.switches import Switches
from components.radiology.tool import memory_of

_START = ToolSpec("start", "Begin with the variables that a plan holds known.")
_LOOK = ToolSpec("look", "See the memory.")
_FINAL = ToolSpec("final", "See the memory for the last time.")


@dataclass(frozen=True)
class Start:
    """Begin with what a planning reply claims to be known.

    Output: the memory as one line of JSON; data ``known`` (variables with dollar signs) and ``plan``
    (planning names in canonical order; None where the reference does not echo one).
    """

    known: KnownInfo
    echoes: bool
    spec: ToolSpec = _START
    effect: Effect = "episode"

    async def __call__(self, context: Context, plan: str = "", **_: Any) -> Observation:
        """Fill the start memory. Raises ToolError when the record lacks a claimed variable."""
        memory = memory_of(context.state)
        known = read_known(plan, self.known)
        memory.begin(known)
        return Observation(memory.text(), {"known": known, "plan": runtime_plan(plan) if self.echoes else None})


@dataclass(frozen=True)
class Look:
    """The memory as one line of JSON; with ``information`` the patient's in place of its placeholder."""

    information: bool
    spec: ToolSpec = _LOOK
    effect: Effect = "episode"

    async def __call__(self, context: Context, **_: Any) -> Observation:
        """Read the memory."""
        return Observation(memory_of(context.state).text(self.information))


@lru_cache
def controls(switches: Switches, condition: str) -> Mapping[str, Tool]:
    """The controls of an offer under this condition."""
    plain = is_code_baseline(switches, condition)
    start = Start(known_mode(switches, condition), echoes=not plain)
    return {"start": start, "look": Look(False), "final": Look(not plain, _FINAL)}
