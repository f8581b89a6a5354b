"""A run as results read it: its folder, manifest, config and records."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import yaml

from components.core.errors import ConfigError
from components.core.messages import SIMULATED
from components.text.structured import read_yaml
from runner.results import column_file
from runner.results.kinds import Better, Kinds, Scale, better, group_by, kind_of, kinds_of, refuse_out_of_bounds
from runner.results.metrics import Summary
from runner.results.steps import Steps
from runner.results.table import Table
from runner.storage import manifest
from runner.storage.integrity import changed_files
from runner.storage.records import FILE as RECORDS
from runner.storage.records import REPAIR, read, slim
from runner.storage.resume import metrics_of, quote_path
from runner.storage.schema import Manifest, Record

_NEEDED = {"cluster", "strata", "scores", "usage", "seconds"}
_PLACES = ("path", "sqlite")  # where data lie: the same are elsewhere on another machine
_APART = ("dataset", "scorer", "run", "tracking", "name", "limit", "stage", "compare", "protocol")  # vary in a row


@dataclass(frozen=True, eq=False)
class Run:
    """A run folder, its manifest and its config. What is read of its records stays in memory."""

    folder: Path
    manifest: Manifest
    cfg: Mapping[str, Any]

    @classmethod
    def at(cls, folder: Path, cfg: Mapping[str, Any] | None = None) -> "Run":
        """Read a run folder; its config too, where it is not given. Raises ConfigError for one that is damaged."""
        return cls(folder, manifest.read(folder), config_of(folder) if cfg is None else cfg)

    @classmethod
    def read(cls, folder: Path, *, steps: bool = False) -> "Run":
        """A run whose records, with ``steps`` also what is needed of these, are in memory or fast to read."""
        run = cls.at(folder)
        _ = run.changed
        if not column_file.is_current(folder, steps=steps):
            _ = run.steps if steps else run.table
        return run

    @cached_property
    def table(self) -> Table:
        """The records without their steps. Raises ConfigError for a record without the fields that metrics need."""
        return self._load()[0]

    @cached_property
    def steps(self) -> Steps:
        """What sections need of the steps of its records, read with the table."""
        vars(self)["table"], found = self._load(steps=True)
        return found

    def _load(self, *, steps: bool = False) -> tuple[Table, Steps]:
        found = column_file.load(self.folder, self._read(steps=steps), steps=steps)
        refuse_out_of_bounds(self.folder / RECORDS, found[0], self.manifest)
        return found

    @cached_property
    def changed(self) -> list[str]:
        """A warning for each file that is not as its run wrote it. Raises ConfigError for a damaged manifest."""
        hint = f"python -m runner.report verify {quote_path(self.folder)} checks all files"
        return [f"warning: {change.line}; {hint}" for change in changed_files(self.folder)]

    @cached_property
    def summary(self) -> Summary:
        """The content of its ``metrics.json``, or what ``runner.report`` computed again; else empty."""
        return cast(Summary, {"metrics": {}, "strata": {}} | metrics_of(self.folder))

    def __getstate__(self) -> dict[str, Any]:
        """For another process: without what it finds in the folder as fast."""
        found = {"table", "steps"} if (self.folder / column_file.FILE).exists() else ()
        return {name: value for name, value in vars(self).items() if name not in found}

    @property
    def records(self) -> list[Record]:
        """The same as the folder has them; they do not stay in memory. Raises ConfigError as the table does."""
        return list(map(slim, self._read()))

    def _read(self, *, steps: bool = False) -> Iterator[Record]:
        for record in read(self.folder, steps=steps):
            if not record.keys() >= _NEEDED:
                missing = " and no ".join(sorted(_NEEDED - record.keys()))
                text = f"the record of {record['sample_id']!r} has no {missing}; {REPAIR}"
                raise ConfigError(f"{self.folder / RECORDS}: {text}")
            yield record

    @property
    def levels(self) -> Mapping[str, Sequence[str]]:
        """Score -> strata, of the scores of which means of means are requested."""
        return self.manifest.get("levels") or {}

    @property
    def by(self) -> Mapping[str, Sequence[str]]:
        """Score -> strata, of the scores that are requested per value of a stratum."""
        return self.manifest.get("by") or {}

    @property
    def choices(self) -> Mapping[str, str]:
        """Group -> choice."""
        return self.manifest.get("choices") or {}

    @property
    def dataset(self) -> str:
        """The name of its dataset."""
        return str((self.manifest.get("dataset") or {}).get("name", ""))

    @property
    def data(self) -> tuple[str, str]:
        """Its data: choice, settings and facts of the dataset (for a dataset that changes another one, those of the
        inner one). The same files in another folder are the same data."""
        node, place = self.cfg.get("dataset"), "dataset"
        while isinstance(node, Mapping) and isinstance(node.get("inner"), Mapping):
            node, place = node["inner"], f"{place}.inner"
        if isinstance(node, Mapping):
            node = {"": self.content} | {key: node[key] for key in node if not (self.content and key in _PLACES)}
        return self.choices.get(place, ""), json.dumps(node, sort_keys=True, default=str)

    @property
    def content(self) -> str | None:
        """The fingerprint of the data, or of those that they are a change of; None of a run that has none."""
        data = self.manifest.get("dataset") or {}
        return data.get("base", data.get("fingerprint"))

    @cached_property
    def headline(self) -> str | None:
        """The score that decides: the one that the first scorer names, else its first."""
        decides = self.manifest.get("decides")
        return decides if decides in self.scores or not self.scores else next(iter(self.scores))

    @cached_property
    def scores(self) -> dict[str, None]:
        """The names of its scores, in the scorers' order."""
        return dict.fromkeys(self.table.names("scores"))

    @property
    def compare(self) -> Mapping[str, Any]:
        """What its config says of tables and pages over several runs (``runner.config.schema.Compare``)."""
        return self.cfg.get("compare") or {}

    def better(self, metric: str) -> Better:
        """In which direction a metric of this run improves; empty where in none."""
        return better(metric, [self.manifest])

    @cached_property
    def kinds(self) -> Kinds:
        """What the values of its scores can be."""
        return kinds_of(self.manifest, self.table)

    def scale(self, metric: str) -> Scale:
        """What the values of a metric can be."""
        return Scale(kind_of(metric, self.kinds))

    @property
    def model(self) -> str:
        """The name of the main model."""
        return str((self.manifest.get("models") or {}).get("main", ""))

    @property
    def simulated(self) -> bool:
        """Whether its model was simulated, also behind a server, or in a replay."""
        if self.manifest.get("model_kind") == "simulated" or ".simulated." in str(self.setting("model._target_")):
            return True
        reported = [one.get("answered_by") or {} for one in self.manifest.get("sessions") or ()]
        return any(model.startswith(SIMULATED) for one in reported for models in one.values() for model in models)

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
        if "inner" in (data := self.cfg.get("dataset") or {}):  # what is done to a dataset is a setting
            kept["dataset"] = {key: value for key, value in data.items() if key != "inner"}
        if (agent := kept.get("agent")) and agent.get("confidence") is None:  # earlier configs have no such key
            kept["agent"] = {key: value for key, value in agent.items() if key != "confidence"}
        return kept | {"budget": (kept.get("budget") or {}).get("sample")}

    @cached_property
    def flat(self) -> dict[str, dict[str, str]]:
        """The same group by group: dotted key -> value."""
        return {group: dict(leaves(of, group)) for group, of in self.same.items()}

    @property
    def swept(self) -> list[tuple[str, str]]:
        """What its sweep varied: dotted key and value."""
        return [(key, str(value)) for key, value in manifest.swept_of(self.manifest).items()]

    @cached_property
    def method(self) -> tuple[Any, ...] | None:
        """Its sweep, and what that varies apart from the dataset; settings that come with a dataset do not count. None
        for a run of no sweep."""
        swept, varied = self.manifest.get("swept") or (), self.manifest.get("varied") or {}
        if not swept or not all(any(manifest.is_one_of(key, (name,)) for key in varied) for name in swept):
            return None
        settings = [pair for pair in self.swept if pair[0].partition(".")[0] not in _APART]
        return self.manifest.get("sweep"), *sorted(settings)


