"""The memory of a run: found by what makes it, or made once by its stage on training samples."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.acting.solved import SEEDS, TASKS
from components.core.errors import ConfigError
from components.core.learning import Source, task_of
from components.core.plain import Accept
from components.core.protocols import ByTask, Memory, Studying
from components.core.traits import agents_in, memory_traits, requirements_of, source_traits
from components.core.types import Sample
from runner.episode.door import Door
from runner.learning import kept
from runner.learning.growing import ONE_BY_ONE
from runner.learning.lesson import Lesson, known_by, lesson_of, text_digest
from runner.learning.practice import Practice
from runner.learning.unread import refuse_demonstrations, refuse_unread
from runner.storage import manifest
from runner.storage.schema import Manifest
from runner.terminal.progress import Progress

if TYPE_CHECKING:
    from runner.experiment.experiment import Experiment

log = logging.getLogger("runner")
EMPTY = "the dataset has no split to learn from: nothing was learnt"


def check_memory(experiment: Experiment) -> str | None:
    """Whether the memory can be had, before anything runs. Returns the privacy class of one that is named.

    Raises ConfigError.
    """
    source, agent = experiment.source, experiment.parts.agent
    for one in agents_in(agent):
        wanted = requirements_of(one).memory
        if wanted is not None and not _holds(source, wanted):
            found = "there is none" if source is None else f"this one ({type(source).__name__}) holds something else"
            choice = SEEDS if wanted == TASKS else wanted
            shows = f"{type(one).__name__} shows solved tasks from a memory"
            raise ConfigError(f"{shows}, and {found}; choose one, such as memory={choice}")
    if source is not None:
        refuse_unread(experiment, source)
        refuse_demonstrations(experiment, source)
    if source is not None and source_traits(source).grows and experiment.cfg["run"]["shard"] is not None:
        raise ConfigError(ONE_BY_ONE.format("run.shard"))
    if source is None or not source.needed:
        if experiment.cfg.get("stage") == "memory":
            raise ConfigError(
                "stage: the memory that is chosen learns nothing on training samples; choose one that does"
            )
        return None
    if source.path is None:
        kept.usable(_root(experiment))
        lesson_of(experiment, source)
        return None
    folder = kept.named(_root(experiment), source.path)
    notes = manifest.read_learnt(folder)
    memory = source.open(folder, kept.digest_of(folder))
    trained = {*notes.get("texts", ()), *map(text_digest, memory_traits(memory).texts)}
    seen = (
        [s.problem.id for s in experiment.dataset.load(experiment.dataset.split) if known_by(s) in trained]
        if trained
        else []
    )
    if seen:
        raise ConfigError(
            f"memory.path: {folder} was learnt from {len(seen)} of the samples that are evaluated, such as {seen[0]!r}"
        )
    return notes.get("privacy")


def _holds(source: Source | None, wanted: str) -> bool:
    """Whether a memory holds a kind of content."""
    if source is None:
        return False
    holds = source_traits(source).holds
    return holds is None or wanted in holds


async def remember(experiment: Experiment, door: Door, folder: Path, before: object, notes: Manifest) -> Experiment:
    """The experiment with its memory, which the manifest of the run in ``folder`` names.

    ``before``: the memory that the run was begun with. Raises ConfigError, ModelError, RunLimitReached.
    """
    experiment, said = await with_memory(experiment, door)
    if (memory := experiment.parts.memory) is None:
        return experiment
    if before not in (None, memory.digest):
        raise ConfigError(f"{folder} was begun with another memory: it was {before}, now it is {memory.digest}")
    notes |= {"memory": memory.digest, "notes": [*notes["notes"], *said]}
    manifest.write(folder, notes)
    return experiment


async def with_memory(experiment: Experiment, door: Door) -> tuple[Experiment, list[str]]:
    """The experiment with its memory, where it has one, and what to say of that.

    Raises ConfigError, ModelError, RunLimitReached.
    """
    if (source := experiment.source) is None:
        return experiment, []
    found, said = await learn(experiment, door) if source.needed else (None, [])
    memory = source.open(found, "" if found is None else kept.digest_of(found))
    return replace(experiment, parts=replace(experiment.parts, memory=memory)), [
        *said,
        *memory_traits(memory).notes,
        *_without(experiment, memory),
    ]


def _without(experiment: Experiment, memory: Memory) -> list[str]:
    """What to say where tasks are evaluated for which a memory of tasks holds nothing."""
    if not isinstance(memory, ByTask) or not memory.tasks:
        return []
    lacking = sorted({task_of(sample) for sample in experiment.samples} - {*memory.tasks})
    return [f"nothing was learnt for the tasks {', '.join(lacking)}"] if lacking else []


async def learn(experiment: Experiment, door: Door) -> tuple[Path | None, list[str]]:
    """The folder of the memory and what to say of it, made now if it is not there.

    Raises ConfigError, ModelError, RunLimitReached.
    """
    source, root = experiment.source, _root(experiment)
    assert source is not None, "only a run with a memory learns"
    if source.path is not None:
        return kept.named(root, source.path), []
    lesson = lesson_of(experiment, source)
    if lesson is None:
        return None, [EMPTY]
    folder = kept.made_by(root, lesson.recipe)  # a memory that is there may lie where nothing can be written
    if folder is None:
        async with kept.making(root, lesson.recipe):
            folder = kept.made_by(root, lesson.recipe) or await _make(experiment, door, source, lesson, root)
    return folder, _sayings(folder)


async def _make(experiment: Experiment, door: Door, source: Source, lesson: Lesson, root: Path) -> Path:
    """Run the stage and keep its files."""
    _study(experiment, lesson.samples)
    parts = replace(experiment.parts, verifier=Accept(), memory=None)
    stage = type(source.stage).__name__.lower()
    with Progress(door, len(lesson.samples), 0, f"{stage} on {lesson.split}") as progress:
        practice = Practice(experiment.parts.agent, parts, door, progress)
        files = await source.stage.run(practice, lesson.samples)
    _study(experiment, None)
    folder = kept.keep(root, lesson.recipe, files, _notes(experiment, lesson, door, practice))
    log.info("memory %s: %d files from %d training samples", folder.name, len(files), len(lesson.samples))
    return folder


def _notes(experiment: Experiment, lesson: Lesson, door: Door, practice: Practice) -> Mapping[str, Any]:
    """The manifest of a memory; ``texts`` are digests of what it was learnt from."""
    return {
        "made": manifest.now(),
        "command": manifest.command_line(),
        "models": {role: model.name for role, model in experiment.models.items()},
        "dataset": {"name": experiment.launch.choices.get("dataset"), "fingerprint": experiment.dataset.fingerprint},
        "privacy": experiment.dataset.privacy,
        "split": lesson.split,
        "samples": [sample.problem.id for sample in lesson.samples],
        "texts": [known_by(sample) for sample in lesson.samples],
        "too_long": sorted(practice.skipped),
        "stage": experiment.cfg["memory"]["stage"],
        "prompts": dict(experiment.prompts),
        "seed": experiment.seed,
        "calls": door.spent.calls + door.replayed,
        "versions": manifest.versions(),
    }


def _sayings(folder: Path) -> list[str]:
    """What a reader of results must know of a memory."""
    said = []
    if skipped := manifest.read_learnt(folder).get("too_long"):
        said.append(f"the memory was learnt without {len(skipped)} training samples that are too long for the model")
    if {path.name for path in folder.rglob("*.json")} <= {manifest.FILE, "provenance.json"}:
        said.append("nothing was learnt from the training samples: the memory is empty")
    return said


def _study(experiment: Experiment, samples: Sequence[Sample] | None) -> None:
    """Models with a private answer key get that of the training samples; with None, their own again."""
    if samples is None:
        from runner.experiment.experiment import study

        return study(experiment)
    for model in experiment.models.values():
        if isinstance(model, Studying):
            model.study(samples)
    return None


def _root(experiment: Experiment) -> Path:
    return Path(experiment.cfg["run"]["memory"])
