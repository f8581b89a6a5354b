"""Trying versions of a prompt set: on which records, with what result, and whether a new version is kept.

A new version is kept where a paired test says that it is better. Each round tests on the same validation records again,
so each gets an equal share of ``alpha`` (Bonferroni).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from components.core.concurrency import gather_all
from components.core.errors import ConfigError
from components.core.learning import StageContext
from components.core.protocols import Agent
from components.core.task_text import task_text
from components.core.types import EpisodeResult, Sample
from components.core.usage import Purposes, sum_usages, usage_of
from components.files.file_dataset import draw

SOLVED = "solved"  # next to the scores: how right an episode was, by the score that decides


def number(value: float | None) -> str:
    """A number as it is shown; a dash for none."""
    return "-" if value is None else f"{value:.3g}"


def record_of(sample: Sample) -> str:
    """The unit that must not be split: the record of a sample, or the sample if there is none."""
    return sample.cluster or sample.problem.id


@dataclass(frozen=True)
class Parts:
    """Samples of a split for training and validation, and evaluated ones to compare on; no two parts share a record."""

    split: str
    train: Sequence[Sample]
    validation: Sequence[Sample]
    compared: Sequence[Sample]

    @property
    def records(self) -> dict[str, list[str]]:
        """The records of each part."""
        parts = {"train": self.train, "validation": self.validation, "compared": self.compared}
        return {name: list(dict.fromkeys(map(record_of, part))) for name, part in parts.items()}


def parts_of(context: StageContext, split: str | None, train: int, validation: int, compare: int) -> Parts:
    """Draw the parts by whole records. Raises ConfigError for too few, evaluated ones, or a task in two parts."""
    seed = f"{context.seed}/refine_prompts"
    name, samples = context.training(split)
    records, evaluated = (list(dict.fromkeys(map(record_of, some))) for some in (samples, context.evaluated))
    if train + validation > len(records):
        raise ConfigError(
            f"{train} training and {validation} validation records are"
            f" requested, and the split {name!r} has {len(records)}"
        )
    chosen = draw(records, train + validation, seed)
    if both := sorted(set(chosen) & set(evaluated)):
        raise ConfigError(f"record {both[0]!r} is evaluated and in the split {name!r}; nothing is learnt from it")
    training = set(draw(chosen, train, f"{seed}/train"))
    learnt = [one for one in samples if record_of(one) in training]
    tested = [one for one in samples if record_of(one) in set(chosen) - training]
    texts = {task_text(one.problem) for one in learnt}
    if twin := next((one for one in tested if task_text(one.problem) in texts), None):
        raise ConfigError(
            f"sample {twin.problem.id!r} for validation has the same text as one for training: records of the split"
            f" {name!r} repeat each other; choose another seed, or fewer records"
        )
    compared = set(draw(evaluated, compare, f"{seed}/compare"))
    return Parts(name, learnt, tested, [one for one in context.evaluated if record_of(one) in compared])


@dataclass(frozen=True)
class Tried:
    """Episodes of one version: samples with their results, and records for the paired test."""

    episodes: Sequence[tuple[Sample, EpisodeResult]]
    records: Sequence[Mapping[str, Any]]

    def failed(self, by: str | None = None) -> list[tuple[Sample, EpisodeResult]]:
        """Those that are scored below 1: by the score that decides, or ``by`` another. Raises ConfigError."""
        self._scored(by or SOLVED, "stage.solved_by")
        values = [record["scores"].get(by or SOLVED) for record in self.records]
        return [one for one, value in zip(self.episodes, values, strict=True) if value is not None and value < 1]

    def mean(self, metric: str) -> float:
        """The mean of a score. Raises ConfigError for one that scores no episode."""
        return fmean(self._scored(metric, "stage.metric"))

    @property
    def usage(self) -> Purposes:
        """What the calls of all episodes took."""
        return sum_usages(usage_of(one.trajectory)["purposes"] for _, one in self.episodes)

    def count(self, metric: str) -> int:
        """How many episodes have a score."""
        return sum(record["scores"].get(metric) is not None for record in self.records)

    def check(self, metric: str, by: str | None = None) -> None:
        """Whether episodes have these scores, be it that these here are not scored. Raises ConfigError."""
        for name, key in ((metric, "stage.metric"), (by, "stage.solved_by")):
            if name is not None and not any(name in record["scores"] for record in self.records):
                self._scored(name, key)

    def _scored(self, name: str, key: str) -> list[float]:
        scores = [record["scores"] for record in self.records]
        if values := [value for of in scores if (value := of.get(name)) is not None]:
            return values
        have = {one for of in scores for one, value in of.items() if value is not None} - {SOLVED}
        what = "the score that decides" if name == SOLVED else repr(name)
        raise ConfigError(f"{key}: {what} scores no episode here; these do: {', '.join(sorted(have)) or 'none'}")


async def run_version(context: StageContext, prompts: Path, samples: Sequence[Sample], trials: int = 1) -> Tried:
    """The agent of the config with the prompts of a folder on samples, each so many times."""
    agent = with_prompts(context.agent, str(prompts))
    rounds = [(sample, epoch) for epoch in range(trials) for sample in samples]
    results = await gather_all(context.run_sample(sample, agent, epoch) for sample, epoch in rounds)
    records = [
        {
            "sample_id": sample.problem.id, "epoch": epoch, "cluster": record_of(sample),
            "strata": dict(sample.strata), "stop": one.trajectory.stop, "scores": {SOLVED: one.score, **one.scores},
        }
        for (sample, epoch), one in zip(rounds, results, strict=True)
    ]  # fmt: skip
    return Tried([(sample, one) for (sample, _), one in zip(rounds, results, strict=True)], records)


def with_prompts(agent: Agent, prompts: str) -> Agent:
    """The agent with another prompt set. Raises ConfigError for one that has none."""
    if not isinstance(getattr(agent, "prompts", None), str):
        raise ConfigError(f"{type(agent).__name__} has no prompt set of its own that could be refined")
    try:
        changed: Agent = replace(agent, prompts=prompts)  # type: ignore[type-var]  # agents are frozen dataclasses
    except ConfigError as error:
        raise ConfigError(
            f"{type(agent).__name__} cannot run with other prompts as it is set ({error}); refine them without that"
        ) from None
    return changed


def per_record(plain: Tried, refined: Tried, metric: str) -> list[dict[str, Any]]:
    """Record by record the means of both over questions and trials."""
    points: dict[str, tuple[list[float], list[float]]] = {}
    for side, of in enumerate((plain, refined)):
        for record in of.records:
            if (value := record["scores"].get(metric)) is not None:
                points.setdefault(record["cluster"], ([], []))[side].append(value)
    return [
        {"record": name, "plain": fmean(left), "refined": fmean(right), "n": min(len(left), len(right))}
        for name, (left, right) in points.items()
        if left and right
    ]


@dataclass(frozen=True)
class Gate:
    """``alpha`` None: open. ``rounds``: those that ``alpha`` is shared among."""

    metric: str
    alpha: float | None
    rounds: int

    @property
    def level(self) -> float | None:
        """The largest p with which a round's set is kept."""
        return None if self.alpha is None else self.alpha / self.rounds

    def check(self, records: int) -> None:
        """Whether so many validation records can pass it at all. Raises ConfigError."""
        if self.level is None:
            return
        if not records:
            raise ConfigError(
                "validation_records=0 leaves nothing to test on; give some, or alpha=null to keep each set"
            )
        least = 0.5 ** (records - 1)  # all records better, of 2^n signs
        if least > self.level:
            enough = 1 + math.ceil(-math.log2(self.level))
            raise ConfigError(
                f"validation_records={records}: a paired test on so few has no p below {number(least)}, and a round is"
                f" kept up to {self.said}; give {enough} or more, or alpha=null to keep each set"
            )

    @property
    def said(self) -> str:
        """The largest p in words."""
        shared = f" ({self.alpha} over {self.rounds} rounds)" if self.rounds > 1 else ""
        return f"{number(self.level)}{shared}"

    def decision(self, context: StageContext, before: Tried | None, after: Tried | None) -> dict[str, Any]:
        """Whether the new set is kept, by which numbers, and why."""
        is_open = {"kept": True, "why": "there is no gate"}
        if before is None or after is None:
            return is_open
        gain = dict(context.gain(after.records, before.records, self.metric))
        reached = after.mean(self.metric) if after.count(self.metric) else None  # a set may break all there is
        scores = {"before": before.mean(self.metric), "after": reached, "gain": gain}
        if self.level is None:
            return {**scores, **is_open}
        lost, p = before.count(self.metric) - after.count(self.metric), gain["p"]
        better = (gain["gain"] or 0.0) > 0
        kept = lost <= 0 and better and p is not None and p <= self.level
        test = f"{gain['test']} p {number(p)}"
        why = f"gain in {gain['metric']} {number(gain['gain'])} over {gain['pairs']} pairs, {test}"
        if lost > 0:
            why += f", but {lost} episodes fewer have that score"
        else:
            why += f" <= {self.said}" if kept else f": not below {self.said}" if better else ": no gain"
        return {**scores, "level": self.level, "kept": kept, "why": why}
