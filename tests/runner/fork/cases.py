"""A model whose chance of success from every step is known, episodes of it, and interventions on them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from components.core.messages import Request
from components.core.types import Sample
from runner.episode.budget import Budget
from runner.episode.ending import before_judging
from runner.episode.episode import run_episode
from runner.experiment.experiment import Experiment
from runner.fork.plan import Intervention
from runner.fork.points import Recorded
from runner.fork.request import CONTROL, Arm
from tests.parts import Rows, Speaker, door, parts

GOOD, LUCKY, SAVED = 0.8, 0.9, 0.3  # chance of a good first step, and of a right answer after a good and a bad one
TRUE = {1: GOOD * LUCKY + (1 - GOOD) * SAVED}  # chance of success from step 1
_SET = Arm(set=("x=1",))
CHANCE = {"1": LUCKY, "2": SAVED}  # from step 2: by what the tool returned


@dataclass(frozen=True)
class Known:
    """Replies by the request's seed: a first call that is good or bad, then an answer that is right or wrong."""

    good: float = GOOD
    saved: float = SAVED

    def __call__(self, request: Request) -> str:
        luck, right = Random(request.seed).random(), request.sample_id.replace("q", "answer ")
        if len(request.messages) == 1:
            return f'call count {{"n": {1 if luck < self.good else 2}}}'
        chance = LUCKY if request.messages[-1].text == "saw 1" else self.saved
        return right if luck < chance else "wrong"


async def recorded(sample: Sample, say: Any = None, **changes: Any) -> Recorded:
    """An episode as a record has it."""
    trajectory, scores = await run_episode(parts(**changes), door(Speaker(say or Known())), sample, 0)
    score = scores[0].value if scores else None
    return Recorded(sample, 0, before_judging(trajectory).steps, score)


def experiment(
    say: Any = None, model: Any = None, samples: Sequence[Sample] = (), cfg: Any = None, **changes: Any
) -> Experiment:
    """An experiment of these parts; ``cfg``: nodes that tell it from others."""
    made = Speaker(say or Known()) if model is None else model
    rows = Rows()
    return Experiment(
        "x", 0, 1, parts(**changes), {"main": made}, rows, samples or rows.load("test"), Budget(), cfg or {}, {}, {}
    )


def control(base: Experiment) -> Intervention:
    """Continued as it was."""
    return Intervention(CONTROL, Arm(), base, base)


def treated(base: Experiment, other: Experiment, name: str = "treated", arm: Arm = _SET, **own: Any) -> Intervention:
    """An intervention with this experiment."""
    return replace(Intervention(name, arm, other, base), **own)
