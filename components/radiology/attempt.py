"""What an agent attempted on a question, next to the right steps, and how it is graded."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from components.core.cached import cached_property
from components.core.types import Sample, Score, Trajectory
from components.radiology.execution import Execution, Suitable, execute, kind_of, read, task_of
from components.radiology.switches import Switches, first_equal
from components.radiology.tasks import Task


@dataclass(frozen=True)
class Attempt:
    """A sample of this benchmark and an episode on it, read once for all scorers."""

    sample: Sample
    trajectory: Trajectory
    task: Task
    switches: Switches

    @cached_property
    def execution(self) -> Execution:
        """The execution."""
        return read(self.trajectory, self.switches)

    @cached_property
    def suitable(self) -> Suitable:
        """The offered tools that suit the patient."""
        return Suitable(self.trajectory.offered, self.sample.metadata["record"])

    @cached_property
    def perfect(self) -> Execution:
        """What a perfect agent executes with the offered tools."""
        facts = self.trajectory.facts
        condition = "baseline" if facts.get("kind") == "baseline" else str(facts.get("condition", ""))
        return execute(self.task.id, condition, self.suitable, self.switches)


_last: list[Attempt] = []  # at most one: scorers come one after the other


def attempt(sample: Sample, trajectory: Trajectory, switches: Switches) -> Attempt | None:
    """The attempt of a finished episode; None when the sample is not of this benchmark."""
    for one in _last:
        if one.trajectory is trajectory and one.sample is sample and one.switches == switches:
            return one
    if (task := task_of(sample)) is None:
        return None
    _last[:] = [Attempt(sample, trajectory, task, switches)]
    return _last[0]


Published = Mapping[str, Sequence[str]]  # kind of condition -> names


def unfit(sample: Sample) -> str:
    """Why a sample cannot be graded; empty where it can."""
    return "not a question of RadABench" if task_of(sample) is None else ""


@dataclass(frozen=True)
class Graded(ABC):
    """A scorer of the execution, with the scores of a perfect execution as ceilings. Scored wherever the task can be
    solved; in the reference's profile where its scripts score it: ``published``, the names by the kind of condition. A
    sample of another benchmark is unscored."""

    switches: Switches
    version: str = "1"
    names: ClassVar[Sequence[str]]
    published: ClassVar[Published] = {}

    def __post_init__(self) -> None:
        object.__setattr__(self, "switches", first_equal(self.switches))

    @abstractmethod
    def values(self, one: Attempt, execution: Execution) -> Mapping[str, float | None]:
        """All metrics of an execution, by name."""

    def ceilings(self, one: Attempt) -> Mapping[str, float | None]:
        """All metrics of a perfect agent on the same sample."""
        return self.values(one, one.perfect)

    def kind(self, trajectory: Trajectory) -> str:
        """The kind of condition by which it is scored."""
        return kind_of(trajectory)

    def score(self, sample: Sample, trajectory: Trajectory) -> Sequence[Score]:
        """One score per name."""
        kind, scored = self.kind(trajectory), self.names
        if self.switches.planning_scope == "success_only":
            scored = self.published.get(kind, ())
        elif kind == "insufficient":
            scored = ()
        one = attempt(sample, trajectory, self.switches) if scored else None
        if one is None:
            return [Score(name, None) for name in self.names]
        mine, best = self.values(one, one.execution), self.ceilings(one)
        return [Score(name, mine[name], "", best[name]) if name in scored else Score(name, None) for name in self.names]
