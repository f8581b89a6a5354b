"""RadABench's task completion: solved with suitable tools and no failure on the way, by three rules.

Source: Zheng et al. 2024, arXiv 2412.09529, in words; no code was published, so the rules are ours:
``target_hit`` (completed, and the last successful call is of the target's category), ``chain_cover``
(besides, every ground-truth category was executed), ``exact_chain`` (besides, nothing else was, in order).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from components.building.reading import may_build
from components.core.traits import ScorerTraits
from components.core.types import Sample, Score, Trajectory
from components.radiology.execution import Execution, ground_truth, is_scored, kind_of
from components.radiology.grading import Attempt, grade
from components.radiology.switches import Switches
from components.radiology.tasks import Task

RULES = ("target_hit", "chain_cover", "exact_chain")
HEADLINE, *_ = NAMES = ("completion/rate", *(f"completion/{rule}" for rule in RULES))


def completion(switches: Switches, task: Task, execution: Execution) -> Mapping[str, float | None]:
    """All rules, 0 or 1, and the one of the switches as the headline."""
    truth = ground_truth(task.id, switches.category_typing)
    done = execution.categories(switches, failing=False)
    hit = execution.completed and done[-1:] == truth[-1:]
    cover = hit and not Counter(truth) - Counter(done)
    values: dict[str, float | None] = {
        "completion/target_hit": float(hit),
        "completion/chain_cover": float(cover),
        "completion/exact_chain": float(execution.completed and done == truth),
    }
    return {HEADLINE: values[f"completion/{switches.completion_rule}"], **values}


@dataclass(frozen=True)
class Completion:
    """Task completion of a sample, 0 or 1; the headline is shown by complexity, task, anatomy and modality too."""

    switches: Switches
    version: str = "1"
    traits: ClassVar[ScorerTraits] = ScorerTraits(
        decides=HEADLINE,
        names=(HEADLINE,),
        kinds=dict.fromkeys(NAMES, "proportion"),
        by=("complexity", "task", "anatomy", "modality"),
    )

    def score(self, sample: Sample, trajectory: Trajectory) -> Sequence[Score]:
        """Scored wherever the task can be solved, with a tool that is built if need be; unscored in the reference's
        profile, which has no such metric."""
        kind = "intact" if may_build(trajectory) else kind_of(trajectory)
        scored = NAMES if is_scored(self.switches, kind, ()) else ()
        return grade(sample, trajectory, self.switches, NAMES, scored, self._values)

    def _values(self, one: Attempt, execution: Execution) -> Mapping[str, float | None]:
        """The metrics of an execution."""
        return completion(self.switches, one.task, execution)
