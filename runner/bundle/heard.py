"""A finished run played once more from its journal, to learn what a bundle of it must hold."""

import asyncio
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from components.core.errors import ConfigError
from runner.bundle.differences import first_difference
from runner.episode.door import Door
from runner.experiment.experiment import study
from runner.experiment.facts import facts_of
from runner.job.execute import Outcome, execute
from runner.job.prepare import check
from runner.learning.memory import learn, remember
from runner.storage import manifest
from runner.storage.journal import Journal
from runner.storage.records import RecordWriter, read

_OPENED: list[set[str]] = []


class _Listener(Journal):
    """A journal that notes what is asked for and found."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, read_only=True)
        self.heard: dict[bytes, bytes] = {}

    def get(self, key: bytes) -> bytes | None:
        """As always, and noted."""
        if (payload := super().get(key)) is not None:
            self.heard[key] = payload
        return payload


@dataclass
class Heard:
    """What a run used: ``entries`` of the journal, ``opened`` files, the names of its ``prompts``, the folder of its
    ``memory``, and the class of what it saw."""

    entries: dict[bytes, bytes]
    prompts: list[str]
    opened: set[Path] = field(default_factory=set)
    memory: Path | None = None
    privacy: str = "open"


def listen(folder: Path, cfg: Mapping[str, Any]) -> Heard:
    """Play a run folder again from the journal of its config. Raises ConfigError where it is not the same any more."""
    run = cfg["run"]
    named = run["replay"] if isinstance(run["replay"], str) else run["journal"]
    if named is None or not (journal := Path(named)).is_dir():
        raise ConfigError(f"{folder}: its journal ({named}) is not here, and without it nobody can replay a bundle")
    replayed = {**cfg, "run": {**run, "replay": str(journal)}}
    with _opened() as opened:
        heard = asyncio.run(_play(folder, replayed, journal))
    heard.opened = {path.absolute() for path in {*map(Path, opened), *heard.opened} if path.is_file()}
    return heard


async def _play(folder: Path, cfg: Mapping[str, Any], journal: Path) -> Heard:
    """Play into a folder that is forgotten, and compare."""
    experiment = check(cfg)
    study(experiment)  # it is part of what a model is
    notes, facts = manifest.read(folder), facts_of(experiment)
    manifest.refuse_others(folder, facts)
    listener, outcome, memory = _Listener(journal), Outcome(), None
    door = Door(experiment.models, listener, run_seed=experiment.seed, replay=True)
    with tempfile.TemporaryDirectory() as made:
        writer = RecordWriter(Path(made))
        try:
            if experiment.source is not None and experiment.source.needed:
                memory, _ = await learn(experiment, door)
                listener.heard.clear()  # the memory itself goes along, not what it was learnt from
            experiment = await remember(experiment, door, Path(made), notes.get("memory"), {"notes": []})
            await execute(
                experiment.parts, door, experiment.samples, experiment.epochs, writer, outcome, name=folder.name
            )
        finally:
            writer.close()
            listener.close()
            for model in experiment.models.values():
                await model.close()
        if difference := first_difference(list(read(folder)), list(read(Path(made)))):
            raise ConfigError(f"{folder} does not replay here, so it is not packed: {difference}")
    learnt = None if memory is None else manifest.read(memory).get("privacy")
    classes = {str(facts["dataset"]["privacy"]), str(learnt or "open")} - {"open"}
    named = {Path(path) for sample in experiment.samples for path in sample.files.values()}  # a cell of code opens them
    files = named | {path for folder in named if folder.is_dir() for path in folder.rglob("*")}
    return Heard(listener.heard, list(experiment.prompts), files, memory, min(classes, default="open"))


@contextmanager
def _opened() -> Iterator[set[str]]:
    """The names of the files that this process opens meanwhile, absolute; databases too."""
    _hook()
    names: set[str] = set()
    _OPENED.append(names)
    try:
        yield names
    finally:
        _OPENED.remove(names)


@cache
def _hook() -> None:
    """Once in a process: such a hook cannot be taken away again."""
    sys.addaudithook(_note)


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    if not _OPENED or event not in ("open", "sqlite3.connect") or not arguments:
        return
    name = arguments[0]
    if isinstance(name, bytes):
        name = os.fsdecode(name)
    if isinstance(name, str):
        plain = unquote(name.removeprefix("file:").partition("?")[0]) if name.startswith("file:") else name
        _OPENED[-1].add(os.path.abspath(plain))
