"""RadABench's input/output metrics: whether all calls ran, and how far an episode came before one failed.

Source: Zheng et al. 2024, arXiv 2412.09529; counts of the reference implementation
(MAGIC-AI4Med/RadABench, January 2025) by switches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from components.core.traits import ScorerTraits
from components.core.types import Sample, Score, Trajectory
from components.radiology.execution import Execution, is_scored, kind_of
from components.radiology.grading import Attempt, grade
from components.radiology.switches import Switches
from components.radiology.tasks import Task

NAMES = ("execution/ecr", "execution/pfsp")


def prefailure(execution: Execution, n_steps: int, switches: Switches) -> float:
    """Successful calls before the first failure per ground-truth step; the reference also counts the failing call."""
    n_calls = execution.clean
    if switches.pfsp_counts_failing_call:
        n_calls = len(execution.categories(switches))
    return min(1.0, n_calls / n_steps) if switches.pfsp_clip else n_calls / n_steps


def io(switches: Switches, task: Task, execution: Execution) -> Mapping[str, float | None]:
    """Both metrics; the second is None unless the episode failed. A refusal is no failure.

    Departure from the article: an answer without any call says nothing of the calls and is not scored.
    """
    success = execution.success(switches)
    idle = success and not execution.clean and switches.error_detection == "structured"
    failed = not success and (execution.faulty or execution.stop != "refused")
    return {
        "execution/ecr": None if idle else float(success),
        "execution/pfsp": prefailure(execution, len(task.chain), switches) if failed else None,
    }


@dataclass(frozen=True)
class InputOutput:
    """Execution completion (0 or 1) and pre-failure success percentage (a share, 0 to 1) of a sample."""

    switches: Switches
    version: str = "1"
    traits: ClassVar[ScorerTraits] = ScorerTraits(kinds={"execution/ecr": "proportion", "execution/pfsp": "share"})

    def score(self, sample: Sample, trajectory: Trajectory) -> Sequence[Score]:
        """The reference's profile scores redundant conditions only; what cannot be solved is never scored."""
        scored = NAMES if is_scored(self.switches, kind_of(trajectory), ("redundant",)) else ()
        return grade(sample, trajectory, self.switches, NAMES, scored, self._values)

    def _values(self, one: Attempt, execution: Execution) -> Mapping[str, float | None]:
        """The metrics of an execution."""
        return io(self.switches, one.task, execution)
