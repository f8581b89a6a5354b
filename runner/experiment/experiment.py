"""An experiment: all that a run needs, how it was requested, which samples it takes, and its facts for the manifest."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any, Protocol

from components.core.errors import ConfigError
from components.core.learning import Source, StandaloneStage
from components.core.protocols import Dataset, Model, Scorer
from components.core.redaction import redact
from components.core.traits import (
    DatasetTraits,
    ModelTraits,
    Requirements,
    ScorerTraits,
    ToolsetTraits,
    ToolTraits,
    agents_in,
    declared,
)
from components.core.types import Sample, Trajectory
from runner.config.catalogue import Catalogue
from runner.config.schema import read_shard
from runner.episode.budget import Budget
from runner.episode.door import Door
from runner.episode.shared import Parts
from runner.experiment.parts import has_price, sandbox_of
from runner.storage.schema import Manifest
from runner.storage.texts import without_surrogates

_SAME_RESULT = ("run", "tracking", "hydra", "name", "experiment", "compare", "search")


@dataclass(frozen=True)
class Launch:
    """How a run was started: choices per group, overrides, its place in a sweep (folder, job's name), the keys that the
    sweep varies, and the job's number in it."""

    choices: Mapping[str, str] = field(default_factory=dict)
    overrides: Sequence[str] = ()
    sweep: str | None = None
    label: str = ""
    swept: Sequence[str] = ()
    number: int | None = None


class Forks(Protocol):
    """Recorded episodes that are continued: which sample under which number, in order, and how one is solved."""

    @property
    def order(self) -> Sequence[tuple[Sample, int]]: ...

    async def solve(self, parts: Parts, door: Door, sample: Sample, epoch: int) -> Trajectory: ...


@dataclass(frozen=True)
class Experiment:
    """All that a run needs. ``models``: role -> model, ``budget`` that of the run, ``cfg`` the resolved config,
    ``prompts`` name of a prompt set -> digest; ``forks``: what is run in place of every sample in every epoch."""

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
    forks: Forks | None = None

    @property
    def episodes(self) -> Sequence[tuple[Sample, int]]:
        """The episodes to run: samples with the number of the epoch, or of the fork."""
        if self.forks is not None:
            return self.forks.order
        return [(sample, epoch) for sample in self.samples for epoch in range(self.epochs)]


def study(experiment: Experiment, samples: Sequence[Sample] | None = None) -> None:
    """Give samples to models that know their answers privately; None: the whole evaluated split, even of a part."""
    dataset, cfg = experiment.dataset, experiment.cfg
    for model in experiment.models.values():
        take = declared(model, ModelTraits).study
        if take is not None and samples is not None:
            take(samples)
        elif take is not None:
            whole = cfg["limit"] is None and cfg["run"]["shard"] is None
            take(experiment.samples if whole else dataset.load(dataset.split))


def select(dataset: Dataset, *, limit: int | None, shard: str | None, seed: int) -> list[Sample]:
    """The samples of the evaluated split in the dataset's order: a draw of ``limit`` that depends on the seed alone,
    and of it every fourth where ``shard`` is "2/4", beginning with the second."""
    if dataset.splits and dataset.split not in dataset.splits:
        raise ConfigError(f"dataset.split={dataset.split!r}: this dataset has {', '.join(dataset.splits)}")
    samples = [clean(sample) for sample in dataset.load(dataset.split)]
    if double := next((name for name, n in Counter(one.problem.id for one in samples).items() if n > 1), None):
        raise ConfigError(f"sample id {double!r} is duplicated in the dataset; ids must be unique")
    if limit is not None and limit < len(samples):
        drawn = Random(f"{seed}/limit").sample(range(len(samples)), limit)
        samples = [samples[i] for i in sorted(drawn)]
    if shard is not None:
        part, parts = read_shard(shard)
        samples = samples[part - 1 :: parts]
    if not samples:
        raise ConfigError(f"no sample is left to run in split {dataset.split!r} (limit={limit}, run.shard={shard})")
    return samples


def clean(sample: Sample) -> Sample:
    """The sample without lone surrogates, which no file and no endpoint takes; ``?`` replaces them."""
    problem = sample.problem
    texts = (sample.problem.id, problem.question, problem.context, *problem.choices, *problem.choices.values())
    if all(without_surrogates(text) == text for text in (*texts, sample.cluster or "")):
        return sample
    choices = {without_surrogates(k): without_surrogates(v) for k, v in problem.choices.items()}
    fixed: dict[str, Any] = {name: without_surrogates(vars(problem)[name]) for name in ("id", "question", "context")}
    fresh = replace(problem, **fixed, choices=choices)
    cluster = None if sample.cluster is None else without_surrogates(sample.cluster)
    strata = {without_surrogates(k): without_surrogates(v) for k, v in sample.strata.items()}
    return replace(sample, problem=fresh, cluster=cluster, strata=strata)


def facts_of(experiment: Experiment) -> Manifest:
    """The facts that are known before the first sample."""
    cfg, dataset, main = experiment.cfg, experiment.dataset, experiment.models["main"]
    servers = dict(declared(experiment.parts.toolset, ToolsetTraits).identities)
    prices = {role: row for role, model in experiment.models.items() if (row := declared(model, ModelTraits).price)}
    return {
        "name": experiment.name,
        "sweep": experiment.launch.sweep and Path(experiment.launch.sweep).name,
        "number": experiment.launch.number,
        "choices": dict(experiment.launch.choices),
        "varied": command_line_settings(experiment.launch.overrides),
        "swept": list(experiment.launch.swept),
        "model_kind": main.kind if cfg["run"]["replay"] is False else "replayed",
        "models": {role: model.name for role, model in experiment.models.items()},
        "identities": {role: redact(model.identity) for role, model in experiment.models.items()},
        "dataset": {
            "name": experiment.launch.choices.get("dataset", type(dataset).__name__),
            "split": dataset.split,
            "fingerprint": dataset.fingerprint,
            "base": declared(dataset, DatasetTraits).base or dataset.fingerprint,
            "samples": len(experiment.samples),
            "ids": hashlib.sha256("\n".join(s.problem.id for s in experiment.samples).encode()).hexdigest()[:16],
            "privacy": dataset.privacy,
        },
        "privacy": dict(experiment.privacy),
        "prompts": dict(experiment.prompts),
        "scorers": {name: scorer.version for name, scorer in experiment.parts.scorers.items()},
        **declared_scores(experiment.parts.scorers),
        "memory": None,
        "sandbox": sandbox_of(experiment.parts),
        "prices": prices,
        "seed": experiment.seed,
        "epochs": experiment.epochs,
        "limit": cfg["limit"],
        "shard": cfg["run"]["shard"],
        "notes": _notes(experiment),
        **({"servers": servers} if servers else {}),
    }


def _notes(experiment: Experiment) -> list[str]:
    toolset = declared(experiment.parts.toolset, ToolsetTraits)
    notes = [*toolset.notes, *_chosen_by_agent(experiment.launch)]
    for name, tool in toolset.tools.items():  # that would have a model look at an image
        role = declared(tool, ToolTraits).asks
        model = experiment.models.get(role or "", experiment.models["main"])
        if role and tool.spec.facts.get("needs") == "image" and not declared(model, ModelTraits).vision:
            notes.append(f"{name} will be unavailable: {model.name} takes no images; name another as models.{role}")
    if experiment.cfg["run"]["replay"] is not False and experiment.models["main"].kind == "simulated":
        notes.append("replayed from a simulated model: these numbers say nothing about any real model")
    if any(declared(agent, Requirements).oracle for agent in agents_in(experiment.parts.agent)):
        notes.append("the agent learns whether its answer is right: not comparable with agents that do not")
    if (held := sandbox_of(experiment.parts)) is not None and held.get("unsafe_local"):
        notes.append("code that models wrote ran without isolation, under resource limits only (sandbox.unsafe_local)")
    for role, model in experiment.models.items():
        if declared(model, ModelTraits).price is not None and not has_price(model):  # else its replies may report it
            notes.append(
                f"the price of {model.name} ({role}) is not known: cost is left out; set model.price to have it"
            )
    return notes


def _chosen_by_agent(launch: Launch) -> Iterator[str]:
    """That the data are those of the agent's file, where nobody named any."""
    agent, words = launch.choices.get("agent", ""), {word.partition("=")[0] for word in launch.overrides}
    choice = None if words & {"dataset", "experiment"} else Catalogue().get("agent", agent)
    if choice and any(" /dataset@" in line for line in choice.lines):
        yield f"agent={agent} chooses dataset={launch.choices['dataset']}; another: dataset=NAME"


def command_line_settings(overrides: Sequence[str]) -> dict[str, str]:
    """What the command line set, without what cannot change a result."""
    pairs = (override.lstrip("+~").partition("=") for override in overrides)
    return {k: redact(v) for k, _, v in pairs if k.partition(".")[0] not in _SAME_RESULT}


def declared_scores(scorers: Mapping[str, Scorer]) -> Manifest:
    """What the scorers declare of their scores. Raises ConfigError for strata without the names of the scores."""
    traits = {key: declared(scorer, ScorerTraits) for key, scorer in scorers.items()}
    each = traits.values()
    return {
        "levels": _strata({key: (one.names, one.levels) for key, one in traits.items()}, "levels"),
        "by": _strata({key: (one.names, one.by) for key, one in traits.items()}, "by"),
        "lower": [name for one in each for name in one.lower],
        "neither": [name for one in each for name in one.neither],
        "units": {name: unit for one in each for name, unit in one.units.items()},
        "kinds": {name: kind for one in each for name, kind in one.kinds.items()},
        "decides": next((one.decides for one in each if one.decides), None),
    }


def _strata(scorers: Mapping[str, tuple[Sequence[str], Sequence[str]]], what: str) -> dict[str, list[str]]:
    """Score -> strata, of the scorers that have any."""
    found: dict[str, list[str]] = {}
    for key, (names, strata) in scorers.items():
        if strata and not names:
            raise ConfigError(f"scorer.{key}: it has {what} {[*strata]}, but no names of the scores they are for")
        found |= {name: [*strata] for name in names if strata}
    return found
