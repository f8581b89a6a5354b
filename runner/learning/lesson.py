"""What a memory is made of: training samples, none of which is evaluated, and the digest of all that decides it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from components.core.errors import ConfigError
from components.core.learning import Source, task_of
from components.core.moved import as_first_named
from components.core.plain import Accept, Intact
from components.core.protocols import Dataset
from components.core.redaction import redact
from components.core.task_text import task_text
from components.core.traits import SourceTraits, StageTraits, declared
from components.core.types import Privacy, Sample
from components.files.samples import draw
from components.prompts import place_of
from runner.experiment.experiment import clean
from runner.experiment.parts import prompt_digests
from runner.storage import manifest
from runner.storage.schema import LearntManifest

if TYPE_CHECKING:
    from runner.experiment.experiment import Experiment

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
        """The digest of all that decides what is learnt from them."""
        return _recipe(self.experiment, self.split, self.samples)


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


def training(
    experiment: Experiment, split: str | None, prefers: Sequence[str], key: str
) -> tuple[str, Sequence[Sample]] | None:
    """A split to learn from, with its samples but for those that are evaluated; None when there is none.

    ``split`` None: the first that is preferred, else any that is not evaluated; ``key``: where it is configured.
    Raises ConfigError.
    """
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
    return chosen, _apart(_Loaded(dataset, node), chosen, key)


class _Loaded:
    """A dataset that is known by its config: the jobs of a sweep share what was read of it."""

    def __init__(self, dataset: Dataset, node: str) -> None:
        self.dataset, self._known = dataset, (node, dataset.fingerprint)

    def __hash__(self) -> int:
        return hash(self._known)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Loaded) and other._known == self._known


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
    """A digest of what an agent may see of a sample before a dataset put it otherwise, 16 hexadecimal digits."""
    return text_digest(task_text(sample.known_as))


def text_digest(text: str) -> str:
    """The digest of a task's text."""
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:16]


def _recipe(experiment: Experiment, split: str, samples: Sequence[Sample]) -> str:
    """What decides the files of a memory; not the verifier, and not how the memory is shown."""
    cfg, parts = experiment.cfg, experiment.parts
    asked = {role: model for role, model in experiment.models.items() if role != "verifier"}
    stage = None if experiment.source is None else experiment.source.stage
    ignored = () if stage is None else declared(stage, StageTraits).ignores
    cfg = as_first_named(cfg)
    made = {key: cfg[key] for key in _MAKES}
    made["agent"] = {key: value for key, value in cfg["agent"].items() if key not in ignored}
    made |= {
        "stage": cfg["memory"]["stage"],
        "budget": cfg["budget"]["sample"],
        "seed": experiment.seed,
        "models": {role: [redact(model.identity), model.sampling.wire.decode()] for role, model in asked.items()},
        "split": split,
        "samples": [_content(sample) for sample in samples],
        "scorers": {name: scorer.version for name, scorer in parts.scorers.items()},
        "prompts": prompt_digests(replace(parts, verifier=Accept(), condition=Intact()), stage),
    }
    return hashlib.sha256(json.dumps(made, sort_keys=True, default=str).encode()).hexdigest()[:16]


def _content(sample: Sample) -> list[str]:
    """What a sample holds, its files too."""
    images = hashlib.sha256("".join(image.url for image in sample.problem.images).encode()).hexdigest()
    files = [_file_digest(Path(path)) for path in sample.files.values()]
    return [sample.problem.id, known_by(sample), str(sample.target), str(dict(sample.metadata)), images, *files]


@lru_cache(maxsize=4096)
def _file_digest(path: Path) -> str:
    """The content of a file, or of all files of a folder; once per process."""
    paths = sorted(path.rglob("*")) if path.is_dir() else [path]
    whole = hashlib.sha256()
    for one in paths:
        if one.is_file():
            whole.update(one.name.encode() + hashlib.sha256(one.read_bytes()).digest())
    return whole.hexdigest()


def inherited_texts(experiment: Experiment) -> list[str]:
    """Digests of all that the prompts of a config were refined on, which whatever is made of them was, too."""
    return [text for notes in prompt_manifests(experiment).values() for text in notes.get("texts") or ()]


def inherited_privacy(experiment: Experiment) -> str:
    """The strictest class of the dataset and of what the prompts of a config were refined on."""
    classes: Sequence[str] = get_args(Privacy)
    return max([experiment.dataset.privacy, *map(privacy_of, prompt_manifests(experiment).values())], key=classes.index)


def prompt_manifests(experiment: Experiment) -> dict[str, LearntManifest]:
    """The manifests of the prompt sets that have one, by their names."""
    return {name: notes for name in experiment.prompts if (notes := manifest.read_learnt(place_of(name)))}


def privacy_of(notes: LearntManifest) -> str:
    """The class of the data that a prompt set was refined on."""
    return str((notes.get("dataset") or {}).get("privacy", "open"))
