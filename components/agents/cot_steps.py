"""Chain of thought in steps: plan, think and finish, without any tool.

Source: the baseline COT of Liao et al. 2024 (ReflecTool), arXiv 2410.17657: an agent with an empty tool set and the
task's inputs (schema, documents) in its prompt. An answer to a database's question may be SQL.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from annotated_types import Ge

from components.acting.inner_actions import INNER
from components.acting.loop import Acting
from components.core.protocols import Episode
from components.core.tools import Tool
from components.core.types import Answer, Failure, Refusal


@dataclass(frozen=True)
class CotSteps(Acting):
    """One attempt; whatever the toolset offers, only Plan and Think are there (``bare``)."""

    prompts: str = "cot_steps"
    max_steps: Annotated[int, Ge(1)] | None = 15
    force_finish: bool = True
    preload: bool = True
    brings: ClassVar[Sequence[Tool]] = INNER
    bare: ClassVar[bool] = True

    async def solve(self, episode: Episode) -> Answer | Refusal | Failure:
        """Think until there is an answer."""
        return (await self.attempt(episode)).outcome
