"""Means of means: of the samples of each task, of the tasks of each dimension, of the dimensions.

A scorer requests them with ``levels``, the strata of its scores ``names`` from the inner to the outer one; with ``by``
plain means per value of a stratum, next to the plain mean of all samples (``pooled``). The mean of a single group has
the interval of its plain mean, one of several that of the variances of its groups.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from runner.results.arrays import Floats, Rows, np
from runner.results.intervals import Mean, Metric, mean_of, of_means
from runner.results.kinds import NUMBER, Kinds, Scale, group_by, kind_of, natural_order
from runner.results.table import Table
from runner.storage.schema import Record

Levels = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Nested:
    """The means of the values of a table's rows, which are of this ``scale``. ``levels``: strata
    from the inner to the outer one; a row without them counts as unscored."""

    table: Table
    values: Floats
    levels: Sequence[str]
    scale: Scale = NUMBER

    @cached_property
    def groups(self) -> dict[tuple[str, ...], Rows]:
        """Path from the outermost to the innermost group -> its rows."""
        return rows_by_path(self.table, self.levels)

    @cached_property
    def leaves(self) -> dict[tuple[str, ...], Mean]:
        """Path from the outermost to the innermost group -> mean of its samples."""
        return {path: mean_of(self.table, self.values, self.scale, of) for path, of in self.groups.items()}

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
        incomplete = len(self.table) - sum(map(len, self.groups.values())) if values is None else 0
        return replace(whole, metric=replace(whole.metric, unscored=whole.metric.unscored + incomplete))

    def pooled(self, values: Collection[str] | None = None) -> Mean:
        """The plain mean of the rows of all outermost groups, or of these."""
        if values is None:
            return mean_of(self.table, self.values, self.scale)
        rows = [rows for path, rows in self.groups.items() if path[0] in values]
        return mean_of(self.table, self.values, self.scale, np.concatenate([self.table.in_order()[:0], *rows]))


def rows_by_path(table: Table, levels: Sequence[str]) -> dict[tuple[str, ...], Rows]:
    """Path of strata from the outermost to the innermost level -> the rows that have all of them."""
    codes, paths = table.paths(levels)
    found = {tuple(map(str, path)): np.flatnonzero(codes == n) for n, path in enumerate(paths) if None not in path}
    return {
        path: found[path] for path in sorted(found, key=lambda path: [*map(natural_order, path)]) if len(found[path])
    }


def used_levels(table: Table, levels: Sequence[str]) -> Sequence[str]:
    """The levels, where they make two or more innermost groups: the mean of a single group is its plain mean."""
    return levels if levels and len(rows_by_path(table, levels)) > 1 else ()


def describe(levels: Sequence[str]) -> str:
    """What a mean by these levels is the mean of."""
    return " of ".join(f"means per {level}" for level in reversed(levels))


def note_of(name: str, levels: Sequence[str]) -> str:
    """What the mean of this name is."""
    return f"{name} is the mean of {describe(levels)}, not of samples"


def levelled_mean(table: Table, values: Floats, levels: Sequence[str], scale: Scale) -> Mean:
    """The mean of the means by these levels, or the plain mean where they make one group."""
    levels = used_levels(table, levels)
    return Nested(table, values, levels, scale).total() if levels else mean_of(table, values, scale)


def nested_metrics(records: Table | Iterable[Record], levels: Levels, kinds: Kinds) -> dict[str, Metric]:
    """``<outer level>/<value>/<score>`` and ``total/<score>`` of every score of which levels make several groups."""
    table, outer = Table.of(records), dict[str, Metric]()
    totals: dict[str, Metric] = {}
    for score, strata in levels.items():
        if used_levels(table, strata):
            nested = Nested(table, table[f"scores/{score}"], strata, Scale(kind_of(score, kinds)))
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
