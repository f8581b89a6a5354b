"""ReAct: reason, act, observe, until the model answers, refuses or a budget is spent.

Source: Yao et al. 2023, arXiv 2210.03629; as a baseline in Liao et al. 2024 (ReflecTool), arXiv 2410.17657.
Departures: instructions, and demonstrations where ``shots`` asks for them; any grammar, any toolset; a last call
that failed does not end the episode.
"""

from __future__ import annotations

from dataclasses import dataclass

from components.acting.loop import Acting
from components.core.protocols import Episode
from components.core.types import Answer, Failure, Refusal


@dataclass(frozen=True)
class ReAct(Acting):
    """One attempt at the task."""

    prompts: str = "react"

    async def solve(self, episode: Episode) -> Answer | Refusal | Failure:
        """Act and observe until there is an answer or a refusal."""
        return (await self.attempt(episode)).outcome
