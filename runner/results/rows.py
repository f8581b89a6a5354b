"""Runs that belong together: same settings, another part of the benchmark each, make one row of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from runner.results.labels import labels_of
from runner.results.runs import Run


@dataclass(frozen=True)
class Row:
    """Runs of the same settings that played different parts, and what tells them from the other rows."""

    runs: Sequence[Run]
    label: str

    @cached_property
    def records(self) -> list[dict[str, Any]]:
        """The records of all of them."""
        return [record for run in self.runs for record in run.records]

    @property
    def first(self) -> Run:
        """A run that stands for the settings of all."""
        return self.runs[0]


def rows_of(runs: Sequence[Run], *, by_dataset: bool = False) -> list[Row]:
    """Put runs together; one that repeats a part which a row has begins a new row.

    Parts are the groups of the scores' levels, or ``by_dataset`` whole datasets; then jobs of a sweep are alike where
    they differ in nothing else that it varies.
    """
    groups: list[list[Run]] = []
    for run in runs:
        place = next((group for group in groups if all(_fits(run, other, by_dataset) for other in group)), None)
        if place is None:
            groups.append([run])
        else:
            place.append(run)
    labels = labels_of([group[0] for group in groups])
    return [
        Row(group, label if labels.count(label) == 1 else f"{label} {group[0].folder.name}")
        for group, label in zip(groups, labels, strict=True)
    ]


def _fits(run: Run, other: Run, by_dataset: bool) -> bool:
    """Whether two runs are of one row: alike, and without a part in common unless they are shards."""
    alike = by_dataset and run.method is not None and run.method == other.method
    if not alike and run.settings != other.settings:
        return False
    parts = _datasets if by_dataset else _groups
    shards = run.notes.get("shard"), other.notes.get("shard")
    return parts(run).isdisjoint(parts(other)) or (None not in shards and shards[0] != shards[1])


def _groups(run: Run) -> set[tuple[str, ...]]:
    """What a run played, by the levels of its scores; its dataset's name where there are none."""
    levels = {tuple(levels) for levels in run.levels.values()}
    found = {
        tuple(str(record["strata"].get(level, "")) for level in strata) for strata in levels for record in run.records
    }
    return found or {(str((run.notes.get("dataset") or {}).get("name", "")),)}


def _datasets(run: Run) -> set[tuple[str, ...]]:
    """What a run played, as its dataset was set."""
    return {run.data}
