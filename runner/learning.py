"""The memory of a run: found by what makes it, or made once by its stage on training samples.

A memory is a folder below ``run.memory``, named by the digest of its files. ``recipes/<digest of what makes
it>`` names the memory that came of it.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import orjson

from components.errors import ConfigError, ModelError
from components.models.redaction import redact
from components.practice import Source
from components.protocols import Agent, Dataset, Episode
from components.task_text import task_text
from components.types import Answer, Failure, Played, Refusal, Sample
from components.verifiers.accept import Accept
from runner import manifest
from runner.door import Door
from runner.ending import deciding, decisive
from runner.play import Parts, play
from runner.progress import Progress
from runner.select import clean

if TYPE_CHECKING:
    from runner.experiment import Experiment

log = logging.getLogger("runner")
Solve = Callable[[Episode], Awaitable[Answer | Refusal | Failure]]
_MAKES = ("agent", "grammars", "toolset", "condition", "scorer", "profile")


@dataclass(frozen=True)
class Solver:
    """An agent that is one function of its episode."""

    plays: Solve
    brings: Sequence[Any] = ()

    async def solve(self, episode: Episode) -> Answer | Refusal | Failure:
        """Play it."""
        return await self.plays(episode)


@dataclass
class Practice:
    """Plays training samples (see ``components.practice.Practice``)."""

    agent: Agent
    parts: Parts
    door: Door
    progress: Progress | None = None
    played: set[str] = field(default_factory=set)

    async def play(self, sample: Sample, solve: Solve) -> Played:
        """One episode. Raises ModelError when it could not be played to its end."""
        solver = Solver(solve, getattr(self.agent, "brings", ()))
        trajectory, scores = await play(replace(self.parts, agent=solver), self.door, sample, 0)
        if trajectory.stop == "error":
            raise ModelError(f"training sample {sample.problem.id!r}: {trajectory.error}", "training")
        if self.progress is not None and sample.problem.id not in self.played:
            self.played.add(sample.problem.id)
            self.progress.finished(False)
        return Played(trajectory, deciding(self.parts, scores))


@dataclass(frozen=True)
class Lesson:
    """What a memory is made of: the training samples and the digest of all that decides the result."""

    samples: Sequence[Sample]
    split: str
    recipe: str


def lesson_of(experiment: Experiment, source: Source) -> Lesson | None:
    """The training samples of a run, none of which is evaluated; None when the dataset has no split to train on.

    Raises ConfigError.
    """
    dataset = experiment.dataset
    split = source.split or next(
        (s for s in ("train", *dataset.splits) if s != dataset.split and s in dataset.splits), None
    )
    if split is None:
        return None
    if split == dataset.split or split not in dataset.splits:
        have = ", ".join(s for s in dataset.splits if s != dataset.split) or "none"
        raise ConfigError(
            f"memory.split={split!r}: a memory is learnt from another split than the evaluated one; there is {have}"
        )
    samples = _apart(dataset, split)
    if source.samples is not None and source.samples < len(samples):
        drawn = Random(f"{experiment.seed}/memory").sample(range(len(samples)), source.samples)
        samples = [samples[i] for i in sorted(drawn)]
    return Lesson(samples, split, _recipe(experiment, split, samples))


def _apart(dataset: Dataset, split: str) -> list[Sample]:
    """The samples of a split without those that are evaluated, by their text. Raises ConfigError when an id is."""
    evaluated = [clean(sample) for sample in dataset.load(dataset.split)]
    ids, texts = {s.problem.id for s in evaluated}, {task_text(s.problem) for s in evaluated}
    samples = [clean(sample) for sample in dataset.load(split)]
    for sample in samples:
        if sample.problem.id in ids:
            raise ConfigError(
                f"memory.split={split!r}: sample {sample.problem.id!r} is evaluated too; training on it is refused"
            )
    return [sample for sample in samples if task_text(sample.problem) not in texts]


def _recipe(experiment: Experiment, split: str, samples: Sequence[Sample]) -> str:
    """What decides the files of a memory; not the verifier, and not how the memory is shown."""
    cfg = experiment.cfg
    shown = {key: cfg[key] for key in _MAKES}
    shown |= {
        "stage": cfg["memory"]["stage"],
        "budget": cfg["budget"]["sample"],
        "seed": experiment.seed,
        "models": {role: redact(model.identity) for role, model in experiment.models.items() if role != "verifier"},
        "data": [cfg["dataset"]["_target_"], experiment.dataset.fingerprint, split],
        "samples": [sample.problem.id for sample in samples],
        "prompts": dict(experiment.prompts),
    }
    return _digest(json.dumps(shown, sort_keys=True, default=str).encode())


async def remember(experiment: Experiment, door: Door, folder: Path, notes: dict[str, Any]) -> Experiment:
    """The experiment with its memory, which the run's manifest names. Raises ConfigError, ModelError."""
    if (source := experiment.source) is None:
        return experiment
    found, said = await learn(experiment, door, source) if source.needed else (None, [])
    memory, before = source.open(found), manifest.read(folder).get("memory")
    if before not in (None, memory.digest):
        raise ConfigError(f"{folder} was begun with another memory: it was {before}, now it is {memory.digest}")
    notes |= {"memory": memory.digest, "notes": [*notes["notes"], *said]}
    manifest.write(folder, notes)
    return replace(experiment, parts=replace(experiment.parts, memory=memory))


