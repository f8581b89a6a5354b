"""How an episode ends: its outcome in the trajectory, and its scores."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeGuard

from components.core.errors import ConfigError, LimitReached, ModelError, RunLimitReached, as_failure
from components.core.protocols import Consulting, Episode, Following, Scorer
from components.core.redaction import redact
from components.core.traits import scorer_traits
from components.core.types import Answer, Failure, Refusal, Sample, Score, Step, Trajectory
from runner.storage.disk import Unwritable

Scorers = Mapping[str, Scorer]
JUDGING = "judge"  # the branch of what scorers ask about an episode
UNSUPPORTED = "unsupported_input"  # a Failure of this label says that the model cannot take part here


async def scored(
    scorers: Scorers, sample: Sample, trajectory: Trajectory, judging: Callable[[], Episode] | None = None
) -> list[Score]:
    """All scores; none of an episode whose model cannot take the task's input.

    What a scorer cannot run without (a ConfigError) costs its scores, not the sample. Those that go by how right others
    found the episode follow these; scorers that ask a model come last, and where ``judging`` gives them no episode to
    ask in they go by what was asked before. Others do not see that.
    """
    scores: list[Score] = []
    if trajectory.failure == UNSUPPORTED:
        return scores
    own = before_judging(trajectory)
    for name, scorer in sorted(scorers.items(), key=lambda one: _turn(one[1])):
        try:
            if follows(scorer):
                scores += scorer.follow(sample, own, deciding(scorers, scores))
                continue
            if consults(scorer) and judging is not None:
                await scorer.consult(sample, own, {score.name: score.value for score in scores}, judging())
            scores += await _scores(scorer, sample, trajectory if consults(scorer) else own)
        except ConfigError as error:
            scores.append(Score(f"{name}/unscored", None, redact(str(error))))
    return scores


def consults(scorer: Scorer) -> TypeGuard[Consulting]:
    """Whether a scorer asks a model; a check of its type would cost as much as scoring."""
    return scorer_traits(scorer).asks is not None


def follows(scorer: Scorer) -> TypeGuard[Following]:
    """Whether a scorer goes by how right others found an episode."""
    return scorer_traits(scorer).follows


def before_judging(trajectory: Trajectory) -> Trajectory:
    """The trajectory as its agent left it; what scorers asked stands at its end."""
    steps = trajectory.steps
    if not steps or not _is_judging(steps[-1]):
        return trajectory
    return replace(trajectory, steps=[step for step in steps if not _is_judging(step)])


def _is_judging(step: Step) -> bool:
    return step.branch.startswith(f"{JUDGING}/")


def _turn(scorer: Scorer) -> int:
    """The place of a scorer among the others."""
    return 2 if consults(scorer) else int(follows(scorer))


async def _scores(scorer: Scorer, sample: Sample, trajectory: Trajectory) -> Sequence[Score]:
    """The scores of one scorer; one that blocks leaves the loop."""
    if scorer_traits(scorer).blocking:
        return await asyncio.to_thread(scorer.score, sample, trajectory)
    return scorer.score(sample, trajectory)


def deciding(scorers: Scorers, scores: Sequence[Score]) -> float | None:
    """How right an episode was, 0 to 1: the score that a scorer names in ``decides``, else the first."""
    values = {score.name: score.value for score in scores}
    named = [name for one in scorers.values() if (name := scorer_traits(one).decides) in values]
    return next((values[name] for name in (*named, *values)), None)


def shortly(error: str | None) -> str:
    """An error in one line: its first and its last."""
    lines = (error or "").strip().splitlines() or [""]
    return (lines[0] if len(lines) == 1 else f"{lines[0]} {lines[-1]}")[:500]


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


def give_up(trajectory: Trajectory, error: BaseException) -> None:
    """Write an error into the trajectory that is the method's own failure: a limit, or a request that was longer than
    the model takes, whoever of the method asked. Raises any other."""
    match error:
        case LimitReached():
            trajectory.stop, trajectory.error = "limit", str(error)
        case ModelError():
            ended(trajectory, as_failure(error))
        case _:
            raise error from None


def decisive(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The error of a group that decides: a full disk, a run's limit, a sample's, a model's, then any."""
    flat: list[BaseException] = []
    for error in group.exceptions:
        flat.append(decisive(error) if isinstance(error, BaseExceptionGroup) else error)
    for kind in (Unwritable, RunLimitReached, LimitReached, ModelError):
        for error in flat:
            if isinstance(error, kind):
                return error
    return flat[0]
