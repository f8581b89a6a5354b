"""Means of means: of the samples of each task, of the tasks of each dimension, of the dimensions.

A scorer asks for them with ``levels``, the strata from the inner to the outer one, and ``names``, its scores. With
``by`` it asks for plain means per value of a stratum, next to the plain mean of all samples (``pooled``).
The mean of a single group has the interval of its plain mean; one of several has its variance, clusters within every
innermost group, from those of the groups (``runner.results.intervals.of_means``).
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from runner.results.bounds import standard_error, unvaried_variance
from runner.results.intervals import Mean, Metric, finished_metric, of_means, unfinished_mean_of
from runner.results.kinds import NUMBER, Kinds, Scale, grouped, kind_of
from runner.storage.schema import Record

Levels = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Part:
    """A mean and how sure it is. ``variance`` of the mean, None where it is unknown; ``df``: the degrees of freedom
    behind the variance; ``size``: of how many independent samples of one group the mean would be as sure; ``plain``:
    the mean of a single group."""

    value: float | None
    n: int = 0
    unscored: int = 0
    scale: Scale = NUMBER
    variance: float | None = None
    df: float = math.inf
    size: float = 0.0
    plain: Mean | None = None

    @property
    def metric(self) -> Metric:
        """The mean with its interval."""
        if self.plain is not None:
            return replace(finished_metric(self.plain), unscored=self.unscored)
        metric = Metric(self.value, n=self.n, unscored=self.unscored)
        return of_means(metric, self.variance, self.df, self.size, self.scale)


@dataclass(frozen=True)
class Nested:
    """The means of one score, whose values are of this ``scale``. ``levels``: strata from the inner to the outer one; a
    record without them counts as unscored. ``pooled``: plain means are wanted per group and in total, and no means of
    means."""

    records: Sequence[Record]
    score: str
    levels: Sequence[str]
    scale: Scale = NUMBER
    pooled: bool = False

    @cached_property
    def leaves(self) -> dict[tuple[str, ...], Part]:
        """Path from the outermost to the innermost group -> mean of its samples."""
        outward = list(reversed(self.levels))
        groups = grouped(self._complete, lambda record: tuple(record["strata"][level] for level in outward))
        return {path: leaf(groups[path], self.score, self.scale) for path in sorted(groups)}

    @cached_property
    def outer(self) -> dict[str, Part]:
        """Outermost group -> mean of the means within it."""
        return {value: self._mean((value,)) for value in dict.fromkeys(path[0] for path in self.leaves)}

    def total(self, values: Collection[str] | None = None) -> Part:
        """Mean of the means of all outermost groups, or of these."""
        part = average([one for value, one in self.outer.items() if values is None or value in values])
        incomplete = len(self.records) - len(self._complete) if values is None else 0
        return replace(part, unscored=part.unscored + incomplete)

    @cached_property
    def _complete(self) -> list[Record]:
        return [record for record in self.records if all(level in record["strata"] for level in self.levels)]

    def _mean(self, path: tuple[str, ...]) -> Part:
        """Mean of the means below a path."""
        if (leaf := self.leaves.get(path)) is not None:
            return leaf
        depth = len(path)
        below = dict.fromkeys(one[: depth + 1] for one in self.leaves if one[:depth] == path)
        return average([self._mean(one) for one in below])


def used_levels(records: Sequence[Record], levels: Sequence[str]) -> Sequence[str]:
    """The levels, where they make two or more innermost groups: the mean of a single group is its plain mean."""
    complete = [one["strata"] for one in records if all(level in one["strata"] for level in levels)]
    return levels if len({tuple(strata[level] for level in levels) for strata in complete}) > 1 else ()


def part_of(records: Sequence[Record], score: str, levels: Sequence[str], scale: Scale) -> Part:
    """The mean of the means by these levels, or the plain mean where they make one group."""
    levels = used_levels(records, levels)
    return Nested(records, score, levels, scale).total() if levels else leaf(records, score, scale)


def nested_metrics(records: Sequence[Record], levels: Levels, kinds: Kinds) -> dict[str, Metric]:
    """``<outer level>/<value>/<score>`` and ``total/<score>`` of every score with levels; of a single innermost group
    nothing, as its mean is the score's own."""
    found = {
        score: Nested(records, score, strata, Scale(kind_of(score, kinds)))
        for score, strata in levels.items()
        if used_levels(records, strata)
    }
    outer = {
        f"{one.levels[-1]}/{value}/{score}": part.metric
        for score, one in found.items()
        for value, part in one.outer.items()
    }
    return outer | {f"total/{score}": one.total().metric for score, one in found.items()}


def average(parts: Sequence[Part]) -> Part:
    """Plain mean of those that have a value; None, never 0, where none has. Of one that has, it is that one."""
    n, unscored = sum(part.n for part in parts), sum(part.unscored for part in parts)
    there = [part for part in parts if part.value is not None]
    if len(there) < 2:
        return replace(there[0] if there else Part(None), n=n, unscored=unscored)
    k = len(there)
    value = math.fsum(part.value or 0.0 for part in there) / k
    size = k * k / math.fsum(1 / part.size for part in there) if all(part.size for part in there) else 0.0
    found = Part(value, n, unscored, there[0].scale, size=size)
    variances = [part.variance for part in there if part.variance is not None]
    if len(variances) < k:
        return found
    below = math.fsum(one * one / part.df for one, part in zip(variances, there, strict=True))
    total = math.fsum(variances)
    return replace(found, variance=total / (k * k), df=total * total / below if below else math.inf)


def leaf(records: Sequence[Record], score: str, scale: Scale) -> Part:
    """Mean over samples, in whole clusters."""
    one = unfinished_mean_of(records, score, scale)
    metric, k = one.metric, one.clusters
    found = Part(metric.value, metric.n, metric.unscored, scale, size=k, plain=one)
    if metric.value is None or (one.spread is None and not scale.bounded):
        return found
    if one.spread is not None and one.varies:
        return replace(found, variance=standard_error(one.spread, metric.n) ** 2, df=k - 1.0)
    if scale.bounded:
        return replace(found, variance=unvaried_variance(metric.value, k, scale.bounds), df=float(k))
    counted = scale.kind == "count" and not scale.difference
    return replace(found, variance=(metric.value * k + 0.5) / (k * k) if counted else 0.0, df=float(k))


def shared(tables: Sequence[Mapping[str, float | None]]) -> list[str]:
    """The groups in which every one of these has a value, in the first one's order."""
    return [group for group in (tables[0] if tables else ()) if all(one.get(group) is not None for one in tables)]
