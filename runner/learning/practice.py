"""Training samples, played for a stage without memory and verifier."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace

from components.core.errors import ModelError
from components.core.protocols import Agent, Episode, Memory
from components.core.traits import Requirements, requirements_of
from components.core.types import CONTEXT_LENGTH, Answer, Failure, Played, Refusal, Sample
from runner.episode.door import Door
from runner.episode.ending import consults, deciding
from runner.episode.episode import play
from runner.episode.shared import Parts
from runner.terminal.progress import Progress

Solve = Callable[[Episode], Awaitable[Answer | Refusal | Failure]]


@dataclass(frozen=True)
class Solver:
    """An agent that is one function of its episode."""

    plays: Solve
    requirements: Requirements = field(default_factory=Requirements)

    async def solve(self, episode: Episode) -> Answer | Refusal | Failure:
        """Play it."""
        return await self.plays(episode)


@dataclass
class Practice:
    """See ``components.core.learning.Practice``; ``skipped`` are samples that grew too long for the model."""

    agent: Agent
    parts: Parts
    door: Door
    progress: Progress | None = None
    what: str = "training sample"
    played: set[str] = field(default_factory=set)
    skipped: set[str] = field(default_factory=set)

    async def play(self, sample: Sample, solve: Solve, memory: Memory | None = None, epoch: int = 0) -> Played:
        """One episode; one that grows too long for the model has failed. Raises ModelError when it broke off."""
        name, own = sample.problem.id, requirements_of(self.agent)
        solver = Solver(solve, Requirements(tools=own.tools, only_own_tools=own.only_own_tools))
        quick = {key: scorer for key, scorer in self.parts.scorers.items() if not consults(scorer)}  # grades cost
        parts = replace(self.parts, agent=solver, memory=memory, scorers=quick)
        trajectory, scores = await play(parts, self.door, sample, epoch)
        error = trajectory.error or ""
        if trajectory.stop == "error":
            lines = error.strip().splitlines()
            raise ModelError(f"{self.what} {name!r}: {lines[-1] if lines else 'it broke off'}", "training")
        if trajectory.failure == CONTEXT_LENGTH:
            self.skipped.add(name)
        if self.progress is not None and name not in self.played:
            self.played.add(name)
            self.progress.finished(name in self.skipped)
        return Played(trajectory, deciding(self.parts.scorers, scores), {score.name: score.value for score in scores})
