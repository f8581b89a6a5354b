"""ReflecTool's inference: step by step with what was learnt, each step checked by the verifier; and its baseline COT.

Source: Liao et al. 2024 (ReflecTool), arXiv 2410.17657, §4. The memory is built by the stage ``optimize``, refinement
and candidate selection are the verifiers ``refine`` and ``select``. Departures: a dialogue of one message per turn in
place of one growing message, so that every grammar can be used; without demonstrations a pattern for each way of
calling is in their place. ``CotSteps`` is COT, an agent with an empty tool set and the task's inputs (schema,
documents) in its prompt. An answer to a database's question may be SQL.
"""

from dataclasses import dataclass, replace
from typing import Annotated

from annotated_types import Ge

from components.acting.inner_actions import INNER
from components.agents.react import ReAct
from components.core.traits import PromptSetName, Requirements


@dataclass(frozen=True)
class ReflecTool(ReAct):
    """One attempt that is shown ``shots`` solved tasks of its memory; the tools Plan and Think are its own."""

    prompts: PromptSetName = "reflectool"
    max_steps: Annotated[int, Ge(1)] | None = 15
    force_finish: bool = True
    shots: Annotated[int, Ge(0)] = 1

    @property
    def requirements(self) -> Requirements:
        """With Plan and Think."""
        own = super().requirements
        return replace(own, tools=(*INNER, *own.tools))


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
