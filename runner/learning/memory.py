"""The memory of a run: found by what makes it, or made once by its stage on training samples.

Memories are folders below ``run.memory``, each named by the digest of its files. ``recipes/<digest of what makes it>``
names the memory that came of it, and is the lock of the process that makes it.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

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
from runner.learning.folders import digest_of, find_by_recipe, find_named, lock_recipe, save
from runner.learning.lesson import Lesson, known_by, lesson_of
from runner.learning.stage_context import Practice, origin_of
from runner.storage import manifest, records
from runner.storage.schema import Manifest

log = logging.getLogger("runner")


async def remember(experiment: Experiment, door: Door, folder: Path, before: object, notes: Manifest) -> Experiment:
    """The experiment with its memory, which the manifest of the run in ``folder`` names. ``before``: the memory that
    the run was begun with. Raises ConfigError, ModelError, RunLimitReached."""
    experiment, said = await with_memory(experiment, door)
    if (memory := experiment.parts.memory) is None:
        return experiment
    if before not in (None, memory.digest):
        raise ConfigError(f"{folder} was started with another memory: it was {before}, now it is {memory.digest}")
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
    folder = find_by_recipe(root, lesson.recipe)  # a memory that is there may lie where nothing can be written
    if folder is None:
        async with lock_recipe(root, lesson.recipe):
            folder = find_by_recipe(root, lesson.recipe) or await _make(experiment, door, source, lesson, root)
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
    folder = save(root, lesson.recipe, files, notes, records.key_variables_of(experiment.cfg))
    log.info("memory %s: %d files from %d training samples", folder.name, len(files), len(lesson.samples))
    return folder


ONE_BY_ONE = (
    "memory.update: the memory grows from question to question, so {} cannot split them; remove it, "
    "or choose a memory that does not grow (memory.update=none)"
)
Place = tuple[str, int]


class Growth:
    """What the samples of a run have taught, by their rank in its order; ``hold`` gives it to the memory."""

    def __init__(
        self, hold: Callable[[Iterable[Mapping[str, Any]]], None], samples: Sequence[Sample], seed: int, folder: Path
    ) -> None:
        self._hold = hold
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
        self._hold(entry for one in earlier for entry in self._learnt[one.problem.id, epoch])

    def after(self, sample: Sample, epoch: int, trajectory: Trajectory) -> None:
        """Store what a sample taught, and note its rank in the order."""
        self._learnt[sample.problem.id, epoch] = lessons_in(trajectory)
        if steps := before_judging(trajectory).steps:
            steps[-1].remarks["order"] = self._rank[sample.problem.id]
