"""The memory of a run: found by what makes it, or made once by its stage on training samples.

Memories are folders below ``run.memory``, each named by the digest of its files. ``recipes/<digest of what makes it>``
names the memory that came of it, and is the lock of the process that makes it.
"""

import asyncio
import fcntl
import hashlib
import json
import logging
import os
import re
import tempfile
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, Protocol, runtime_checkable

import orjson

from components.acting.solved import lessons_in
from components.core.errors import ConfigError
from components.core.learning import Source, task_of
from components.core.plain import Accept
from components.core.traits import MemoryTraits, declared
from components.core.types import Sample, Trajectory
from runner.episode.door import Door
from runner.episode.ending import before_judging
from runner.episode.progress import Progress
from runner.experiment.experiment import Experiment, study
from runner.learning.lesson import Lesson, known_by, lesson_of
from runner.learning.stage_context import Practice, origin_of
from runner.storage import manifest, records
from runner.storage.schema import Manifest

log = logging.getLogger("runner")
_NAME = re.compile(r"[0-9a-f]{16}")
_MARKS = (manifest.FILE, "provenance.json", "long_term", "experience", "examples.json")


async def remember(experiment: Experiment, door: Door, folder: Path, before: object, notes: Manifest) -> Experiment:
    """The experiment with its memory, which the manifest of the run in ``folder`` names. ``before``: the memory that
    the run was begun with. Raises ConfigError, ModelError, RunLimitReached."""
    experiment, said = await with_memory(experiment, door)
    if (memory := experiment.parts.memory) is None:
        return experiment
    if before not in (None, memory.digest):
        raise ConfigError(f"{folder} was begun with another memory: it was {before}, now it is {memory.digest}")
    notes |= {"memory": memory.digest, "notes": [*notes["notes"], *said]}
    manifest.write(folder, notes)
    return experiment


async def with_memory(experiment: Experiment, door: Door) -> tuple[Experiment, list[str]]:
    """The experiment with its memory, if any, and notes on it. Raises ConfigError, ModelError, RunLimitReached."""
    if (source := experiment.source) is None:
        return experiment, []
    found, said = await learn(experiment, door) if source.needed else (None, [])
    memory = source.open(found, "" if found is None else digest_of(found))
    notes = [*said, *declared(memory, MemoryTraits).notes]
    if tasks := declared(memory, MemoryTraits).tasks:
        lacking = sorted({task_of(sample) for sample in experiment.samples} - {*tasks})
        notes += [f"nothing was learnt for the tasks {', '.join(lacking)}"] if lacking else []
    return replace(experiment, parts=replace(experiment.parts, memory=memory)), notes


async def learn(experiment: Experiment, door: Door) -> tuple[Path | None, list[str]]:
    """The folder of the memory and what to say of it, made now if it is not there. Raises ConfigError, ModelError,
    RunLimitReached."""
    source, root = experiment.source, Path(experiment.cfg["run"]["memory"])
    assert source is not None, "only a run with a memory learns"
    if source.path is not None:
        return find_named(root, source.path), []
    lesson = lesson_of(experiment, source)
    if lesson is None:
        return None, ["the dataset has no split to learn from: nothing was learnt"]
    folder = _find_by_recipe(root, lesson.recipe)  # a memory that is there may lie where nothing can be written
    if folder is None:
        async with _locked(root, lesson.recipe):
            folder = _find_by_recipe(root, lesson.recipe) or await _make(experiment, door, source, lesson, root)
    said = []
    if skipped := manifest.read_learnt(folder).get("too_long"):
        said.append(f"the memory was learnt without {len(skipped)} training samples that are too long for the model")
    if {path.name for path in folder.rglob("*.json")} <= {manifest.FILE, "provenance.json"}:
        said.append("nothing was learnt from the training samples: the memory is empty")
    return folder, said


async def _make(experiment: Experiment, door: Door, source: Source, lesson: Lesson, root: Path) -> Path:
    """Run the stage and keep its files."""
    study(experiment, lesson.samples)
    parts = replace(experiment.parts, verifier=Accept(), memory=None)
    stage = type(source.stage).__name__.lower()
    with Progress(door, len(lesson.samples), 0, f"{stage} on {lesson.split}") as progress:
        practice = Practice(experiment.parts.agent, parts, door, progress)
        files = await source.stage.run(practice, lesson.samples)
    study(experiment)
    notes = {
        **origin_of(experiment),
        "privacy": experiment.dataset.privacy,
        "split": lesson.split,
        "samples": [sample.problem.id for sample in lesson.samples],
        "texts": [known_by(sample) for sample in lesson.samples],
        "too_long": sorted(practice.skipped),
        "stage": experiment.cfg["memory"]["stage"],
        "calls": door.spent.calls + door.replayed,
    }
    folder = _save(root, lesson.recipe, files, notes)
    log.info("memory %s: %d files from %d training samples", folder.name, len(files), len(lesson.samples))
    return folder


def find_named(root: Path, path: str) -> Path:
    """The folder that ``memory.path`` names, here or below ``run.memory``. Raises ConfigError."""
    folders = [folder for folder in (Path(path), root / path) if folder.is_dir()] if path else []
    for folder in folders:
        if any((folder / name).exists() for name in _MARKS):
            return folder
    if folders:
        raise ConfigError(f"memory.path: {folders[0]} is not a memory: it has none of {', '.join(_MARKS)}")
    raise ConfigError(f"memory.path: there is no memory {path!r}, here or in {root}")


