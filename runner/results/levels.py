"""Means of means: of the samples of each task, of the tasks of each dimension, of the dimensions.

A scorer asks for them with ``levels``, the strata from the inner to the outer one, and ``names``, its scores. With
``by`` it asks for plain means per value of a stratum, beside the plain mean of all samples (``pooled``).
Intervals: percentile bootstrap, clusters drawn again within every innermost group, 500 resamples with a fixed
seed, their deviations scaled to what means of so many clusters have (Rao & Wu 1988), and the interval by Student's t
over the normal quantile, with degrees of freedom pooled over the groups (Satterthwaite 1946). A group whose values are
all 0 or all 1 has nothing to draw: Jeffreys' posterior of its clusters (Brown, Cai & DasGupta 2001), moved to the
group's mean and as wide as such means vary by it, stands for it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from components.errors import ConfigError
from runner.results.intervals import Metric, Z, drawn_sums, student

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import Generator
    from numpy.typing import NDArray

RESAMPLES = 500
Levels = Mapping[str, Sequence[str]]
Record = Mapping[str, Any]


def declared(scorers: Mapping[str, Any], what: str = "levels") -> dict[str, list[str]]:
    """Score -> strata, of the scorers that have any (``what``: levels or by). Raises ConfigError for strata without
    the scores' names."""
    found: dict[str, list[str]] = {}
    for key, scorer in scorers.items():
        if levels := list(getattr(scorer, what, ())):
            names = getattr(scorer, "names", ())
            if not names:
                raise ConfigError(f"scorer.{key}: it has {what} {levels}, but no names of the scores they are for")
            found |= dict.fromkeys(names, levels)
    return found


@dataclass(frozen=True)
class Part:
    """A mean and how it varies: ``draws`` (resamples) is None where that cannot be told; ``shares``: all values are
    in 0 to 1, and so is the interval; ``df``: the degrees of freedom behind the draws' variance."""

    value: float | None
    draws: NDArray[np.float64] | None = None
    n: int = 0
    unscored: int = 0
    shares: bool = True
    df: float = math.inf

    @property
    def metric(self) -> Metric:
        """The mean with its interval, which holds the mean."""
        if self.value is None or self.draws is None:
            return Metric(self.value, n=self.n, unscored=self.unscored)
        import numpy as np

        wider = student(self.df) / Z  # few clusters tell little of how much they vary
        low, high = self.value + (np.percentile(self.draws, [2.5, 97.5]) - self.value) * wider
        ends = min(float(low), self.value), max(float(high), self.value)
        if self.shares:
            ends = max(ends[0], 0.0), min(ends[1], 1.0)
        return Metric(self.value, *ends, self.n, self.unscored)


@dataclass(frozen=True)
class Nested:
    """The means of one score. ``levels``: strata from the inner to the outer one; a record without them counts
    as unscored. ``differences``: the values are differences of two scores; ``seed`` of the draws; ``pooled``: plain
    means are wanted per group and in total, and no means of means."""

    records: Sequence[Record]
    score: str
    levels: Sequence[str]
    differences: bool = False
    seed: int = 0
    pooled: bool = False

    @cached_property
    def leaves(self) -> dict[tuple[str, ...], Part]:
        """Path from the outermost to the innermost group -> mean of its samples."""
        import numpy as np

        rng = np.random.default_rng(self.seed)
        groups: dict[tuple[str, ...], list[Record]] = {}
        for record in sorted(self._placed, key=lambda one: (str(one["sample_id"]), one["epoch"])):
            path = tuple(record["strata"][level] for level in reversed(self.levels))
            groups.setdefault(path, []).append(record)
        return {path: leaf(groups[path], self.score, rng, self.differences) for path in sorted(groups)}

    @cached_property
    def outer(self) -> dict[str, Part]:
        """Outermost group -> mean of the means within it."""
        return {value: self._mean((value,)) for value in dict.fromkeys(path[0] for path in self.leaves)}

    def total(self, values: Collection[str] | None = None) -> Part:
        """Mean of the means of all outermost groups, or of these."""
        part = average([one for value, one in self.outer.items() if values is None or value in values])
        lost = len(self.records) - len(self._placed) if values is None else 0
        return replace(part, unscored=part.unscored + lost)

    @cached_property
    def _placed(self) -> list[Record]:
        return [record for record in self.records if all(level in record["strata"] for level in self.levels)]

    def _mean(self, path: tuple[str, ...]) -> Part:
        """Mean of the means below a path."""
        if (leaf := self.leaves.get(path)) is not None:
            return leaf
        depth = len(path)
        below = dict.fromkeys(one[: depth + 1] for one in self.leaves if one[:depth] == path)
        return average([self._mean(one) for one in below])


