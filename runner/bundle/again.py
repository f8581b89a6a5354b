"""A bundle played again: ``python -m runner run.replay=FILE.zip [tracking=...] [hydra.run.dir=...] [KEY=PATH ...]``.

Everything comes from the file and nothing is asked of a model; at the end records and metrics are compared.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import yaml

from components.core.errors import ConfigError
from components.core.moved import renewed
from runner.bundle import entries, places
from runner.bundle.archive import Archive
from runner.bundle.differences import first_difference, metrics_difference
from runner.bundle.shelves import changed_here, first_call, sources_of
from runner.bundle.trust import refuse_strangers
from runner.bundle.words import Words
from runner.experiment.facts import facts_of
from runner.job.run import run_job
from runner.storage import manifest
from runner.storage.records import read
from runner.storage.resume import CONFIG, unused
from runner.storage.schema import Record

if TYPE_CHECKING:
    from runner.experiment.experiment import Experiment

SAME, DIFFERS = 0, 1
UNPACKED = ".bundle"
_JOURNAL = "journal"
_PARTS = {entries.FILE, "runs", "prompts", "memory", "data"}
_MAPPINGS = ("choices", "varied", "dataset", "scorers")
_SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class _Plain(yaml.SafeLoader):
    """YAML without aliases, of which few lines make a text without end."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """As always, but for an alias. Raises yaml.YAMLError."""
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("it has aliases, which no run writes")
        return super().compose_node(parent, index)


class Loop(Protocol):
    """What runs a coroutine to its end."""

    def run(self, work: Coroutine[Any, Any, Any]) -> Any: ...


@dataclass(frozen=True)
class _Again:
    """A run of the bundle: how the bundle calls it, its config here, and where it is played."""

    told: Mapping[str, Any]
    cfg: Mapping[str, Any]
    packed: Path
    folder: Path


def replay(words: Sequence[str], loop: Loop) -> int:
    """Play a bundle again. Returns 0 where all is the same, 1 where something differs. Raises ConfigError."""
    given = Words.of(words)
    archive = Archive.open(given.bundle)
    home = given.folder or unused(Path("outputs") / _name(archive) / f"{datetime.now():%Y-%m-%d_%H-%M-%S}")
    if given.folder and home.exists() and any(home.iterdir()):
        raise ConfigError(f"{home} is not empty; a replay begins in a folder of its own")
    unpacked = home / UNPACKED
    try:
        changed = archive.extract(unpacked)
        runs = _runs(archive, unpacked, home, given)
        entries.restore(unpacked / entries.FILE, unpacked / _JOURNAL)
        for run in runs if not changed else ():
            _experiment(run, len(runs) > 1)
    except ConfigError:  # nothing was played
        shutil.rmtree(home, ignore_errors=True)
        raise
    _say(f"bundle of {len(runs)} run(s), unpacked in {unpacked}; nothing is asked of a model")
    differing = [f"{one} is not what was packed{_spoilt(one, runs, unpacked)}" for one in changed]
    for run in runs:
        differing += _played(run, len(runs), loop)
    others = [one for one in changed_here(unpacked) if one not in changed]
    differing += [f"{one} is another here{_spoilt(one, runs, unpacked)}" for one in others]
    return _conclude(given.bundle, differing, runs)


def _name(archive: Archive) -> str:
    name = archive.head.get("name")
    if not isinstance(name, str) or not _SLUG.fullmatch(name):
        raise ConfigError(f"{archive.path} is refused: it is called {name!r:.120}")
    return name


def _runs(archive: Archive, unpacked: Path, home: Path, given: Words) -> list[_Again]:
    """The runs with configs for this machine. Raises ConfigError for what cannot, or may not, be played here."""
    made, many = [], len(archive.head["runs"]) > 1
    if odd := sorted({name.partition("/")[0] for name in archive.head["members"]} - _PARTS):
        raise ConfigError(f"{archive.path} is refused: {odd[0]!r} is no part of a bundle")
    if entries.FILE not in archive.head["members"]:
        raise ConfigError(f"{archive.path} cannot be played: it has no {entries.FILE}")
    for told in archive.head["runs"]:
        packed = unpacked / "runs" / told["label"]
        try:
            cfg = renewed(yaml.load((packed / CONFIG).read_text(encoding="utf-8"), _Plain))
            run = {**cfg["run"], "journal": None, "replay": str(unpacked / _JOURNAL), "resume": None,
                   "memory": str(unpacked / "memory")}  # fmt: skip
        except (OSError, yaml.YAMLError, UnicodeDecodeError, TypeError, KeyError, RecursionError) as error:
            raise ConfigError(f"{archive.path}: the config of {told['label']} cannot be read: {error}") from None
        cfg = places.found({**cfg, "run": run, "tracking": given.tracking}, unpacked, given.paths)
        if not given.trusted:
            refuse_strangers(cfg, bool(told["own"]))
        made.append(_Again(told, cfg, packed, home / told["label"] if many else home))
    (unpacked / _JOURNAL).mkdir()
    (unpacked / "memory").mkdir(exist_ok=True)
    return made


def _played(run: _Again, jobs: int, loop: Loop) -> list[str]:
    """Play one run and compare. Returns what differs."""
    others: list[str] = []
    try:
        experiment = _experiment(run, jobs > 1)
        others = _other_facts(run, experiment)
        loop.run(_play(experiment, run.folder, jobs))
        was, now = _records(run), list(read(run.folder))
        told = first_difference(was, now, _own(run)) or metrics_difference(_metrics(run.packed), _metrics(run.folder))
    except ConfigError as error:  # a call that the journal has no answer for, or a member that cannot be read
        first = "" if (run.folder / manifest.FILE).exists() else _first(run)
        told = str(error).removeprefix("run.replay: ") + (f"; nothing can be played, from {first} on" if first else "")
    found = [told, *others] if told else [f"{one}; every call and record is the same" for one in others]
    return [f"{run.told['label']}: {one}" for one in found]


def _own(run: _Again) -> dict[str, str]:
    """What prompt sets of a user's own are called here -> as they were called."""
    home = run.packed.parent.parent / "prompts"
    return {str((home / name).resolve()): str(was) for name, was in run.told["own"].items()}


