"""Replay a bundle: ``python -m runner run.replay=FILE.zip [tracking=...] [hydra.run.dir=...] [KEY=PATH ...]``.

Everything comes from the file and no model is asked; at the end records and metrics are compared.
"""

import re
import shutil
import sys
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Self

import yaml

from components.core.errors import ConfigError
from components.core.moved import renew
from components.text.structured import parse
from runner.bundle import archive, settings
from runner.bundle.archive import Archive, RunEntry
from runner.bundle.differences import changed_prompts, first_call, first_difference, metrics_difference, sources_of
from runner.config.composed import resolve_choice
from runner.experiment.experiment import Experiment, Launch, facts_of, study
from runner.job.prepare import check
from runner.job.run import run_job
from runner.job.shared_resources import SharedResources
from runner.storage import manifest
from runner.storage.records import read
from runner.storage.resume import CONFIG, make_unused, metrics_of
from runner.storage.schema import Record
from runner.terminal.command import print_note

SAME, DIFFERS = 0, 1
UNPACKED = ".bundle"
_JOURNAL = "journal"
_FOLDERS = ("hydra.run.dir", "hydra.sweep.dir")
_KEY = re.compile(r"[A-Za-z_]\w*([.\[][\w\].-]+)*")
_PARTS = {archive.JOURNAL, "runs", "prompts", "memory", "data"}
_MAPPINGS = ("choices", "varied", "dataset", "scorers")


@dataclass(frozen=True)
class Request:
    """What the command line names. ``paths``: key of the config -> path on this machine."""

    bundle: Path
    folder: Path | None = None
    tracking: Mapping[str, Any] = field(default_factory=dict)
    paths: Mapping[str, str] = field(default_factory=dict)
    trusted: bool = False

    @classmethod
    def parse(cls, words: Sequence[str]) -> Self:
        """Read a command line: folders, tracking and paths. Raises ConfigError for any other word."""
        pairs: dict[str, str] = {}
        for word in words:
            key, equals, value = word.partition("=")
            if not equals or not _KEY.fullmatch(key):
                raise ConfigError(f"{word}: a bundle is replayed unchanged and as a whole; remove this")
            if key in pairs:
                raise ConfigError(f"{key} is given twice")
            quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"  # by Hydra's grammar
            pairs[key] = value[1:-1].replace(f"\\{value[0]}", value[0]) if quoted else value
        bundle, trusted = Path(pairs.pop("run.replay")), pairs.pop(settings.TRUST, "false")
        if trusted not in ("true", "false"):
            raise ConfigError(f"{settings.TRUST}: found {trusted!r}, it should be true or false")
        folders = [Path(folder) for key in _FOLDERS if (folder := pairs.pop(key, None)) is not None]
        if len(folders) > 1:
            raise ConfigError(f"give one of {' and '.join(_FOLDERS)}")
        keys = [key for key in pairs if key.startswith("tracking.")]
        changes = {key.partition(".")[2]: yaml.safe_load(pairs.pop(key)) for key in keys}
        tracking = resolve_choice("tracking", pairs.pop("tracking", "off"), changes)
        return cls(bundle, folders[0] if folders else None, tracking, pairs, trusted == "true")


@dataclass(frozen=True)
class _Run:
    """A run of the bundle: its entry in the list, its config here, its folder in the bundle and that of the replay."""

    entry: RunEntry
    cfg: Mapping[str, Any]
    packed: Path
    folder: Path

    def records(self) -> list[Record]:
        """The bundle's records. Raises ConfigError where they are damaged."""
        records = list(read(self.packed))
        for record in records:
            steps: Any = record.get("steps")
            calls = steps if isinstance(steps, list) else [None]
            requests = [step.get("asked") if isinstance(step, dict) else None for step in calls]
            if not all(isinstance(one, list) and all(isinstance(message, dict) for message in one) for one in requests):
                raise ConfigError(f"a record of {self.entry.label} is damaged: {record['sample_id']!r:.80}")
        return records

    def first_call(self, sources: Collection[str] | None = None) -> str:
        """The first call of the bundle's records, or the first with one of these prompts; empty where damaged."""
        try:
            return first_call(self.records(), sources)
        except ConfigError:
            return ""


def replay(words: Sequence[str], run: Callable[[Coroutine[Any, Any, int]], int]) -> int:
    """Replay a bundle; ``run`` runs a coroutine. Returns SAME, or DIFFERS where something does. Raises ConfigError."""
    request = Request.parse(words)
    bundle = Archive.open(request.bundle)
    home = request.folder or make_unused(Path("outputs") / bundle.head.name / f"{datetime.now():%Y-%m-%d_%H-%M-%S}")
    if request.folder and home.exists() and any(home.iterdir()):
        raise ConfigError(f"{home} is not empty; a replay needs a new folder")
    unpacked = home / UNPACKED
    try:
        changed = bundle.extract(unpacked)
        runs = _runs(bundle, unpacked, home, request)
        archive.restore_journal(unpacked / archive.JOURNAL, unpacked / _JOURNAL)
        for one in runs if not changed else ():
            _experiment(one, len(runs) > 1)
    except ConfigError:  # nothing was run
        shutil.rmtree(home, ignore_errors=True)
        raise
    print(f"bundle of {len(runs)} run(s), unpacked in {unpacked}; no model is asked", file=sys.stderr)  # noqa: T201
    differences = [f"{name} was changed after it was packed{_first_use(name, runs, unpacked)}" for name in changed]
    for one in runs:
        differences += _compare(one, len(runs), run)
    here = [name for name in changed_prompts(unpacked) if name not in changed]
    differences += [f"{name} differs here{_first_use(name, runs, unpacked)}" for name in here]
    if len(runs) > 1:
        from runner.job.plan import Cell
        from runner.job.summary import summarise

        summarise([Cell((), {}, run.entry.label, run.folder, run.cfg, code=SAME) for run in runs])
    for text in differences:
        print_note(f"not the same: {text}")
    if differences:
        return DIFFERS
    n = sum(len(list(read(run.folder))) for run in runs)
    print(f"the same: {n:,} records of {len(runs)} run(s), and their metrics, are those of {bundle.path}")  # noqa: T201
    return SAME


