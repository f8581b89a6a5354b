"""Rows of tables: runs of the same settings on different parts of a benchmark, called by what they differ in."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from runner.results.runs import Run, is_one_of
from runner.storage.schema import Record


@dataclass(frozen=True)
class Row:
    """Runs of the same settings on different parts, and a label that no other row has."""

    runs: Sequence[Run]
    label: str

    @cached_property
    def records(self) -> list[Record]:
        """The records of all of them."""
        return [record for run in self.runs for record in run.records]

    @property
    def first(self) -> Run:
        """A run with the settings of all."""
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
    """The parts that a run is of, by the levels of its scores; its dataset's name where there are none."""
    levels = {tuple(levels) for levels in run.levels.values()}
    found = {
        tuple(str(record["strata"].get(level, "")) for level in strata) for strata in levels for record in run.records
    }
    return found or {(str((run.notes.get("dataset") or {}).get("name", "")),)}


def _datasets(run: Run) -> set[tuple[str, ...]]:
    """The dataset of a run, as it was set."""
    return {run.data}


def labels_of(runs: Sequence[Run]) -> list[str]:
    """The settings in which rows differ; of one sweep only what it varies, where that is enough."""
    swept = {name for run in runs for name in run.notes.get("swept") or ()}
    if swept and len({run.notes.get("sweep") for run in runs}) == 1:
        short = [_label(run, runs, swept) for run in runs]
        if len(set(short)) == len(short):
            return short
    return [_label(run, runs) for run in runs]


def _label(run: Run, others: Sequence[Run], only: Collection[str] = ()) -> str:
    """The settings in which a row differs from the others; its agent and model where there are none.

    ``only``: the last parts of the keys that count, all where it is empty.
    """
    words = []
    groups = [key for key in dict.fromkeys(["agent", "model", *run.same]) if key in run.same]
    for group in groups:
        if (not only or group in only) and len({other.choices.get(group) for other in others}) > 1:
            words.append(str(run.choices.get(group, f"no {group}")))
        same = [one for one in others if _alike(one, run, group)]
        words += [run.choices[key] for key in _within(run, group) if not all(_alike(one, run, key) for one in same)]
        alike = [one.flat.get(group, {}) for one in same if all(_alike(one, run, key) for key in _within(run, group))]
        for key, value in run.flat[group].items():
            counts = not key.endswith("_target_") and (not only or is_one_of(key, only))
            if counts and any(one.get(key) != value for one in alike):
                words.append(f"{key.rpartition('.')[2]}={value}")
    words = words or [str(run.choices[group]) for group in ("agent", "model") if group in run.choices]
    return " ".join(words) or run.folder.name


def _within(run: Run, group: str) -> list[str]:
    """The choices of parts within a group's: a condition's ``condition.then``."""
    return [key for key in run.choices if key.startswith(f"{group}.")]


def _alike(one: Run, other: Run, group: str) -> bool:
    return one.choices.get(group) == other.choices.get(group)
