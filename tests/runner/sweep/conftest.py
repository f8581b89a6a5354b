"""An agent whose score follows a setting, so that there is something to search for."""

import pytest

TUNED = """
import os, signal
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Sequence
from annotated_types import Interval
from components.core.messages import Message
from components.core.traits import Requirements, ScorerTraits
from components.core.types import Answer
from mine.parts import Right

@dataclass(frozen=True)
class Tuned:
    quality: Annotated[float, Interval(ge=0, le=1)] = 0.5
    times: int = 1
    style: str = "plain"
    controls: Sequence[str] = ()

    @property
    def requirements(self):
        return Requirements(controls=self.controls)

    async def solve(self, episode):
        if Path("broken").exists() and self.times == int(Path("broken").read_text()):
            raise RuntimeError("broken agent")
        if Path("stop").exists() and self.times == int(Path("stop").read_text()):
            Path("stop").unlink()
            os.kill(os.getpid(), signal.SIGINT)
        for _ in range(self.times):
            await episode.ask([Message("user", episode.problem.question)], "answer")
        share = (int(episode.problem.id[1:]) + 0.5) / 20
        return Answer("A" if share < self.quality else "B")

class Proportion(Right):
    traits = ScorerTraits(kinds={"score/strict": "proportion"})
"""
SEARCH = (
    "hydra/sweeper=optuna", "agent=tuned", "dataset.n=20", "hydra.sweep.dir=sweep",
    "search.objectives={score/strict:maximise}",
)  # fmt: skip


@pytest.fixture
def tuned(home):
    """A user's folder with that agent."""
    (home.path / "mine" / "tuned.py").write_text(TUNED)
    home.write("agent/tuned", "_target_: mine.tuned.Tuned\nquality: 0.5\ntimes: 1\nstyle: plain")
    home.write("scorer/proportion", "right: {_target_: mine.tuned.Proportion}")
    return home