async def learn(experiment: Experiment, door: Door, source: Source) -> tuple[Path | None, list[str]]:
    """The folder of the memory and what to say of it, made now if it is not there. Raises ConfigError, ModelError."""
    root = Path(experiment.cfg["run"]["memory"])
    if source.path is not None:
        folder = next((f for f in (Path(source.path), root / source.path) if f.is_dir()), None)
        if folder is None:
            raise ConfigError(f"memory.path: there is no memory {source.path}, here or in {root}")
        return folder, []
    lesson = lesson_of(experiment, source)
    if lesson is None:
        return None, ["the dataset has no split to learn from: the memory is empty"]
    noted = root / "recipes" / lesson.recipe
    if noted.exists() and (folder := root / noted.read_text(encoding="utf-8").strip()).is_dir():
        return folder, []
    folder = await _make(experiment, door, source, lesson, root)
    noted.parent.mkdir(parents=True, exist_ok=True)
    _write(noted, folder.name.encode())
    return folder, []


async def _make(experiment: Experiment, door: Door, source: Source, lesson: Lesson, root: Path) -> Path:
    """Run the stage and write its files under the digest of their contents."""
    _study(experiment, lesson.samples)
    parts = replace(experiment.parts, verifier=Accept(), memory=None)
    stage = type(source.stage).__name__.lower()
    with Progress(door, len(lesson.samples), 0, f"{stage} on {lesson.split}") as progress:
        practice = Practice(experiment.parts.agent, parts, door, progress)
        try:
            files = await source.stage.run(practice, lesson.samples)
        except BaseExceptionGroup as group:  # of tasks that were learnt from at once
            raise decisive(group) from None
    _study(experiment, None)
    texts = {name: orjson.dumps(value, option=orjson.OPT_INDENT_2) for name, value in sorted(files.items())}
    digest = _digest(b"\0".join(name.encode() + b"\0" + text for name, text in texts.items()))
    folder = root / digest
    if not folder.is_dir():
        root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=root, prefix=".making-") as made:
            fresh = Path(made) / "memory"
            for name, text in texts.items():
                (fresh / name).parent.mkdir(parents=True, exist_ok=True)
                (fresh / name).write_bytes(text)
            notes = _notes(experiment, lesson, door, digest)
            (fresh / manifest.FILE).write_text(json.dumps(notes, indent=1, default=str) + "\n", encoding="utf-8")
            _move(fresh, folder)
    log.info("memory %s: %d files from %d training samples", digest, len(texts), len(lesson.samples))
    return folder


def _notes(experiment: Experiment, lesson: Lesson, door: Door, digest: str) -> Mapping[str, Any]:
    """The manifest of a memory."""
    return {
        "digest": digest,
        "recipe": lesson.recipe,
        "made": manifest.now(),
        "command": manifest.command_line(),
        "models": {role: model.name for role, model in experiment.models.items()},
        "dataset": {"name": experiment.launch.choices.get("dataset"), "fingerprint": experiment.dataset.fingerprint},
        "split": lesson.split,
        "samples": [sample.problem.id for sample in lesson.samples],
        "stage": experiment.cfg["memory"]["stage"],
        "prompts": dict(experiment.prompts),
        "seed": experiment.seed,
        "calls": door.spent.calls + door.replayed,
        "versions": manifest.versions(),
    }


def _study(experiment: Experiment, samples: Sequence[Sample] | None) -> None:
    """Models with a private answer key get that of the training samples, and afterwards their own again."""
    from runner.experiment import study

    if samples is None:
        study(experiment)
    for model in experiment.models.values() if samples is not None else ():
        if (tell := getattr(model, "study", None)) is not None:
            tell(samples)


def _move(fresh: Path, folder: Path) -> None:
    """Rename; another process may have made the same folder meanwhile."""
    try:
        fresh.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise


def _write(path: Path, text: bytes) -> None:
    fresh = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    fresh.write_bytes(text)
    fresh.replace(path)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]
