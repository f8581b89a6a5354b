"""How sure an agent was of its answer, and whether it refused where it should have.

A confidence is what the agent stated, or the probability of its answer (``agent.confidence=verbal`` or ``logprobs``,
remarked by the episode), else the share of its draws that say what it answered (Wang et al. 2023, arXiv 2203.11171).
It is not stated where it cannot be read: then it is unscored, with the reason, and never a number.

A refusal is right where the task cannot be done: the condition took away what it needs, or the question has no answer
in the data (``metadata["answerable"]`` is false).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from components.core.score_names import REFUSED_RIGHTLY as RIGHT
from components.core.score_names import REFUSED_WRONGLY as WRONG
from components.core.score_names import STATED
from components.core.tools import LACKING
from components.core.traits import ScorerTraits
from components.core.types import Sample, Score, Trajectory


@dataclass(frozen=True)
class Confidence:
    """``confidence/stated``, 0 to 1, of answers. ``abstention/right``: of a task that cannot be done, 1 where it was
    refused, 0 where a refusal is missing; ``abstention/wrong``: of any other task, 1 where it was refused."""

    version: ClassVar[str] = "1"
    traits: ClassVar[ScorerTraits] = ScorerTraits(
        lower=(WRONG,), neither=(STATED,), kinds={STATED: "share", RIGHT: "proportion", WRONG: "proportion"}
    )

    def score(self, sample: Sample, trajectory: Trajectory) -> Sequence[Score]:
        """Read what the episode remarked."""
        if trajectory.stop == "error":
            return [Score(name, None) for name in (STATED, RIGHT, WRONG)]
        impossible = trajectory.facts.get("kind") in LACKING or sample.metadata.get("answerable") is False
        refused = float(trajectory.stop == "refused")
        return [
            _stated(trajectory),
            Score(RIGHT, refused if impossible else None),
            Score(WRONG, None if impossible else refused),
        ]


def _stated(trajectory: Trajectory) -> Score:
    if trajectory.stop != "answered":
        return Score(STATED, None)
    said = [step.remarks["confidence"] for step in trajectory.decisive if "confidence" in step.remarks]
    if said:
        return Score(STATED, None, f"not stated: {said[-1]}") if isinstance(said[-1], str) else Score(STATED, said[-1])
    draws = [step.remarks for step in trajectory.steps if "draw" in step.remarks]
    read = next((one["read"] for one in draws if one.get("chosen")), None)
    if read is None:
        return Score(STATED, None, "not stated: no draw can be read" if draws else "not stated: nothing was asked")
    return Score(STATED, sum(one["read"] == read for one in draws) / len(draws))
