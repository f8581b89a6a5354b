"""The inputs of a memory: training samples, none of which is evaluated, and the digest of all settings that decide
it."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path

from components.core.errors import ConfigError
from components.core.learning import Source, task_of
from components.core.moved import as_first_named
from components.core.plain import Accept, Intact
from components.core.protocols import Dataset
from components.core.redaction import redact
from components.core.task_text import task_text
from components.core.traits import SourceTraits, StageTraits, declared
from components.core.types import Sample
from components.files.file_dataset import draw
from components.prompts import place_of
from runner.experiment.experiment import Experiment, clean
from runner.experiment.parts import prompt_digests
from runner.storage import manifest
from runner.storage.schema import LearntManifest

EVALUATED = ("test", "test_hard", "ablations")  # splits that are never learnt from
_MAKES = ("agent", "grammars", "toolset", "condition", "scorer", "profile")


@dataclass(frozen=True)
class Lesson:
    """Training samples of an experiment."""

    experiment: Experiment
    samples: Sequence[Sample]
    split: str

    @cached_property
    def recipe(self) -> str:
        """What decides the files of a memory, as a digest; not the verifier, and not how the memory is shown."""
        experiment, parts, cfg = self.experiment, self.experiment.parts, as_first_named(self.experiment.cfg)
        models = {role: model for role, model in experiment.models.items() if role != "verifier"}
        stage = None if experiment.source is None else experiment.source.stage
        ignored = () if stage is None else declared(stage, StageTraits).ignores
        made = {key: cfg[key] for key in _MAKES} | {
            "agent": {key: value for key, value in cfg["agent"].items() if key not in ignored},
            "stage": cfg["memory"]["stage"],
            "budget": cfg["budget"]["sample"],
            "seed": experiment.seed,
            "models": {role: [redact(model.identity), model.sampling.wire.decode()] for role, model in models.items()},
            "split": self.split,
            "samples": [
                [s.problem.id, known_by(s), str(s.target), str(dict(s.metadata)), *_file_digests(s)]
                for s in self.samples
            ],
            "scorers": {name: scorer.version for name, scorer in parts.scorers.items()},
            "prompts": prompt_digests(replace(parts, verifier=Accept(), condition=Intact()), stage),
        }
        return hashlib.sha256(json.dumps(made, sort_keys=True, default=str).encode()).hexdigest()[:16]


def lesson_of(experiment: Experiment, source: Source) -> Lesson | None:
    """The lesson of a run; None when the dataset has no split to train on. Raises ConfigError."""
    found = training(experiment, source.split, source.prefers, "memory")
    if found is None:
        return None
    split, samples = found
    per_task = declared(source, SourceTraits).per_task
    places: dict[str, list[int]] = {}
    for n, sample in enumerate(samples):
        places.setdefault(task_of(sample) if per_task else "", []).append(n)
    seed = f"{experiment.seed}/memory"
    chosen = [n for task, part in places.items() for n in draw(part, source.samples, f"{seed}/{task}".rstrip("/"))]
    return Lesson(experiment, [samples[n] for n in sorted(chosen)], split)


def refuse_lost(experiment: Experiment, run: Path) -> None:
    """Raises ConfigError where an experiment with the memory of a run would learn another one."""
    source = experiment.source
    if source is not None and source.needed and source.path is None and lesson_of(experiment, source) is not None:
        root = experiment.cfg["run"]["memory"]
        raise ConfigError(f"{run}: the memory that it learnt is no longer in {root}, here or above the run: restore it")


def training(
    experiment: Experiment, split: str | None, prefers: Sequence[str], key: str
) -> tuple[str, Sequence[Sample]] | None:
    """A split to learn from, with its samples but for those that are evaluated; None when there is none. ``split``
    None: the first that is preferred, else any that is not evaluated; ``key``: where it is configured. Raises
    ConfigError."""
    dataset = experiment.dataset
    others = [one for one in dataset.splits if one not in (dataset.split, *EVALUATED)]
    chosen = split or next((one for one in (*prefers, *others) if one in others), None)
    if chosen is None:
        return None
    if chosen not in others:
        have = ", ".join(others) or "none"
        raise ConfigError(
            f"{key}.split={chosen!r}: a {key} is learnt from another split than the evaluated one; there is {have}"
        )
    node = json.dumps(experiment.cfg["dataset"], sort_keys=True, default=str)
    return chosen, _apart(_Loaded(dataset, node, dataset.fingerprint), chosen, key)


@dataclass(frozen=True)
class _Loaded:
    """A dataset that is known by its config: the jobs of a sweep share what was read of it."""

    dataset: Dataset = field(compare=False)
    node: str
    fingerprint: str


@lru_cache(maxsize=2)
def _apart(loaded: _Loaded, split: str, key: str) -> Sequence[Sample]:
    """The samples of a split without those that are evaluated, by their text. Raises ConfigError when an id is."""
    dataset = loaded.dataset
    evaluated = [clean(sample) for sample in dataset.load(dataset.split)]
    ids, texts = {s.problem.id for s in evaluated}, {task_text(s.known_as) for s in evaluated}
    samples = [clean(sample) for sample in dataset.load(split)]
    for sample in samples:
        if (name := sample.problem.id) in ids:
            raise ConfigError(f"{key}.split={split!r}: sample {name!r} is evaluated too; training on it is refused")
    return tuple(sample for sample in samples if task_text(sample.problem) not in texts)


def known_by(sample: Sample) -> str:
    """A digest of the part of a sample that an agent may see, before a dataset rewords it; 16 hexadecimal digits."""
    return text_digest(task_text(sample.known_as))


def text_digest(text: str) -> str:
    """The digest of a task's text."""
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:16]


def _file_digests(sample: Sample) -> list[str]:
    """The content of a sample's images together, and of each of its files."""
    images = hashlib.sha256("".join(image.url for image in sample.problem.images).encode()).hexdigest()
    return [images, *(_file_digest(Path(path)) for path in sample.files.values())]


@lru_cache(maxsize=4096)
def _file_digest(path: Path) -> str:
    """The content of a file, or of all files of a folder; once per process."""
    paths = filter(Path.is_file, sorted(path.rglob("*")) if path.is_dir() else [path])
    contents = (one.name.encode() + hashlib.sha256(one.read_bytes()).digest() for one in paths)
    return hashlib.sha256(b"".join(contents)).hexdigest()


def prompt_manifests(experiment: Experiment) -> dict[str, LearntManifest]:
    """The manifests of the prompt sets that have one, by their names."""
    return {name: notes for name in experiment.prompts if (notes := manifest.read_learnt(place_of(name)))}


def privacy_of(notes: LearntManifest) -> str:
    """The class of the data that a prompt set was refined on."""
    return str((notes.get("dataset") or {}).get("privacy", "open"))
