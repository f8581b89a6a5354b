"""Episodes in the layout of their method's publication: ``export.jsonl``, one line each.

An agent declares its layout as ``Requirements.export``. Keys that it leaves free hold what only the run knows: id,
epoch, dataset, split, method, model, settings (agent, memory, profile, seed, what holds code), prompts (set -> digest),
temperature (the model's), scores, usage, seconds, error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import orjson

from components.core.errors import ConfigError
from components.core.traits import requirements_of
from components.core.types import Sample, Trajectory
from runner.episode.ending import before_judging
from runner.job.rescore import beside, reopened
from runner.results.runs import Run
from runner.storage.stored import Unpacker
from runner.storage.texts import TextReader

if TYPE_CHECKING:
    from runner.experiment.experiment import Experiment

FILE = "export.jsonl"
Export = Callable[[Sample, Trajectory], Mapping[str, Any]]


def export(runs: Sequence[Run]) -> None:
    """Write the file of every run whose agent has a layout. Raises ConfigError when none has, or when a sample is no
    longer in the data."""
    without = []
    for run in runs:
        experiment = reopened(run.folder, run.cfg)
        layout = requirements_of(experiment.parts.agent).export
        if layout is None:
            without.append(run.choices.get("agent", "?"))
        else:
            _write(run, experiment, layout)
    names = ", ".join(dict.fromkeys(without))
    if len(without) == len(runs):
        raise ConfigError(f"export: the agent {names} declares no layout of published records (Requirements.export)")
    if without:
        print(f"without a layout of their own, left out: {names}")  # noqa: T201


def _write(run: Run, experiment: Experiment, layout: Export) -> None:
    """All episodes of a run in the order of its samples, in one move."""
    order = {sample.problem.id: number for number, sample in enumerate(experiment.samples)}
    unpacker = Unpacker(TextReader(run.folder))
    found = {
        (order[sample.problem.id], record["epoch"]): {
            **_facts(run, record), **layout(sample, before_judging(unpacker.trajectory(record))),
        }
        for record, sample in beside(run.folder, experiment)
    }  # fmt: skip
    path = run.folder / FILE
    fresh = path.with_name(FILE + ".tmp")
    fresh.write_bytes(
        b"".join(
            orjson.dumps(told, option=orjson.OPT_APPEND_NEWLINE)
            for _, told in sorted(found.items(), key=lambda one: one[0])
        )
    )
    fresh.replace(path)
    print(f"{len(found):,} episodes written to {path}")  # noqa: T201


def _facts(run: Run, record: Mapping[str, Any]) -> dict[str, Any]:
    """What the run knows of an episode."""
    data = run.manifest.get("dataset") or {}
    return {
        "id": record["sample_id"],
        "epoch": record["epoch"],
        "dataset": data.get("name"),
        "split": data.get("split"),
        "method": run.choices.get("agent"),
        "model": run.model,
        "settings": {
            "agent": run.cfg.get("agent"),
            "memory": run.cfg.get("memory"),
            "profile": run.choices.get("profile"),
            "seed": run.cfg.get("seed"),
            "sandbox": (run.manifest.get("sandbox") or {}).get("tier"),
        },
        "prompts": run.manifest.get("prompts"),
        "temperature": run.setting("model.temperature"),
        "scores": record["scores"],
        "usage": {key: value for key, value in record["usage"].items() if key != "purposes"},
        "seconds": record["seconds"],
        "error": record["error"],
    }