def _runs(bundle: Archive, unpacked: Path, home: Path, request: Request) -> list[_Run]:
    """The runs with configs for this machine. Raises ConfigError for what cannot, or may not, be run here."""
    runs, entries = [], bundle.head.runs
    if odd := sorted({name.partition("/")[0] for name in bundle.head.members} - _PARTS):
        raise ConfigError(f"{bundle.path} is refused: {odd[0]!r} is not part of a bundle")
    if archive.JOURNAL not in bundle.head.members:
        raise ConfigError(f"{bundle.path} cannot be replayed: it has no {archive.JOURNAL}")
    for entry in entries:
        packed = unpacked / "runs" / entry.label
        own = {"journal": None, "replay": str(unpacked / _JOURNAL), "resume": None, "memory": str(unpacked / "memory")}
        try:
            text = (packed / CONFIG).read_text(encoding="utf-8")
            if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, yaml.SafeLoader)):
                raise yaml.YAMLError("it has aliases, which no run writes")  # few lines would make a text without end
            cfg = renew(parse(text))
            cfg = {**cfg, "run": {**cfg["run"], **own}, "tracking": request.tracking}
        except (OSError, yaml.YAMLError, UnicodeDecodeError, TypeError, KeyError, RecursionError) as error:
            reason = " ".join(str(error).split())
            raise ConfigError(f"{bundle.path}: the config of {entry.label} cannot be read: {reason}") from None
        cfg = settings.resolve_config(cfg, unpacked, request.paths)
        if not request.trusted:
            settings.refuse_foreign_code(cfg, bool(entry.own))
        runs.append(_Run(entry, cfg, packed, home / entry.label if len(entries) > 1 else home))
    (unpacked / _JOURNAL).mkdir()
    (unpacked / "memory").mkdir(exist_ok=True)
    return runs


def _compare(one: _Run, jobs: int, run: Callable[[Coroutine[Any, Any, int]], int]) -> list[str]:
    """Run one again. Returns what differs."""
    inputs: list[str] = []
    try:
        experiment = _experiment(one, jobs > 1)
        notes, facts = manifest.read(one.packed), facts_of(experiment)
        was: Mapping[str, object] = notes.get("dataset") or {}
        now: Mapping[str, object] = facts["dataset"]
        inputs = [f"the data differ: their {key} was {was.get(key)}, is {now[key]}"
                  for key in ("fingerprint", "ids") if was.get(key) != now[key]]  # fmt: skip
        if sorted(one.entry.prompts.values()) != sorted(facts["prompts"].values()):
            inputs.append("the prompts differ from those of the bundle")
        if notes.get("scorers") != facts["scorers"]:
            inputs.append(f"the scorers' versions were {notes.get('scorers')}, are {facts['scorers']}")

        async def execute() -> int:
            async with SharedResources(experiment.budget, jobs=jobs) as resources:
                return await run_job(experiment, one.folder, resources)

        run(execute())
        prompts = one.packed.parent.parent / "prompts"
        renamed = {str((prompts / name).resolve()): was for name, was in one.entry.own.items()}
        difference = first_difference(one.records(), list(read(one.folder)), renamed)
        difference = difference or metrics_difference(metrics_of(one.packed), metrics_of(one.folder))
    except ConfigError as error:  # a call that the journal has no answer for, or a member that cannot be read
        first = "" if (one.folder / manifest.FILE).exists() else one.first_call()
        difference = str(error).removeprefix("run.replay: ")
        difference += f"; nothing can be run from {first} on" if first else ""
    found = [difference, *inputs] if difference else [f"{text}; every call and record is the same" for text in inputs]
    return [f"{one.entry.label}: {text}" for text in found]


def _experiment(run: _Run, in_sweep: bool) -> Experiment:
    """Build and check, as the command that made it did."""
    notes, label = manifest.read(run.packed), run.entry.label
    if odd := [key for key, value in notes.items() if key in _MAPPINGS and not isinstance(value or {}, dict)]:
        raise ConfigError(f"the manifest of {label} is damaged: {odd[0]} is not a mapping")
    choices = {**(notes.get("choices") or {}), "tracking": "replay"}
    varied = [f"{key}={value}" for key, value in (notes.get("varied") or {}).items()]
    sweep = str(run.folder.parent) if in_sweep else None
    experiment = check(run.cfg, Launch(choices, varied, sweep, label, tuple(notes.get("swept") or ())))
    study(experiment)
    return experiment


def _first_use(member: str, runs: Sequence[_Run], unpacked: Path) -> str:
    """Which call a changed prompt was for; other members show in the comparison."""
    if not member.startswith("prompts/"):
        return ""
    calls = (run.first_call(sources_of(member, unpacked, run.entry.own)) for run in runs)
    return next((f": {call} used it" for call in calls if call), ": no call used it")