def _experiment(run: _Again, many: bool) -> Experiment:
    """Build and check, as the command that made it did."""
    from runner.experiment.experiment import Launch, study
    from runner.job.prepare import check

    notes = manifest.read(run.packed)
    if odd := [key for key in _MAPPINGS if not isinstance(notes.get(key) or {}, dict)]:
        raise ConfigError(f"the manifest of {run.told['label']} is damaged: {odd[0]} is no mapping")
    choices = {**(notes.get("choices") or {}), "tracking": "replay"}
    varied = [f"{key}={value}" for key, value in (notes.get("varied") or {}).items()]
    sweep = str(run.folder.parent) if many else None
    experiment = check(run.cfg, Launch(choices, varied, sweep, run.told["label"], tuple(notes.get("swept") or ())))
    study(experiment)
    return experiment


async def _play(experiment: Experiment, folder: Path, jobs: int) -> int:
    from runner.job.shared_resources import SharedResources

    async with SharedResources(experiment.budget, jobs=jobs) as resources:
        return await run_job(experiment, folder, resources)


def _other_facts(run: _Again, experiment: Experiment) -> list[str]:
    """Data, prompts, scorers that are not those of the bundle."""
    notes, facts = manifest.read(run.packed), facts_of(experiment)
    was, now = notes.get("dataset") or {}, facts["dataset"]
    told = [f"the data are others: their {key} was {was.get(key)}, is {now[key]}"
            for key in ("fingerprint", "ids") if was.get(key) != now[key]]  # fmt: skip
    before = run.told["prompts"]
    digests = sorted(facts["prompts"].values())
    if sorted(before.values()) != digests:
        told.append("the prompts are others than those of the bundle")
    if notes.get("scorers") != facts["scorers"]:
        told.append(f"the scorers' versions were {notes.get('scorers')}, are {facts['scorers']}")
    return told


def _metrics(folder: Path) -> dict[str, Any]:
    try:
        found = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    whole = isinstance(found, dict) and isinstance(found.get("metrics"), dict)
    return dict(found) if whole else {}


def _spoilt(member: str, runs: Sequence[_Again], unpacked: Path) -> str:
    """Which call another prompt is for; what else is other is found by playing."""
    if not member.startswith("prompts/"):
        return ""
    for run in runs:
        if first := _first(run, sources_of(member, unpacked, run.told["own"])):
            return f": {first} was asked with it"
    return ": no call was asked with it"


def _first(run: _Again, sources: Collection[str] | None = None) -> str:
    """The first call of the bundle's records, or the first with one of these prompts; none where they are damaged."""
    try:
        return first_call(_records(run), sources)
    except ConfigError:
        return ""


def _records(run: _Again) -> list[Record]:
    """The bundle's records. Raises ConfigError where they have not the form of records."""
    records = list(read(run.packed))
    for record in records:
        steps = record.get("steps")
        calls = steps if isinstance(steps, list) else [None]
        asked = [step.get("asked") if isinstance(step, dict) else None for step in calls]
        if not all(isinstance(one, list) and all(isinstance(message, dict) for message in one) for one in asked):
            raise ConfigError(f"a record of {run.told['label']} has not the form of one: {record['sample_id']!r:.80}")
    return records


def _conclude(bundle: Path, differing: Sequence[str], runs: Sequence[_Again]) -> int:
    """Say how it ended."""
    n = sum(len(list(read(run.folder))) for run in runs)
    if len(runs) > 1:
        from runner.job.plan import Cell
        from runner.job.summary import summarise

        summarise([Cell((), {}, run.told["label"], run.folder, run.cfg) for run in runs])
    if not differing:
        print(f"the same: {n:,} records of {len(runs)} run(s), and their metrics, are those of {bundle}")  # noqa: T201
        return SAME
    for text in differing:
        _say(f"not the same: {text}")
    return DIFFERS


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)  # noqa: T201