def leaves(node: Any, key: str) -> Iterator[tuple[str, str]]:
    """Dotted key and value of everything in a config."""
    if isinstance(node, Mapping):
        for name, inner in node.items():
            yield from leaves(inner, f"{key}.{name}")
    else:
        yield key, json.dumps(node, default=str).strip('"')


def warnings_of(runs: Sequence[Run]) -> list[str]:
    """What a reader of several runs must know: simulated models, notes with their methods, changed files."""
    notes = group_by(((str(note), run) for run in runs for note in run.manifest.get("notes") or ()), lambda of: of[0])
    lines = [f"note: {note} ({', '.join(_names([run for _, run in of], runs))})" for note, of in notes.items()]
    for run in runs:
        lines += run.changed
    warning = "simulated model: these numbers say nothing about any real model"  # which replays note
    if any(run.simulated for run in runs) and not any(warning in line for line in lines):
        lines.insert(0, warning)
    return lines


def _names(some: Sequence[Run], runs: Sequence[Run]) -> list[str]:
    """The agents of some runs, where these are all runs of theirs; else what varies between the jobs of the sweep."""
    agents = {run: str(run.choices.get("agent", "?")) for run in runs}
    named = dict.fromkeys(agents[run] for run in some)
    if len(some) == sum(agent in named for agent in agents.values()):
        return list(named)
    return [", ".join(f"{key}={value}" for key, value in run.swept) or agents[run] for run in some]


def config_of(folder: Path) -> dict[str, Any]:
    """A run's config. Raises ConfigError."""
    path = folder / "config.yaml"
    try:
        found = read_yaml(path)
        json.dumps(found, default=str)  # an anchor within itself has no end
    except (OSError, ValueError, TypeError, yaml.YAMLError) as error:
        raise ConfigError(f"{path} cannot be read: {' '.join(str(error).split())}") from None
    if not isinstance(found, dict):
        raise ConfigError(f"{path} is not the config of a run: it holds {type(found).__name__}, not names and values")
    if not isinstance(compare := found.get("compare") or {}, dict):
        raise ConfigError(f"{path} is not the config of a run: compare is {compare!r:.40}, not names and values")
    return found
