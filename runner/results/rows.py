"""Runs that belong together: same settings, another part of the benchmark each, make one row of a table."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from runner import manifest
from runner.records import read, slim

_APART = ("dataset", "scorer", "run", "tracking", "name", "limit", "stage")  # may differ within a row


@dataclass(frozen=True)
class Run:
    """A run folder, its manifest and its config."""

    folder: Path
    notes: Mapping[str, Any]
    cfg: Mapping[str, Any]

    @classmethod
    def at(cls, folder: Path, cfg: Mapping[str, Any] | None = None) -> Run:
        """Read a run folder; its config too, where it is not given."""
        if cfg is None:
            cfg = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))
        return cls(folder, manifest.read(folder), cfg or {})

    @cached_property
    def records(self) -> list[dict[str, Any]]:
        """The records without their steps."""
        return [slim(record) for record in read(self.folder)]

    @property
    def levels(self) -> Mapping[str, Sequence[str]]:
        """Score -> strata, of the scores of which means of means are wanted."""
        found: Mapping[str, Sequence[str]] = self.notes.get("levels") or {}
        return found

    @property
    def choices(self) -> Mapping[str, str]:
        """Group -> choice."""
        found: Mapping[str, str] = self.notes.get("choices") or {}
        return found

    @property
    def model(self) -> str:
        """The name of the main model."""
        return str((self.notes.get("models") or {}).get("main", ""))

    @property
    def simulated(self) -> bool:
        """Whether its model was no real one."""
        return bool(self.notes.get("model_kind") == "simulated")

    def setting(self, key: str) -> Any:
        """What the config has at a dotted key: a value, or for a group the name of the choice; None for nothing."""
        value: Any = self.cfg
        for step in key.split("."):
            value = value.get(step) if isinstance(value, Mapping) else None
        return self.choices.get(key) if isinstance(value, Mapping) else value

    @cached_property
    def same(self) -> dict[str, Any]:
        """The part of the config that makes a row."""
        kept = {key: value for key, value in self.cfg.items() if key not in _APART}
        return kept | {"budget": (kept.get("budget") or {}).get("sample")}


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


def rows_of(runs: Sequence[Run]) -> list[Row]:
    """Put runs together; one that repeats a part which a row has begins a new row."""
    groups: list[list[Run]] = []
    for run in runs:
        place = next((group for group in groups if all(_fits(run, other) for other in group)), None)
        if place is None:
            groups.append([run])
        else:
            place.append(run)
    labels = [_label(group[0], [one[0] for one in groups]) for group in groups]
    return [
        Row(group, label if labels.count(label) == 1 else f"{label} {group[0].folder.name}")
        for group, label in zip(groups, labels, strict=True)
    ]


def _fits(run: Run, other: Run) -> bool:
    """Whether two runs are of one row: alike, and without a task in common unless they are shards."""
    if json.dumps(run.same, sort_keys=True, default=str) != json.dumps(other.same, sort_keys=True, default=str):
        return False
    shards = run.notes.get("shard"), other.notes.get("shard")
    return _parts(run).isdisjoint(_parts(other)) or (None not in shards and shards[0] != shards[1])


def _parts(run: Run) -> set[tuple[str, ...]]:
    """What a run played, by the levels of its scores; its dataset's name where there are none."""
    levels = {tuple(levels) for levels in run.levels.values()}
    found = {
        tuple(str(record["strata"].get(level, "")) for level in strata) for strata in levels for record in run.records
    }
    return found or {(str((run.notes.get("dataset") or {}).get("name", "")),)}


def _label(run: Run, others: Sequence[Run]) -> str:
    """The settings in which a row differs from the others; its agent and model where there are none."""
    words = []
    groups = [key for key in dict.fromkeys(["agent", "model", *run.same]) if key in run.same]
    for group in groups:
        if len({other.choices.get(group) for other in others}) > 1:
            words.append(str(run.choices.get(group, f"no {group}")))
        alike = [dict(_leaves(one.same.get(group), group)) for one in others if _alike(one, run, group)]
        for key, value in _leaves(run.same.get(group), group):
            if not key.endswith("_target_") and any(leaves.get(key) != value for leaves in alike):
                words.append(f"{key.rpartition('.')[2]}={value}")
    words = words or [str(run.choices[group]) for group in ("agent", "model") if group in run.choices]
    return " ".join(words) or run.folder.name


def _alike(one: Run, other: Run, group: str) -> bool:
    return one.choices.get(group) == other.choices.get(group)


def _leaves(node: Any, key: str) -> Iterator[tuple[str, str]]:
    """Dotted key and value of everything in a config."""
    if isinstance(node, Mapping):
        for name, inner in node.items():
            yield from _leaves(inner, f"{key}.{name}")
    else:
        yield key, json.dumps(node, default=str).strip('"')
