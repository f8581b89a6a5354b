"""Prompt sets that a stage made: never played on what they were made from, and seen by whoever may see that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.errors import ConfigError
from components.prompts import place_of
from runner import manifest
from runner.fitting import permit
from runner.learning.lesson import known_by
from runner.select import clean

if TYPE_CHECKING:
    from runner.experiment import Experiment


def check_prompts(experiment: Experiment) -> None:
    """Refuse sets that were refined on what is evaluated. Raises ConfigError, PrivacyRefused."""
    for name in experiment.prompts:
        notes = manifest.read(place_of(name))
        if not notes:
            continue
        privacy = (notes.get("dataset") or {}).get("privacy", "open")
        permit(privacy, experiment.models, experiment.parts.toolset, f"data that the prompts {name!r} were refined on")
        trained, dataset = set(notes.get("texts") or ()), experiment.dataset
        samples = map(clean, dataset.load(dataset.split)) if trained else ()
        if seen := [sample.problem.id for sample in samples if known_by(sample) in trained]:
            what = f"{len(seen)} of the samples that are evaluated, such as {seen[0]!r}"
            raise ConfigError(f"the prompts {name!r} were refined on {what}")
