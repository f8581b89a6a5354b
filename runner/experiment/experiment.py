"""An experiment: all that a run needs, and how it was asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from components.core.learning import Source, StandaloneStage
from components.core.protocols import Dataset, Model, Studying
from components.core.types import Sample

if TYPE_CHECKING:  # loaded for a config that is not refused
    from runner.episode.budget import Budget
    from runner.episode.shared import Parts


@dataclass(frozen=True)
class Launch:
    """How a run was asked for: choices per group, overrides, its place in a sweep (folder, job's name),
    the keys that the sweep varies, and the job's number in it."""

    choices: Mapping[str, str] = field(default_factory=dict)
    overrides: Sequence[str] = ()
    sweep: str | None = None
    label: str = ""
    swept: Sequence[str] = ()
    number: int | None = None


@dataclass(frozen=True)
class Experiment:
    """All that a run needs. ``models``: role -> model, ``budget`` that of the run, ``cfg`` the resolved config,
    ``prompts`` name of a prompt set -> digest."""

    name: str
    seed: int
    epochs: int
    parts: Parts
    models: Mapping[str, Model]
    dataset: Dataset
    samples: Sequence[Sample]
    budget: Budget
    cfg: Mapping[str, Any]
    prompts: Mapping[str, str]
    privacy: Mapping[str, str]
    launch: Launch = field(default_factory=Launch)
    source: Source | None = None
    stage: StandaloneStage | None = None


def study(experiment: Experiment, samples: Sequence[Sample] | None = None) -> None:
    """Give samples to models that know their answers privately; None: the whole evaluated split, even of a part."""
    dataset, cfg = experiment.dataset, experiment.cfg
    for model in experiment.models.values():
        if isinstance(model, Studying) and samples is not None:
            model.study(samples)
        elif isinstance(model, Studying):
            whole = cfg["limit"] is None and cfg["run"]["shard"] is None
            model.study(experiment.samples if whole else dataset.load(dataset.split))
