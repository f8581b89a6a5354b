"""Which samples a run takes: a seeded draw, epochs, and one part of them per shard."""

from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

from components.core.errors import ConfigError
from components.core.messages import encodable
from components.core.protocols import Dataset
from components.core.types import Sample
from runner.config.schema import read_shard
from runner.storage.texts import without_surrogates


def select(dataset: Dataset, *, limit: int | None, shard: str | None, seed: int) -> list[Sample]:
    """The samples of the evaluated split in the dataset's order.

    ``limit`` is a draw that depends on the seed alone; ``shard`` "2/4" takes every fourth of it,
    counted from 1, so that all shards together are the whole.
    """
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
    if all(text.isascii() or encodable(text) for text in texts) and encodable(sample.cluster or ""):
        return sample
    choices = {without_surrogates(k): without_surrogates(v) for k, v in problem.choices.items()}
    fixed: dict[str, Any] = {name: without_surrogates(vars(problem)[name]) for name in ("id", "question", "context")}
    fresh = replace(problem, **fixed, choices=choices)
    cluster = None if sample.cluster is None else without_surrogates(sample.cluster)
    strata = {without_surrogates(k): without_surrogates(v) for k, v in sample.strata.items()}
    return replace(sample, problem=fresh, cluster=cluster, strata=strata)