def check_writable(root: Path) -> None:
    """Whether ``run.memory`` can hold memories. Raises ConfigError."""
    there = next(folder for folder in (root, *root.resolve().parents) if folder.exists())
    if not there.is_dir():
        raise ConfigError(f"run.memory: {root} is not a folder: {there} is a file")
    if not root.exists() and not os.access(there, os.W_OK):
        raise ConfigError(f"run.memory: {root} cannot be made: {there} is read-only")


def _find_by_recipe(root: Path, recipe: str) -> Path | None:
    """The memory that came of a recipe, when it is there and whole; what the note says is not a path."""
    note = root / "recipes" / recipe
    try:
        name = note.read_bytes().strip().decode("ascii") if note.is_file() else ""
    except UnicodeDecodeError:
        return None
    folder = root / name
    if not _NAME.fullmatch(name) or not folder.is_dir():
        return None
    if not (folder / manifest.FILE).is_file():
        raise ConfigError(f"memory {folder} lost its {manifest.FILE}; delete the folder, and it is made again")
    return folder


@asynccontextmanager
async def _locked(root: Path, recipe: str) -> AsyncIterator[None]:
    """One process at a time makes the memory of a recipe; the others wait, and find it."""
    note = root / "recipes" / recipe
    note.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(note, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                await asyncio.sleep(0.2)
        yield
    finally:
        os.close(handle)


def _save(root: Path, recipe: str, files: Mapping[str, Any], notes: Mapping[str, Any]) -> Path:
    """Write a memory in one move, and which recipe it came of."""
    texts = {name: orjson.dumps(value, option=orjson.OPT_INDENT_2) for name, value in files.items()}
    digest = _digest(texts)
    folder = root / digest
    if not folder.is_dir():
        with tempfile.TemporaryDirectory(dir=root, prefix=".making-") as made:
            fresh = Path(made) / "memory"
            for name, text in texts.items():
                (fresh / name).parent.mkdir(parents=True, exist_ok=True)
                (fresh / name).write_bytes(text)
            whole = json.dumps({"digest": digest, "recipe": recipe, **notes}, indent=1, default=str)
            (fresh / manifest.FILE).write_text(whole + "\n", encoding="utf-8")
            try:
                fresh.rename(folder)
            except OSError:  # the same memory, of another recipe, came first
                if not folder.is_dir():
                    raise
    (root / "recipes" / recipe).write_text(digest, encoding="utf-8")
    return folder


def digest_of(folder: Path) -> str:
    """The digest of a memory's files. Raises ConfigError when they are not those that its manifest names."""
    paths = sorted(path for path in folder.rglob("*.json") if path.name != manifest.FILE and path.is_file())
    digest = _digest({path.relative_to(folder).as_posix(): path.read_bytes() for path in paths})
    was = manifest.read_learnt(folder).get("digest", digest)
    if was != digest:
        raise ConfigError(
            f"memory {folder} was changed: its manifest names {was}, its files are {digest}; delete the folder"
        )
    return digest


def _digest(texts: Mapping[str, bytes]) -> str:
    whole = hashlib.sha256(b"\0".join(name.encode() + b"\0" + text for name, text in sorted(texts.items())))
    return whole.hexdigest()[:16]


ONE_BY_ONE = (
    "memory.update: the memory grows from question to question, so {} cannot part them; leave it out, "
    "or choose a memory that does not grow (memory.update=none)"
)
Place = tuple[str, int]


@runtime_checkable
class GrowingMemory(Protocol):
    """A memory that can take in what was learnt; ``grows``: whether it does."""

    @property
    def grows(self) -> bool: ...

    def hold(self, learnt: Iterable[Mapping[str, Any]]) -> None: ...


class Growth:
    """What the samples of a run have taught, by their rank in its order."""

    def __init__(self, memory: GrowingMemory, samples: Sequence[Sample], seed: int, folder: Path) -> None:
        self.memory = memory
        self.samples = sorted(samples, key=lambda sample: sample.problem.id)
        Random(f"{seed}/memory/order").shuffle(self.samples)
        self._rank = {sample.problem.id: n for n, sample in enumerate(self.samples)}
        self._learnt: dict[Place, list[Mapping[str, Any]]] = {
            (record["sample_id"], record["epoch"]): [
                step["remarks"]["learnt"] for step in record["steps"] if "learnt" in step.get("remarks", {})
            ]
            for record in records.read(folder)
        }

    def before(self, sample: Sample, epoch: int) -> None:
        """The memory as it was before a sample."""
        rank = self._rank[sample.problem.id]
        earlier = [one for one in self.samples[:rank] if (one.problem.id, epoch) in self._learnt]
        self.memory.hold(entry for one in earlier for entry in self._learnt[one.problem.id, epoch])

    def after(self, sample: Sample, epoch: int, trajectory: Trajectory) -> None:
        """Store what a sample taught, and note its rank in the order."""
        self._learnt[sample.problem.id, epoch] = lessons_in(trajectory)
        if steps := before_judging(trajectory).steps:
            steps[-1].remarks["order"] = self._rank[sample.problem.id]
