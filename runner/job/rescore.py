"""Stored trajectories beside their samples, and their scores, made again by the scorers of the folder's config."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from components.core.errors import ConfigError
from components.core.moved import renewed
from components.core.types import Sample
from runner.episode.ending import scored
from runner.storage.records import FILE, RecordWriter, read
from runner.storage.schema import Record
from runner.storage.stored import Unpacker
from runner.storage.texts import TextReader

if TYPE_CHECKING:
    from runner.experiment.experiment import Experiment


def reopened(folder: Path, cfg: Mapping[str, Any]) -> Experiment:
    """The experiment of a folder, without a model to ask. Raises ConfigError."""
    from runner.job.prepare import check

    # A replay builds its models without keys; nothing is asked, so the folder may stand for the journal.
    return check({**renewed(cfg), "run": {**cfg["run"], "replay": str(folder)}})


def beside(folder: Path, experiment: Experiment) -> Iterator[tuple[Record, Sample]]:
    """The records and their samples. Raises ConfigError when a sample is no longer in the data."""
    samples = {sample.problem.id: sample for sample in experiment.samples}
    for record in read(folder):
        sample = samples.get(record["sample_id"])
        if sample is None:
            raise ConfigError(f"{folder}: sample {record['sample_id']!r} is not in the dataset any more")
        yield record, sample


def rescored(folder: Path, cfg: Mapping[str, Any]) -> list[Record]:
    """The folder's records with fresh scores. Raises ConfigError."""
    experiment = reopened(folder, cfg)
    unpacker = Unpacker(TextReader(folder))
    out = []
    for record, sample in beside(folder, experiment):
        if record["stop"] != "error":
            trajectory = unpacker.trajectory(record)
            scores = asyncio.run(scored(experiment.parts.scorers, sample, trajectory))
            record["scores"] = {s.name: s.value for s in scores}
            record["ceilings"] = {s.name: s.ceiling for s in scores if s.ceiling is not None}
            record["explanations"] = {s.name: s.explanation for s in scores if s.explanation}
        out.append(record)
    return out


def rewrite(folder: Path, records: Sequence[Mapping[str, Any]]) -> None:
    """Replace the records of a folder, in one move."""
    writer = RecordWriter(folder)
    fresh = folder / (FILE + ".tmp")
    with fresh.open("wb") as file:
        for record in records:
            file.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
    fresh.replace(folder / FILE)
    writer.close()
