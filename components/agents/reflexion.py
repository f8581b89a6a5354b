"""Reflexion: reflect on a trial and try again.

Source: Shinn et al. 2023, arXiv 2303.11366; as a baseline in Liao et al. 2024 (ReflecTool), arXiv 2410.17657, where the
agent never learns whether it was right and always tries twice. ``oracle`` is the original: it learns it, and stops when
it is right; results of such runs are marked. ``until: sound`` is the reading of docs/papers/ehragent.md for Shi et al.
2024 (EHRAgent), arXiv 2401.07128: a trial that failed by what the agent itself can see is repeated.
"""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Annotated, Literal

from annotated_types import Ge

from components.acting.attempt import Shown, Trial
from components.agents.react import ReAct
from components.core.protocols import Episode
from components.core.task_text import Chain, chain_text, response_text, task_text
from components.core.traits import PromptSetName, Requirements
from components.core.types import Answer, Failure, Refusal
from components.prompts import load


@dataclass(frozen=True)
class Reflexion(ReAct):
    """Up to ``trials`` attempts, each with fresh tools and shown the earlier ones: all, or the last ``kept``.
    ``until``: the last trial, or the first sound one. ``oracle``: the first right one, in spite of ``until``."""

    prompts: PromptSetName = "reflexion"
    max_steps: Annotated[int, Ge(1)] | None = 15
    trials: Annotated[int, Ge(1)] = 2
    until: Literal["last", "sound"] = "last"
    kept: Annotated[int, Ge(1)] | None = None
    oracle: bool = False

    @property
    def requirements(self) -> Requirements:
        """With the oracle, where it is asked."""
        return replace(super().requirements, oracle=self.oracle)

    async def solve(self, episode: Episode) -> Answer | Refusal | Failure:
        """The outcome of the last trial."""
        previous, thoughts = list[Chain](), list[str]()
        for number in range(1, self.trials + 1):
            line = episode if number == 1 else episode.branch(f"trial/{number}", tools="fresh")
            first = 0 if self.kept is None else max(0, len(previous) - self.kept)
            trial = await self.attempt(line, Shown(previous=previous[first:], reflections=thoughts[first:]))
            if number == self.trials or await self._ends(line, trial):
                break
            shown = {"task": task_text(line.problem), "chain": chain_text(trial.chain)}
            thoughts.append((await line.ask([load(self.prompts).user("reflect", (), **shown)], "reflect")).text)
            previous.append((*trial.chain, (response_text("Reflection", thoughts[-1]), "OK")))
        return trial.outcome

    async def _ends(self, episode: Episode, trial: Trial) -> bool:
        """Whether there is nothing to try again. A trial is sound that ended by itself, its last tool call without an
        error, and without the same action twice in a row with the same outcome."""
        if isinstance(trial.outcome, Failure) and trial.outcome.label == "unsupported_input":
            return True
        if self.oracle:
            return await episode.correct(trial.outcome)
        steps = [step for step in episode.trajectory.steps if step.branch == episode.name]
        seen = [one for step in steps for one in step.observed if not one.control]
        failed = isinstance(trial.outcome, Failure) or (bool(seen) and seen[-1].error is not None)
        repeats = any(one == following for one, following in pairwise(trial.chain))
        return self.until == "sound" and not failed and not repeats
