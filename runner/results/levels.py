"""Means of means: of the samples of each task, of the tasks of each dimension, of the dimensions.

A scorer requests them with ``levels``, the strata of its scores ``names`` from the inner to the outer one; with ``by``
plain means per value of a stratum, next to the plain mean of all samples (``pooled``). The mean of a single group has
the interval of its plain mean, one of several that of the variances of its groups.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from runner.results.intervals import Mean, Metric, of_means, unfinished_mean_of
from runner.results.kinds import NUMBER, Kinds, Scale, group_by, kind_of
from runner.storage.schema import Record

Levels = Mapping[str, Sequence[str]]


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
    def leaves(self) -> dict[tuple[str, ...], Mean]:
        """Path from the outermost to the innermost group -> mean of its samples."""
        groups = group_by(self._complete, lambda record: tuple(record["strata"][level] for level in self.levels[::-1]))
        return {path: unfinished_mean_of(groups[path], self.score, self.scale) for path in sorted(groups)}

    @cached_property
    def outer(self) -> dict[str, Mean]:
        """Outermost group -> mean of the means within it."""
        means: Mapping[tuple[str, ...], Mean] = self.leaves
        for depth in range(len(self.levels) - 1, 0, -1):
            above = group_by(means.items(), lambda pair: pair[0][:depth])  # noqa: B023
            means = {path: average([one for _, one in of]) for path, of in above.items()}
        return {path[0]: one for path, one in means.items()}

    def total(self, values: Collection[str] | None = None) -> Mean:
        """Mean of the means of all outermost groups, or of these."""
        whole = average([one for value, one in self.outer.items() if values is None or value in values])
        incomplete = len(self.records) - len(self._complete) if values is None else 0
        return replace(whole, metric=replace(whole.metric, unscored=whole.metric.unscored + incomplete))

    @cached_property
    def _complete(self) -> list[Record]:
        return [record for record in self.records if all(level in record["strata"] for level in self.levels)]


def used_levels(records: Sequence[Record], levels: Sequence[str]) -> Sequence[str]:
    """The levels, where they make two or more innermost groups: the mean of a single group is its plain mean."""
    complete = [one["strata"] for one in records if all(level in one["strata"] for level in levels)]
    return levels if len({tuple(strata[level] for level in levels) for strata in complete}) > 1 else ()


def levelled_mean(records: Sequence[Record], score: str, levels: Sequence[str], scale: Scale) -> Mean:
    """The mean of the means by these levels, or the plain mean where they make one group."""
    levels = used_levels(records, levels)
    return Nested(records, score, levels, scale).total() if levels else unfinished_mean_of(records, score, scale)


def nested_metrics(records: Sequence[Record], levels: Levels, kinds: Kinds) -> dict[str, Metric]:
    """``<outer level>/<value>/<score>`` and ``total/<score>`` of every score of which levels make several groups."""
    outer: dict[str, Metric] = {}
    totals: dict[str, Metric] = {}
    for score, strata in levels.items():
        if used_levels(records, strata):
            nested = Nested(records, score, strata, Scale(kind_of(score, kinds)))
            outer |= {f"{strata[-1]}/{value}/{score}": one.finished for value, one in nested.outer.items()}
            totals[f"total/{score}"] = nested.total().finished
    return outer | totals


def average(means: Sequence[Mean]) -> Mean:
    """Plain mean of those that have a value; None, never 0, where none has. Of one that has, it is that one."""
    n, unscored = sum(one.metric.n for one in means), sum(one.metric.unscored for one in means)
    there = [one for one in means if one.value is not None]
    if len(there) < 2:
        first = there[0] if there else Mean(Metric(None))
        return replace(first, metric=replace(first.metric, n=n, unscored=unscored))
    k = len(there)
    value = math.fsum(one.value or 0.0 for one in there) / k
    found = Mean(
        Metric(value, n=n, unscored=unscored), there[0].scale, size=k * k / math.fsum(1 / one.size for one in there)
    )
    variances = [one.variance for one in there if one.variance is not None]
    if len(variances) == k:
        below = math.fsum(variance * variance / one.df for variance, one in zip(variances, there, strict=True))
        whole = math.fsum(variances)
        found.variance, found.df = whole / (k * k), whole * whole / below if below else math.inf
    return of_means(found)


def shared_groups(tables: Sequence[Mapping[str, Mean]]) -> list[str]:
    """The groups of which every one of these has a mean, in the first one's order."""
    valued = [{group for group, mean in table.items() if mean.value is not None} for table in tables]
    return [group for group in (tables[0] if tables else ()) if all(group in groups for groups in valued)]
