"""What a run used: a finished run is run once more from its journal, to learn what a bundle of it must hold."""

import asyncio
import os
import re
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from components.core.errors import ConfigError
from runner.bundle.differences import first_difference
from runner.bundle.settings import DATA, texts
from runner.config.catalogue import Catalogue
from runner.episode.door import Door
from runner.experiment.experiment import facts_of, study
from runner.job.execute import Execution, Outcome
from runner.job.prepare import check
from runner.learning.memory import learn, remember
from runner.storage import manifest
from runner.storage.journal import Journal
from runner.storage.records import RecordWriter, read
from runner.storage.schema import Manifest

_OPEN_LICENCE = re.compile(r"\b(MIT|Apache-2\.0|BSD|CC0|CC BY(?:-SA)?(?! ?-?N[CD])|ODbL|public domain)\b")


class _ObservedJournal(Journal):
    """A journal that remembers the entries that were read."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, read_only=True)
        self.read: dict[bytes, bytes] = {}

    def get(self, key: bytes) -> bytes | None:
        """As the journal does."""
        if (payload := super().get(key)) is not None:
            self.read[key] = payload
        return payload


@dataclass
class Inputs:
    """Entries of the journal, names of prompt sets, files, the folder of the memory, and the class of all of it."""

    entries: dict[bytes, bytes]
    prompts: list[str]
    files: set[Path]
    memory: Path | None
    privacy: str


def inputs_of(folder: Path, cfg: Mapping[str, Any]) -> Inputs:
    """Run a folder again from the journal of its config. Raises ConfigError where the result is not the same."""
    run = cfg["run"]
    named = run["replay"] if isinstance(run["replay"], str) else run["journal"]
    if named is None or not (journal := Path(named)).is_dir():
        raise ConfigError(f"{folder}: its journal ({named}) is missing, and a bundle cannot be replayed without it")
    _opened_files().clear()
    return asyncio.run(_replay(folder, {**cfg, "run": {**run, "replay": str(journal)}}, journal))


async def _replay(folder: Path, cfg: Mapping[str, Any], path: Path) -> Inputs:
    """Run into a temporary folder, and compare."""
    experiment = check(cfg)
    study(experiment)  # it is part of what a model is
    facts = facts_of(experiment)
    manifest.refuse_others(folder, facts)
    journal, memory = _ObservedJournal(path), None
    door = Door(experiment.models, journal, run_seed=experiment.seed, replay=True)
    with tempfile.TemporaryDirectory() as made:
        writer = RecordWriter(Path(made))
        try:
            if experiment.source is not None and experiment.source.needed:
                memory, _ = await learn(experiment, door)
                journal.read.clear()  # the bundle holds the memory itself, not what it was learnt from
            before = manifest.read(folder).get("memory")
            experiment = await remember(experiment, door, Path(made), before, {"notes": []})
            execution = Execution(experiment.parts, door, writer, Outcome(), folder.name)
            await execution.run(experiment.samples, experiment.epochs)
        finally:
            writer.close()
            journal.close()
            for model in experiment.models.values():
                await model.close()
        if difference := first_difference(list(read(folder)), list(read(Path(made)))):
            raise ConfigError(f"{folder} does not replay here, so it is not packed: {difference}")
    learnt = None if memory is None else manifest.read_learnt(memory).get("privacy")
    classes = {str(facts["dataset"]["privacy"]), learnt or "open"} - {"open"}
    named = {Path(path) for sample in experiment.samples for path in sample.files.values()}  # a cell of code opens them
    named |= {path for root in named if root.is_dir() for path in root.rglob("*")}
    files = {path.absolute() for path in {*map(Path, _opened_files()), *named} if path.is_file()}
    return Inputs(journal.read, list(experiment.prompts), files, memory, min(classes, default="open"))


@cache
def _opened_files() -> set[str]:
    """The absolute names of the files and databases that this process opens from now on, noted by an audit hook: one in
    a process, since it cannot be removed."""
    opened: set[str] = set()

    def note(event: str, arguments: tuple[Any, ...]) -> None:
        if event in ("open", "sqlite3.connect") and arguments and isinstance(arguments[0], str | bytes):
            name = os.fsdecode(arguments[0])
            plain = unquote(name.removeprefix("file:").partition("?")[0]) if name.startswith("file:") else name
            opened.add(os.path.abspath(plain))

    sys.addaudithook(note)
    return opened


def may_include(notes: Manifest, privacy: str, with_data: bool, paths: Mapping[str, Path]) -> tuple[bool, str]:
    """Whether the data of a run may be in a bundle, and why. ``with_data``: the user requested it. Data that are not
    open never may; other data may if the comment at the head of their choice's YAML names a licence that permits
    redistribution, and ``paths`` (by key of the config) are the files of that choice, not replaced by a command, an
    experiment or a custom choice."""
    if privacy != "open":
        return False, f"left out, they are {privacy}"
    if with_data:
        return True, "in the bundle, by --with-data"
    name, root = (notes.get("choices") or {}).get("dataset", ""), os.environ.get(DATA, "")
    choice = Catalogue().choices("dataset").get(name)
    if choice is None or not (licence := _OPEN_LICENCE.search(choice.description)):
        return False, "left out, the dataset's choice names no licence that permits it; --with-data if yours does"
    meant = {key: Path(text.replace(f"${{oc.env:{DATA}}}", root)) for key, text in texts(choice.node, "dataset")}
    if any(path != meant.get(key) for key, path in paths.items()):
        return False, f"left out, they are not the data of {name}; --with-data if their licence permits it"
    return True, f"in the bundle ({licence[0]}): {choice.description}"
