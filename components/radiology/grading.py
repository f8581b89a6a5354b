"""Scores of an episode next to those of a perfect agent: what RadABench's scorers share."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from components.core.types import Sample, Score, Trajectory
from components.radiology.execution import Execution, read, task_of
from components.radiology.perfect import Suitable, execute
from components.radiology.switches import Switches
from components.radiology.tasks import Task


@dataclass(frozen=True)
class Attempt:
    """A sample of this benchmark and an episode on it, read once for all scorers."""

    sample: Sample
    trajectory: Trajectory
    task: Task
    switches: Switches

    @property
    def record(self) -> Mapping[str, Any]:
        """The patient's record."""
        record: Mapping[str, Any] = self.sample.metadata["record"]
        return record

    @cached_property
    def execution(self) -> Execution:
        """What was executed."""
        return read(self.trajectory, self.switches)

    @cached_property
    def suitable(self) -> Suitable:
        """The offered tools that suit the patient."""
        return Suitable(self.trajectory.offered, self.record)

    @cached_property
    def perfect(self) -> Execution:
        """What a perfect agent executes with what was offered."""
        facts = self.trajectory.facts
        condition = "baseline" if facts.get("kind") == "baseline" else str(facts.get("condition", ""))
        return execute(self.task.id, condition, self.suitable, self.record, self.switches)


Values = Callable[[Attempt, Execution], Mapping[str, float | None]]


@dataclass(frozen=True, eq=False)
class _Same:
    """A sample, an episode and rules by identity, which need not be hashable so."""

    sample: Sample
    trajectory: Trajectory
    switches: Switches

    def __hash__(self) -> int:
        return id(self.trajectory)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _Same)
            and self.trajectory is other.trajectory
            and self.sample is other.sample
            and self.switches == other.switches
        )


def attempt(sample: Sample, trajectory: Trajectory, switches: Switches) -> Attempt | None:
    """The attempt behind a finished episode; None when the sample is not of this benchmark."""
    return _attempt(_Same(sample, trajectory, switches))


@lru_cache(maxsize=1)
def _attempt(same: _Same) -> Attempt | None:
    """Scorers come one after the other, so that the last attempt is all that is kept."""
    task = task_of(same.sample)
    return None if task is None else Attempt(same.sample, same.trajectory, task, same.switches)


@lru_cache(maxsize=64)
def unscored(names: tuple[str, ...]) -> Sequence[Score]:
    """Nothing to score."""
    return tuple(Score(name, None) for name in names)


@lru_cache(maxsize=8192)
def _score(name: str, value: float | None, ceiling: float | None) -> Score:
    """One score; most values come often."""
    return Score(name, value, ceiling=ceiling)


def grade(
    sample: Sample,
    trajectory: Trajectory,
    switches: Switches,
    names: tuple[str, ...],
    scored: Sequence[str],
    values: Values,
) -> Sequence[Score]:
    """One score per name: the values of this episode's execution, and of a perfect one as ceilings.

    Names that are not ``scored``, and all of a sample that is not of this benchmark, are unscored.
    """
    one = attempt(sample, trajectory, switches) if scored else None
    if one is None:
        return unscored(names)
    mine, most = values(one, one.execution), values(one, one.perfect)
    return [_score(name, mine[name], most[name]) if name in scored else _score(name, None, None) for name in names]
