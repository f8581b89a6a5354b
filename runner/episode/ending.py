"""How an episode ends: its outcome in the trajectory, and its scores."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import cast

from components.core.errors import ConfigError, LimitReached, ModelError, RunLimitReached
from components.core.protocols import Consulting, Episode, Following, Scorer
from components.core.redaction import redact
from components.core.score_names import SLACK, range_of
from components.core.traits import ScorerTraits, declared
from components.core.types import Answer, Failure, Refusal, Sample, Score, Trajectory, as_failure
from runner.storage.disk import Unwritable

Scorers = Mapping[str, Scorer]
JUDGING = "judge"  # the branch on which scorers ask about an episode
_JUDGED = f"{JUDGING}/"
UNSUPPORTED = "unsupported_input"  # the label of a Failure where the model cannot take the task's input


async def score_all(
    scorers: Scorers, sample: Sample, trajectory: Trajectory, judging: Callable[[], Episode] | None = None
) -> list[Score]:
    """All scores; none of an episode whose model cannot take the task's input.

    A ConfigError of a scorer costs its scores, not the sample; one of the model that it asks ends the run. Scorers that
    follow the deciding score come after the others; those that ask a model come last, and without ``judging`` (the
    episode to ask in) use what was asked before.
    """
    scores: list[Score] = []
    if trajectory.failure == UNSUPPORTED:
        return scores
    own = before_judging(trajectory)
    traits = {name: declared(scorer, ScorerTraits) for name, scorer in scorers.items()}
    for name in sorted(scorers, key=lambda name: (traits[name].asks is not None, traits[name].follows)):
        scorer, of = scorers[name], traits[name]
        if of.asks is not None and judging is not None:
            await cast(Consulting, scorer).consult(sample, own, {one.name: one.value for one in scores}, judging())
        try:
            judged = own if of.asks is None else trajectory
            if of.follows:
                known = {one.name: one.value for one in scores}
                right = deciding_value(scorers, scores, or_first=False)
                found = cast(Following, scorer).follow(sample, own, right, known)
            elif of.blocking:
                found = await asyncio.to_thread(scorer.score, sample, judged)
            else:
                found = scorer.score(sample, judged)
            scores += _refuse_others(found, of)
        except ConfigError as error:
            scores.append(Score(f"{name}/unscored", None, redact(str(error))))
    return scores


def _refuse_others(found: Iterable[Score], of: ScorerTraits) -> list[Score]:
    """All scores of a scorer. Raises ConfigError for one that is none of its declared kind."""
    for one in (scores := list(found)):
        low, high = range_of(one.name, kind := of.kinds.get(one.name, "number"))
        if one.value is not None and (one.value < low - SLACK or one.value > high + SLACK):
            raise ConfigError(f"{one.name} is {one.value:.12g}, and a {kind} is from {low:g} to {high:g}")
    return scores


def before_judging(trajectory: Trajectory) -> Trajectory:
    """The trajectory as its agent left it, without the steps of scorers at its end."""
    if not trajectory.steps or not trajectory.steps[-1].branch.startswith(_JUDGED):
        return trajectory
    return replace(trajectory, steps=[step for step in trajectory.steps if not step.branch.startswith(_JUDGED)])


def deciding_value(scorers: Scorers, scores: Sequence[Score], *, or_first: bool = True) -> float | None:
    """How right an episode was, 0 to 1: the score that a scorer ``decides`` by, else the first one."""
    values = {score.name: score.value for score in scores}
    named = [name for one in scorers.values() if (name := declared(one, ScorerTraits).decides) in values]
    return next((values[name] for name in (*named, *(values if or_first else ()))), None)


def shorten(error: str | None) -> str:
    """An error in one line: its first and its last."""
    lines = (error or "").strip().splitlines() or [""]
    return (lines[0] if len(lines) == 1 else f"{lines[0]} {lines[-1]}")[:500]


def record_outcome(trajectory: Trajectory, outcome: Answer | Refusal | Failure) -> None:
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
    """Write the method's own error into the trajectory: a limit, a request that is too long. Raises any other."""
    if isinstance(error, ModelError):
        record_outcome(trajectory, as_failure(error))
    elif isinstance(error, LimitReached):
        trajectory.stop, trajectory.error = "limit", str(error)
    else:
        raise error from None


def select_error(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The error of a group that decides: a full disk, a run's limit, a sample's, a model's, then any."""
    flat = [select_error(error) if isinstance(error, BaseExceptionGroup) else error for error in group.exceptions]
    order = (Unwritable, RunLimitReached, LimitReached, ModelError)
    return next((error for kind in order for error in flat if isinstance(error, kind)), flat[0])
