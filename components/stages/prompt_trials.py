"""Trying versions of a prompt set on samples, and two of them against each other per record."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any
from xml.sax.saxutils import escape

from components.core.concurrency import together
from components.core.errors import ConfigError
from components.core.learning import StageContext
from components.core.protocols import Agent
from components.core.types import Played, Sample
from components.core.usage import Purposes, summed, usage_of
from components.stages.prompt_parts import record_of

SOLVED = "solved"  # beside the scores: how right an episode was, by the score that decides
_SIZE, _EDGE = 360, 50  # of the plot, in pixels


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

    def check(self, metric: str, by: str | None = None) -> None:
        """Whether episodes have these scores, be it that these here are not scored. Raises ConfigError."""
        for name, key in ((metric, "stage.metric"), (by, "stage.solved_by")):
            if name is not None and not any(name in record["scores"] for record in self.records):
                self._scored(name, key)

    def _scored(self, name: str, key: str) -> list[float]:
        """The values of a score, where it has any."""
        scores = [record["scores"] for record in self.records]
        if values := [value for of in scores if (value := of.get(name)) is not None]:
            return values
        have = {one for of in scores for one, value in of.items() if value is not None} - {SOLVED}
        what = "the score that decides" if name == SOLVED else repr(name)
        raise ConfigError(f"{key}: {what} scores no episode here; these do: {', '.join(sorted(have)) or 'none'}")


async def tried(bench: StageContext, prompts: Path, samples: Sequence[Sample], trials: int = 1) -> Tried:
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
    try:
        changed: Agent = replace(agent, prompts=prompts)  # type: ignore[type-var]  # agents are frozen dataclasses
    except ConfigError as error:
        raise ConfigError(
            f"{type(agent).__name__} plays with no other prompts as it is set ({error}); refine them without that"
        ) from None
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


def scatter(points: Sequence[Mapping[str, Any]], metric: str, better: str) -> str:
    """The points as an SVG: plain along, refined upwards, both from 0 to the same end, and the line y = x.

    ``better``: ``lower`` or ``higher``, which tells on which side of the line refined is better.
    """
    top = _round_end(max([0.0, *(point[side] for point in points for side in ("plain", "refined"))]))
    low, high, inner = _EDGE, _SIZE - _EDGE, _SIZE - 2 * _EDGE
    parts = [
        f'<rect width="{_SIZE}" height="{_SIZE}" fill="#fff"/>',
        f'<rect x="{low}" y="{low}" width="{inner}" height="{inner}" fill="none" stroke="#888"/>',
        f'<line x1="{low}" y1="{high}" x2="{high}" y2="{low}" stroke="#888" stroke-dasharray="4"/>',
    ]
    for share in (0.0, 0.5, 1.0):
        across, up = low + share * inner, high - share * inner
        parts.append(f'<text x="{across}" y="{high + 15}" text-anchor="middle">{share * top:g}</text>')
        parts.append(f'<text x="{low - 6}" y="{up + 4}" text-anchor="end">{share * top:g}</text>')
    for point in points:
        x, y = low + point["plain"] / top * inner, high - point["refined"] / top * inner
        said = escape(f"{point['record']}: plain {point['plain']:.3g}, refined {point['refined']:.3g}")
        dot = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="#2a6f97" fill-opacity="0.6">'
        parts.append(f"{dot}<title>{said}</title></circle>")
    side, middle = "below" if better == "lower" else "above", _SIZE / 2
    parts += [
        f'<text x="{middle}" y="{low - 12}" text-anchor="middle">{side} the line refined is better</text>',
        f'<text x="{middle}" y="{_SIZE - 10}" text-anchor="middle">plain: mean {escape(metric)}</text>',
        f'<text x="14" y="{middle}" text-anchor="middle" transform="rotate(-90 14 {middle})">refined</text>',
    ]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{_SIZE}" height="{_SIZE}" font-family="sans-serif"'
    return f'{head} font-size="11">{"".join(parts)}</svg>\n'


def _round_end(value: float) -> float:
    """The next of 1, 1.2, 1.6, 2, 3, 4, 6, 8 times a power of ten; 1 for nothing."""
    if value <= 0:
        return 1.0
    unit = 10.0 ** math.floor(math.log10(value))
    return next(step * unit for step in (1.0, 1.2, 1.6, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0) if step * unit >= value)
