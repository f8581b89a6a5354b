"""ReflecTool, inference: act step by step with what was learnt, each step checked by the verifier.

Source: Liao et al. 2024, arXiv 2410.17657, §4; the memory is built by the stage ``optimize``, refinement and
candidate selection are the verifiers ``refine`` and ``select``. Departures: a dialogue of one message per turn
in place of one growing message, so that every grammar can be used; without demonstrations a pattern for each
way of calling stands in their place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from annotated_types import Ge

from components.acting import Acting, Shown
from components.inner_actions import INNER
from components.protocols import Episode, Tool
from components.task_text import task_text
from components.tool_names import lasting_names, to_local
from components.types import Answer, Failure, Refusal


@dataclass(frozen=True)
class ReflecTool(Acting):
    """One attempt that is shown the solved problems nearest to the task; the tools Plan and Think are its own."""

    prompts: str = "reflectool"
    max_steps: Annotated[int, Ge(1)] | None = 15
    force_finish: bool = True

    @property
    def brings(self) -> Sequence[Tool]:
        """Plan and Think, and what asks for a tool."""
        return (*INNER, *super().brings)

    async def solve(self, episode: Episode) -> Answer | Refusal | Failure:
        """Search the memory, then act."""
        memory = episode.memory
        names = lasting_names(tool.spec for tool in episode.offer.tools.values())
        solved = () if memory is None else memory.search(task_text(episode.problem))
        found = [replace(one, solution=to_local(one.solution, names)) for one in solved]
        return (await self.attempt(episode, Shown(demonstrations=found))).outcome
