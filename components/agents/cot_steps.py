"""Chain of thought in steps: plan, think and finish, without any tool.

Source: the baseline COT of Liao et al. 2024 (ReflecTool), arXiv 2410.17657: an agent with an empty tool set and the
task's inputs (schema, documents) in its prompt. An answer to a database's question may be SQL.
"""

from dataclasses import dataclass, replace
from typing import Annotated

from annotated_types import Ge

from components.acting.inner_actions import INNER
from components.agents.react import ReAct
from components.core.traits import PromptSetName, Requirements


@dataclass(frozen=True)
class CotSteps(ReAct):
    """One attempt; whatever the toolset offers, only Plan and Think are there."""

    prompts: PromptSetName = "cot_steps"
    max_steps: Annotated[int, Ge(1)] | None = 15
    force_finish: bool = True
    preload: bool = True

    @property
    def requirements(self) -> Requirements:
        """Plan and Think, and nothing else."""
        return replace(super().requirements, tools=INNER, only_own_tools=True)
