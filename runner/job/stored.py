"""Stored runs with their samples: scored again, and exported in the layout of a publication."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from components.core.errors import ConfigError
from components.core.moved import renew
from components.core.traits import Requirements, declared
from components.core.types import Sample
from runner.episode.ending import before_judging, score_all
from runner.experiment.experiment import Experiment
from runner.job.prepare import check
from runner.results.runs import Run
from runner.storage import disk, manifest
from runner.storage.integrity import digests_of
from runner.storage.records import FILE, RecordWriter, read
from runner.storage.resume import CONFIG
from runner.storage.schema import Record
from runner.storage.stored import Unpacker
from runner.storage.texts import TextReader

EXPORT_FILE = "export.jsonl"


def rebuild_experiment(folder: Path, cfg: Mapping[str, Any]) -> Experiment:
    """The experiment of a folder, without a model to ask. Raises ConfigError."""
    if not isinstance(cfg.get("run"), Mapping):
        raise ConfigError(f"{folder / CONFIG} is damaged: it is not the config of a run")
    # A replay builds its models without keys; nothing is asked, so the folder may stand for the journal.
    return check({**renew(cfg), "run": {**cfg["run"], "replay": str(folder)}})


def with_samples(folder: Path, experiment: Experiment) -> Iterator[tuple[Record, Sample]]:
    """The records and their samples. Raises ConfigError when a sample is no longer in the data."""
    samples = {sample.problem.id: sample for sample in experiment.samples}
    for record in read(folder):
        sample = samples.get(record["sample_id"])
        if sample is None:
            raise ConfigError(f"{folder}: sample {record['sample_id']!r} is no longer in the dataset")
        yield record, sample


def rescored_records(folder: Path, cfg: Mapping[str, Any]) -> list[Record]:
    """The folder's records with fresh scores. Raises ConfigError."""
    experiment = rebuild_experiment(folder, cfg)
    unpacker = Unpacker(TextReader(folder))
    out = []
    for record, sample in with_samples(folder, experiment):
        if record["stop"] != "error":
            trajectory = unpacker.trajectory(record)
            scores = asyncio.run(score_all(experiment.parts.scorers, sample, trajectory))
            record["scores"] = {s.name: s.value for s in scores}
            record["ceilings"] = {s.name: s.ceiling for s in scores if s.ceiling is not None}
            record["explanations"] = {s.name: s.explanation for s in scores if s.explanation}
        out.append(record)
    return out


def replace_records(folder: Path, records: Sequence[Mapping[str, Any]]) -> None:
    """Replace the records of a folder, in one move."""
    writer = RecordWriter(folder)
    disk.replace(folder / FILE, _lines(records))
    writer.close()
    if notes := manifest.read(folder):
        manifest.write(folder, notes | {"files": digests_of(folder)})


def _lines(rows: Iterable[Mapping[str, Any]]) -> str:
    return b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows).decode()


def export(runs: Sequence[Run]) -> None:
    """Write the file of every run whose agent has a layout, in the order of its samples. Raises ConfigError."""
    without = []
    for run in runs:
        experiment = rebuild_experiment(run.folder, run.cfg)
        layout = declared(experiment.parts.agent, Requirements).export
        if layout is None:
            without.append(run.choices.get("agent", "?"))
            continue
        order = {sample.problem.id: number for number, sample in enumerate(experiment.samples)}
        unpacker, episodes = Unpacker(TextReader(run.folder)), {}
        for record, sample in with_samples(run.folder, experiment):
            episode = layout(sample, before_judging(unpacker.trajectory(record)))
            episodes[order[sample.problem.id], record["epoch"]] = {**_facts(run, record), **episode}
        disk.replace(path := run.folder / EXPORT_FILE, _lines(episodes[key] for key in sorted(episodes)))
        print(f"{len(episodes):,} episodes written to {path}")  # noqa: T201
    names = ", ".join(dict.fromkeys(without))
    if len(without) == len(runs):
        raise ConfigError(f"export: the agent {names} has no export format (Requirements.export)")
    if without:
        print(f"left out, without an export format: {names}")  # noqa: T201


def _facts(run: Run, record: Mapping[str, Any]) -> dict[str, Any]:
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
