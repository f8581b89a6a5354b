"""Stops a trial that, as far as its interval tells, cannot become the best one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from runner.experiment.experiment import Experiment
    from runner.storage.schema import Record


@dataclass
class Pruner:
    """Looks at a running trial every so many samples. ``best``: the objective of the best trial so far, as
    ``metrics.json`` has it; ``outdone``: label of a trial that it stopped -> samples and objective then."""

    metric: str
    high: bool
    every: int
    best: Mapping[str, Any] | None = None
    outdone: dict[str, tuple[int, float]] = field(default_factory=dict)

    def __call__(self, experiment: Experiment, records: Sequence[Mapping[str, Any]]) -> str | None:
        """Why to stop; None: go on."""
        n, wanted = len(records), len(experiment.samples) * experiment.epochs
        if self.best is None or n % self.every or n >= wanted:
            return None
        from runner.experiment.declared import declared_scores
        from runner.results.metrics import metrics

        found = metrics(cast("Sequence[Record]", records), declared_scores(experiment.parts.scorers)["kinds"]).get(
            self.metric
        )
        if found is None or found.value is None or not worse(found.as_dict(), self.best, self.high):
            return None
        self.outdone[experiment.launch.label] = n, found.value
        return (
            f"pruned: {self.metric} after {n} samples is {_told(found.as_dict())}, the best trial's {_told(self.best)}"
        )


def worse(one: Mapping[str, Any], best: Mapping[str, Any], high: bool) -> bool:
    """Whether the better end of one's interval does not reach the worse end of the best one's."""
    reach, bar = (one["ci_high"], best["ci_low"]) if high else (one["ci_low"], best["ci_high"])
    if reach is None or bar is None:
        return False
    return bool(reach < bar if high else reach > bar)


def _told(metric: Mapping[str, Any]) -> str:
    return f"{metric['ci_low']:.3f} to {metric['ci_high']:.3f}"
