"""What is known of a run before its first sample: for the manifest, and to recognise the folder of this run."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from components.core.errors import ConfigError
from components.core.protocols import Scorer
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
from runner.experiment.checks import has_price, sandbox_of
from runner.storage.schema import Manifest

if TYPE_CHECKING:
    from runner.experiment.experiment import Experiment

_SAME_RESULT = ("run", "tracking", "hydra", "name", "experiment", "compare", "search")


def facts_of(experiment: Experiment) -> Manifest:
    """What is known before the first sample."""
    cfg, dataset, main = experiment.cfg, experiment.dataset, experiment.models["main"]
    prices = {role: row for role, model in experiment.models.items() if (row := declared(model, ModelTraits).price)}
    return {
        "name": experiment.name,
        "sweep": sweep_id(experiment.launch.sweep),
        "number": experiment.launch.number,
        "choices": dict(experiment.launch.choices),
        "varied": varied(experiment.launch.overrides),
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
    }


def _notes(experiment: Experiment) -> list[str]:
    """What a reader of the results must know."""
    notes = [*declared(experiment.parts.toolset, ToolsetTraits).notes, *_blind_tools(experiment)]
    if experiment.cfg["run"]["replay"] is not False and experiment.models["main"].kind == "simulated":
        notes.append("replayed from a simulated model: these numbers say nothing about any real model")
    if any(declared(agent, Requirements).oracle for agent in agents_in(experiment.parts.agent)):
        notes.append("the agent is told whether its answer is right: not comparable with agents that are not")
    if (held := sandbox_of(experiment.parts)) is not None and held.get("unsafe_local"):
        notes.append("code that models wrote ran unheld, but for limits (sandbox.unsafe_local)")
    for role, model in experiment.models.items():
        if not has_price(model):
            notes.append(
                f"the price of {model.name} ({role}) is not known: cost is left out; set model.price to have it"
            )
    return notes


def _blind_tools(experiment: Experiment) -> list[str]:
    """Tools that would have a model look at an image, where that model takes none."""
    found = []
    for name, tool in declared(experiment.parts.toolset, ToolsetTraits).tools.items():
        if (role := declared(tool, ToolTraits).asks) is None or tool.spec.facts.get("needs") != "image":
            continue
        model = experiment.models.get(role, experiment.models["main"])
        if not declared(model, ModelTraits).vision:
            found.append(f"{name} will be unavailable: {model.name} takes no images; name another as models.{role}")
    return found


def varied(overrides: Sequence[str]) -> dict[str, str]:
    """What the command line set, without what cannot change a result."""
    pairs = (override.lstrip("+~").partition("=") for override in overrides)
    return {k: redact(v) for k, _, v in pairs if k.partition(".")[0] not in _SAME_RESULT}


def sweep_id(folder: str | None) -> str | None:
    """The name of a sweep: its folder's."""
    return None if folder is None else Path(folder).name


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
