"""Reflexion: try, reflect on the whole trial, try again.

Source: Shinn et al. 2023, arXiv 2303.11366; as a baseline in Liao et al. 2024 (ReflecTool), arXiv 2410.17657,
where the agent is never told whether it was right and always tries twice. ``oracle`` is the original: it is
told, and stops when it is right; results of such runs say so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge

from components.acting import Acting, Shown
from components.prompts import load
from components.protocols import Episode
from components.task_text import Chain, chain_text, task_text, written
from components.types import Answer, Failure, Refusal


@dataclass(frozen=True)
class Reflexion(Acting):
    """Up to ``trials`` attempts, each with fresh tools and shown all earlier ones."""

    prompts: str = "reflexion"
    max_steps: Annotated[int, Ge(1)] | None = 15
    trials: Annotated[int, Ge(1)] = 2
    oracle: bool = False

    async def solve(self, episode: Episode) -> Answer | Refusal | Failure:
        """The outcome of the last trial."""
        previous: list[Chain] = []
        for number in range(1, self.trials + 1):
            line = episode if number == 1 else episode.branch(f"trial/{number}", tools="fresh")
            trial = await self.attempt(line, Shown(previous=previous))
            unable = isinstance(trial.outcome, Failure) and trial.outcome.label == "unsupported_input"
            if unable or number == self.trials or (self.oracle and await episode.correct(trial.outcome)):
                break
            previous.append(await reflected(line, self.prompts, trial.chain))
        return trial.outcome


async def reflected(episode: Episode, prompts: str, chain: Chain) -> Chain:
    """A trial with the model's reflection on it as its last step."""
    ask = load(prompts).user("reflect", task=task_text(episode.problem), chain=chain_text(chain))
    thought = (await episode.ask([ask], "reflect")).text
    return (*chain, (written("Reflection", thought), "OK"))
