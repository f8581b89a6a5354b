"""A row of runs and the published rows for it: what is compared with what, over which parts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from runner.results.intervals import Metric, mean_of
from runner.results.kinds import NUMBER, Scale
from runner.results.levels import Nested, Part, shared
from runner.results.publications.paper import Line, Paper
from runner.results.publications.published import Published
from runner.results.rows import Row
from runner.results.runs import Run

_TASK = "task"


@dataclass(frozen=True)
class PublishedComparison:
    """A row, the published method that it is compared with, if any, and the published rows of that method."""

    paper: Paper
    row: Row
    line: Line | None
    published: Sequence[Published]

    @classmethod
    def of(cls, paper: Paper, row: Row) -> "PublishedComparison":
        """Find the counterparts of a row."""
        line = paper.line(row.first)
        return cls(paper, row, line, paper.counterparts(line, row.first.model) if line else ())

    @property
    def backbones(self) -> list[str]:
        """The published models that it is compared with."""
        return [one.backbone for one in self.published]

    @cached_property
    def nested(self) -> Nested | None:
        """The row's means; None where it was not scored by the paper's metric."""
        metric = self.paper.metric
        if not self.paper.by:
            levels = self.paper.levels or self.row.first.levels.get(metric)
            return Nested(self.row.records, metric, levels, self._scale) if levels else None
        records = [
            {**record, "strata": {_TASK: run.choices.get(self.paper.by, "")}}
            for run in self.row.runs
            for record in run.records
            if metric in run.scores
        ]
        return Nested(records, metric, (_TASK, _TASK), self._scale) if records else None

    @property
    def _scale(self) -> Scale:
        """What the values of the paper's metric can be, by the run that has it."""
        runs = [run for run in self.row.runs if self.paper.metric in run.scores]
        return runs[0].scale(self.paper.metric) if runs else NUMBER

    @property
    def leaves(self) -> Mapping[tuple[str, ...], Part]:
        """Path (outer, inner) -> mean of the row's samples."""
        return {} if self.nested is None else self.nested.leaves

    @property
    def outer(self) -> Mapping[str, Part]:
        """Outer group -> mean of the row's means."""
        return {} if self.nested is None else self.nested.outer

    @property
    def paths(self) -> list[tuple[str, ...]]:
        """All parts, the published ones first, in the paper's order; those of a group next to each other. Rows of a
        single part have their own."""
        if self.paper.single:
            return list(self.leaves)
        printed = (path for one in self.published or self.paper.published[:1] for path in one.values)
        known = dict.fromkeys((*printed, *self.leaves))
        groups = dict.fromkeys(path[0] for path in known)
        return [path for group in groups for path in known if path[0] == group]

    @property
    def common(self) -> list[str]:
        """The groups of which all that is compared here has a mean."""
        return common([self.outer, *(one.outer for one in self.published)])

    def over(self, groups: Sequence[str] | None = None) -> Metric:
        """Mean of the means of these groups, or of all; of a single task its own mean."""
        tasks = [path for path in self.leaves if groups is None or path[0] in groups]
        if self.nested is None or len(tasks) == 1:
            return self.measured(tasks[0]) if tasks else Metric(None)
        return self.nested.total(groups).metric

    @property
    def sizes(self) -> Mapping[str, int]:
        """Task -> samples of the benchmark."""
        tables = self.paper.tables
        return tables[self.line.table].sizes if self.line else next(iter(tables.values())).sizes

    def count(self, path: tuple[str, ...]) -> str:
        """``n of N`` samples of a task."""
        n = f"{self.n_scored(path):,}" if path in self.leaves else "-"
        return f"{n} of {self.sizes[path[-1]]:,}" if path[-1] in self.sizes else n

    def n_scored(self, path: tuple[str, ...]) -> int:
        """How many samples of a task were scored, whatever the number of epochs."""
        scored = (one for one in self._records(path) if one["scores"].get(self.paper.metric) is not None)
        return len({one["sample_id"] for one in scored})

    def measured(self, path: tuple[str, ...]) -> Metric:
        """The mean of a task, of the tasks of a group (one name) or in total (none), as ``metrics.json`` has it."""
        if len(path) == 2:
            return mean_of(self._records(path), self.paper.metric, self._scale)
        return self.over(path or None)

    def runs(self, path: tuple[str, ...]) -> list[Run]:
        """The runs that a mean is over."""
        if self.paper.by and path:
            return [run for run in self.row.runs if run.choices.get(self.paper.by, "") == path[-1]]
        return list(self.row.runs)

    def _records(self, path: tuple[str, ...]) -> list[Mapping[str, Any]]:
        """The records of a task."""
        if self.nested is None:
            return []
        levels = list(reversed(self.nested.levels))
        return [one for one in self.nested.records if tuple(one["strata"].get(level) for level in levels) == path]


def common(tables: Sequence[Mapping[str, Part]]) -> list[str]:
    """The groups of which all of these have a mean."""
    return shared([{name: part.value for name, part in table.items()} for table in tables])
