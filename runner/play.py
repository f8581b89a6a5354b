"""One sample in, one scored trajectory out, whatever happens."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random

from components.errors import ConfigError, LimitReached, ModelError, RunLimitReached
from components.models.redaction import redact
from components.protocols import Agent, Condition, Grammar, Scorer, Toolset, Verifier
from components.types import Answer, Failure, Offer, Refusal, Sample, Score, Trajectory
from runner.door import Budget, Door
from runner.episode import Episode, Shared


@dataclass(frozen=True)
class Parts:
    """The parts of an experiment that an episode plays with."""

    agent: Agent
    verifier: Verifier
    grammar: Grammar
    toolset: Toolset
    condition: Condition
    scorers: Mapping[str, Scorer] = field(default_factory=dict)
    budget: Budget = field(default_factory=Budget)

    def open(self, sample: Sample, epoch: int, seed: int) -> Offer:
        """What this sample offers under the condition; the same on every call."""
        rng = Random(f"{seed}/{sample.problem.id}/{epoch}/condition")
        return self.condition.offer(self.toolset.open(sample), sample, rng)


async def play(parts: Parts, door: Door, sample: Sample, epoch: int) -> tuple[Trajectory, list[Score]]:
    """Play and score one sample. Raises RunLimitReached; what ended in ``error`` is not scored."""
    trajectory = Trajectory()
    try:
        await _solve(parts, door, sample, epoch, trajectory)
        return trajectory, await _scores(parts, sample, trajectory)
    except ModelError as error:
        if error.kind == "replay_miss":  # a strict replay is refused as a whole, with its first difference
            raise ConfigError(f"run.replay: {error}") from None
        trajectory.stop, trajectory.error = "error", redact(f"{error.kind}: {error}")
    except (RunLimitReached, ConfigError):
        raise
    except Exception:  # noqa: BLE001 - the only one of the house: a bug costs one sample, not the run
        trajectory.stop, trajectory.error = "error", redact(f"bug: {traceback.format_exc()}")
    return trajectory, []


async def _solve(parts: Parts, door: Door, sample: Sample, epoch: int, trajectory: Trajectory) -> None:
    """Let the agent solve the sample; steps end in an order that does not depend on arrival."""
    offer = parts.open(sample, epoch, door.run_seed)
    trajectory.offered = tuple(tool.spec for tool in offer.tools.values())
    trajectory.facts = offer.facts
    shared = Shared(parts, door, sample, epoch, trajectory)
    try:
        _end(trajectory, await parts.agent.solve(Episode(shared, offer)))
    except BaseExceptionGroup as group:  # of an agent that works on several lines at once
        error = _first(group)
        if not isinstance(error, LimitReached):
            raise error from None
        trajectory.stop, trajectory.error = "limit", str(error)
    except LimitReached as limit:
        trajectory.stop, trajectory.error = "limit", str(limit)
    finally:
        shared.closed = True
        trajectory.steps.sort(key=lambda step: shared.order[id(step)])


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The error of a group that decides: a run's limit, a sample's, a model's, then any."""
    flat: list[BaseException] = []
    for error in group.exceptions:
        flat.append(_first(error) if isinstance(error, BaseExceptionGroup) else error)
    for kind in (RunLimitReached, LimitReached, ModelError):
        for error in flat:
            if isinstance(error, kind):
                return error
    return flat[0]


async def _scores(parts: Parts, sample: Sample, trajectory: Trajectory) -> list[Score]:
    """All scores. What a scorer cannot run without (a ConfigError) costs its scores, not the sample."""
    scores: list[Score] = []
    for name, scorer in parts.scorers.items():
        score = scorer.score
        try:
            blocks = getattr(scorer, "blocking", False)
            scores += await asyncio.to_thread(score, sample, trajectory) if blocks else score(sample, trajectory)
        except ConfigError as error:
            scores.append(Score(f"{name}/unscored", None, redact(str(error))))
    return scores


def _end(trajectory: Trajectory, outcome: Answer | Refusal | Failure) -> None:
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