def nested_metrics(records: Sequence[Record], levels: Levels) -> dict[str, Metric]:
    """``<outer level>/<value>/<score>`` and ``total/<score>`` of every score with levels; of a single innermost group
    nothing, as its mean is the score's own."""
    nested = {score: Nested(records, score, strata) for score, strata in levels.items()}
    found = {score: one for score, one in nested.items() if len(one.leaves) > 1}
    outer = {
        f"{one.levels[-1]}/{value}/{score}": part.metric
        for score, one in found.items()
        for value, part in one.outer.items()
    }
    return outer | {f"total/{score}": one.total().metric for score, one in found.items()}


def average(parts: Sequence[Part]) -> Part:
    """Plain mean of those that have a value; None, never 0, where none has."""
    n, unscored = sum(part.n for part in parts), sum(part.unscored for part in parts)
    there = [part for part in parts if part.value is not None]
    if not there:
        return Part(None, None, n, unscored)
    value = math.fsum(part.value or 0.0 for part in there) / len(there)
    draws = [part.draws for part in there if part.draws is not None]
    if len(draws) < len(there):
        return Part(value, None, n, unscored)
    shares = all(part.shares for part in there)
    return Part(value, sum(draws[1:], draws[0]) / len(draws), n, unscored, shares, _pooled_df(there))


def _pooled_df(parts: Sequence[Part]) -> float:
    """Degrees of freedom behind the variance of a sum (Welch & Satterthwaite)."""
    variances = [0.0 if part.draws is None else float(part.draws.var()) for part in parts]
    below = math.fsum(one * one / part.df for one, part in zip(variances, parts, strict=True))
    return math.fsum(variances) ** 2 / below if below else math.inf


def leaf(records: Sequence[Record], score: str, rng: Generator, differences: bool = False) -> Part:
    """Mean over samples, whole clusters drawn again."""
    import numpy as np

    scored = [
        (record["cluster"] or record["sample_id"], value)
        for record in records
        if (value := _value(record, score)) is not None
    ]
    if not scored:
        return Part(None, unscored=len(records))
    mean = math.fsum(value for _, value in scored) / len(scored)
    numbers: dict[str, int] = {}
    clusters = np.array([numbers.setdefault(cluster, len(numbers)) for cluster, _ in scored])
    values, k = np.array([value for _, value in scored]), len(numbers)
    draws: NDArray[np.float64] | None = None
    df = math.inf
    if mean in ((-1.0, 0.0, 1.0) if differences else (0.0, 1.0)) and bool((values == mean).all()):
        draws, df = _unvaried(mean, k, rng, differences), float(k)
    elif k > 1:
        columns = np.stack([np.bincount(clusters, weights=values - mean), np.bincount(clusters)], axis=1)
        sums = drawn_sums(columns, RESAMPLES, rng)
        draws = mean + sums[:, 0] / sums[:, 1] * math.sqrt(k / (k - 1))  # they vary as much as means of k do
        df = k - 1.0
    shares = not differences and bool(((values >= 0) & (values <= 1)).all())
    return Part(mean, draws, len(scored), len(records) - len(scored), shares, df)


def _unvaried(mean: float, clusters: int, rng: Generator, differences: bool) -> NDArray[np.float64]:
    """What stands for draws where nothing varies; for differences the gains' share less the losses'."""
    import numpy as np

    def share(of: float) -> NDArray[np.float64]:
        return rng.beta(of * clusters + 0.5, (1 - of) * clusters + 0.5, RESAMPLES)

    found = share(max(mean, 0.0)) - share(max(-mean, 0.0)) if differences else share(mean)
    found -= found.mean()  # it tells how wide, not where
    draws: NDArray[np.float64] = mean + found * math.sqrt((clusters + 1) / clusters)
    return np.clip(draws, -1.0, 1.0) if differences else draws


def _value(record: Record, score: str) -> float | None:
    value = record["scores"].get(score)
    return None if value is None else float(value)
