"""Trying versions of a prompt set on samples, and two of them against each other per record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from components.at_once import together
from components.errors import ConfigError
from components.practice import Bench
from components.protocols import Agent
from components.stages.prompt_parts import record_of
from components.types import Played, Sample
from components.usage import Purposes, summed, usage_of

SOLVED = "solved"  # beside the scores: how right an episode was, by the score that decides
_SIZE, _EDGE = 320, 40  # of the plot, in pixels


@dataclass(frozen=True)
class Tried:
    """Episodes of one version: samples with what came of them, and as records for the paired test."""

    episodes: Sequence[tuple[Sample, Played]]
    records: Sequence[Mapping[str, Any]]

    def failed(self, by: str | None = None) -> list[tuple[Sample, Played]]:
        """Those that are scored below 1: by the score that decides, or ``by`` another. Raises ConfigError."""
        self._scored(by or SOLVED, "stage.solved_by")
        scored = zip(self.episodes, self.records, strict=True)
        return [
            one for one, record in scored if (value := record["scores"].get(by or SOLVED)) is not None and value < 1
        ]

    def mean(self, metric: str) -> float:
        """The mean of a score. Raises ConfigError for one that scores no episode."""
        return fmean(self._scored(metric, "stage.metric"))

    @property
    def usage(self) -> Purposes:
        """What the calls of all episodes took."""
        return summed(usage_of(one.trajectory)["purposes"] for _, one in self.episodes)

    def count(self, metric: str) -> int:
        """How many episodes have a score."""
        return sum(record["scores"].get(metric) is not None for record in self.records)

    def _scored(self, name: str, key: str) -> list[float]:
        """The values of a score, where it has any."""
        scores = [record["scores"] for record in self.records]
        if values := [value for of in scores if (value := of.get(name)) is not None]:
            return values
        have = {one for of in scores for one, value in of.items() if value is not None} - {SOLVED}
        what = "the score that decides" if name == SOLVED else repr(name)
        raise ConfigError(f"{key}: {what} scores no episode here; these do: {', '.join(sorted(have)) or 'none'}")


async def tried(bench: Bench, prompts: Path, samples: Sequence[Sample], trials: int = 1) -> Tried:
    """The agent of the config with the prompts of a folder on samples, each so many times."""
    agent = with_prompts(bench.agent, str(prompts))
    rounds = [(sample, epoch) for epoch in range(trials) for sample in samples]
    played = await together(bench.play(sample, agent, epoch) for sample, epoch in rounds)
    records = [
        {
            "sample_id": sample.problem.id,
            "epoch": epoch,
            "cluster": record_of(sample),
            "strata": dict(sample.strata),
            "stop": one.trajectory.stop,
            "scores": {SOLVED: one.score, **one.scores},
        }
        for (sample, epoch), one in zip(rounds, played, strict=True)
    ]
    return Tried([(sample, one) for (sample, _), one in zip(rounds, played, strict=True)], records)


def with_prompts(agent: Agent, prompts: str) -> Agent:
    """The agent with another prompt set. Raises ConfigError for one that has none."""
    if not isinstance(getattr(agent, "prompts", None), str):
        raise ConfigError(f"{type(agent).__name__} has no prompt set of its own that could be refined")
    changed: Agent = replace(agent, prompts=prompts)  # type: ignore[type-var]  # agents are frozen dataclasses
    return changed


def per_record(plain: Tried, refined: Tried, metric: str) -> list[dict[str, Any]]:
    """Record by record the means of both over questions and trials."""
    points: dict[str, tuple[list[float], list[float]]] = {}
    for side, of in enumerate((plain, refined)):
        for record in of.records:
            value = record["scores"].get(metric)
            if value is not None:
                points.setdefault(record["cluster"], ([], []))[side].append(value)
    return [
        {"record": name, "plain": fmean(left), "refined": fmean(right), "n": min(len(left), len(right))}
        for name, (left, right) in points.items()
        if left and right
    ]


def scatter(points: Sequence[Mapping[str, Any]], metric: str) -> str:
    """The points as an SVG: plain along, refined upwards, and the line y = x."""
    top = max([1e-9, *(point[side] for point in points for side in ("plain", "refined"))]) * 1.05
    inner = _SIZE - 2 * _EDGE

    def at(point: Mapping[str, Any]) -> str:
        x, y = _EDGE + point["plain"] / top * inner, _SIZE - _EDGE - point["refined"] / top * inner
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="#2a6f97" fill-opacity="0.6"/>'

    low, high = _EDGE, _SIZE - _EDGE
    frame = f'<rect x="{low}" y="{low}" width="{inner}" height="{inner}" fill="none" stroke="#888"/>'
    line = f'<line x1="{low}" y1="{high}" x2="{high}" y2="{low}" stroke="#888" stroke-dasharray="4"/>'
    words = (
        f'<text x="{_SIZE / 2}" y="{_SIZE - 8}" text-anchor="middle">plain, {metric}, 0 to {top:.2f}</text>'
        f'<text x="14" y="{_SIZE / 2}" text-anchor="middle" transform="rotate(-90 14 {_SIZE / 2})">refined</text>'
    )
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{_SIZE}" height="{_SIZE}" font-family="sans-serif"'
    return f'{head} font-size="11">{frame}{line}{"".join(map(at, points))}{words}</svg>\n'
