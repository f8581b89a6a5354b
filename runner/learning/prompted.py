"""Prompt sets that a stage made: never played on what they were made from, and seen by whoever may see that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, get_args

from components.core.errors import ConfigError
from components.core.types import Privacy
from components.prompts import place_of
from runner.experiment.privacy import permit
from runner.experiment.select import clean
from runner.learning.lesson import known_by
from runner.storage import manifest
from runner.storage.schema import LearntManifest

if TYPE_CHECKING:
    from runner.experiment.experiment import Experiment


def check_prompts(experiment: Experiment) -> None:
    """Refuse sets that were refined on what is evaluated. Raises ConfigError, PrivacyRefused."""
    for name, notes in _made(experiment).items():
        permit(
            _privacy(notes),
            experiment.models,
            experiment.parts.toolset,
            f"data that the prompts {name!r} were refined on",
        )
        trained, dataset = set(notes.get("texts") or ()), experiment.dataset
        samples = map(clean, dataset.load(dataset.split)) if trained else ()
        if seen := [sample.problem.id for sample in samples if known_by(sample) in trained]:
            what = f"{len(seen)} of the samples that are evaluated, such as {seen[0]!r}"
            raise ConfigError(f"the prompts {name!r} were refined on {what}")


def inherited_texts(experiment: Experiment) -> list[str]:
    """Digests of all that the prompts of a config were refined on, which whatever is made of them was, too."""
    return [text for notes in _made(experiment).values() for text in notes.get("texts") or ()]


def inherited_privacy(experiment: Experiment) -> str:
    """The strictest class of the dataset and of what the prompts of a config were refined on."""
    classes: Sequence[str] = get_args(Privacy)
    return max([experiment.dataset.privacy, *map(_privacy, _made(experiment).values())], key=classes.index)


def _made(experiment: Experiment) -> dict[str, LearntManifest]:
    """The manifests of the prompt sets that have one, by their names."""
    return {name: notes for name in experiment.prompts if (notes := manifest.read_learnt(place_of(name)))}


def _privacy(notes: LearntManifest) -> str:
    return str((notes.get("dataset") or {}).get("privacy", "open"))
