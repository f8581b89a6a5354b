"""How an episode ends: its outcome in the trajectory, and its scores."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from components.errors import ConfigError, LimitReached, ModelError, RunLimitReached
from components.models.redaction import redact
from components.types import Answer, Failure, Refusal, Sample, Score, Trajectory

if TYPE_CHECKING:
    from runner.play import Parts

UNSUPPORTED = "unsupported_input"  # a Failure of this label says that the model cannot take part here


async def scored(parts: Parts, sample: Sample, trajectory: Trajectory) -> list[Score]:
    """All scores; none of an episode whose model cannot take the task's input.

    What a scorer cannot run without (a ConfigError) costs its scores, not the sample.
    """
    scores: list[Score] = []
    if trajectory.failure == UNSUPPORTED:
        return scores
    for name, scorer in parts.scorers.items():
        score = scorer.score
        try:
            blocks = getattr(scorer, "blocking", False)
            scores += await asyncio.to_thread(score, sample, trajectory) if blocks else score(sample, trajectory)
        except ConfigError as error:
            scores.append(Score(f"{name}/unscored", None, redact(str(error))))
    return scores


def deciding(parts: Parts, scores: Sequence[Score]) -> float | None:
    """How right an episode was, 0 to 1: the score that a scorer names in ``decides``, else the first."""
    values = {score.name: score.value for score in scores}
    named = [name for one in parts.scorers.values() if (name := getattr(one, "decides", None)) in values]
    return next((values[name] for name in (*named, *values)), None)


def ended(trajectory: Trajectory, outcome: Answer | Refusal | Failure) -> None:
    """Write the agent's outcome into the trajectory."""
    match outcome:
        case Answer(text):
            trajectory.stop, trajectory.answer = "answered", text
        case Refusal():
            trajectory.stop, trajectory.refusal = "refused", outcome
        case Failure(label, detail):
            trajectory.stop, trajectory.failure = "failed", label
            trajectory.error = detail or None
        case _:
            raise TypeError(f"an agent's outcome is an Answer, Refusal or Failure, not {outcome!r}")


def decisive(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The error of a group that decides: a run's limit, a sample's, a model's, then any."""
    flat: list[BaseException] = []
    for error in group.exceptions:
        flat.append(decisive(error) if isinstance(error, BaseExceptionGroup) else error)
    for kind in (RunLimitReached, LimitReached, ModelError):
        for error in flat:
            if isinstance(error, kind):
                return error
    return flat[0]
