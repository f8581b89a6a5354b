"""Means with 95 % intervals: the one place that computes them. Tables, pages, files and comparisons read these.

The kind of a score (``runner.results.kinds``) decides by which formula (``runner.results.formulas``), never its values:
docs/explanation/statistics.md has the table. A mean of means has the same score intervals, else Student's t, from the
variances of its groups with degrees of freedom by Welch and Satterthwaite (1946). Of fewer than two clusters there is
no interval, ``n too small``; of equal numbers nothing says how far they reach, ``does not vary`` (Bahadur & Savage
1956). How often each holds the truth is measured by ``python -m benchmarks coverage``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypedDict, cast

from runner.results import formulas
from runner.results.arrays import Floats, Rows, np
from runner.results.formulas import Ends
from runner.results.kinds import NUMBER, Scale, group_by
from runner.results.table import Table

FEWEST = 2  # clusters that an interval needs
TOO_SMALL, ALIKE = "n too small", "does not vary"
_OPTIONAL = ("ceiling", "no_interval")


class MetricJSON(TypedDict, total=False):
    """A ``Metric`` in a JSON file."""

    value: float | None
    ci_low: float | None
    ci_high: float | None
    n: int
    unscored: int
    ceiling: float
    no_interval: str


@dataclass(frozen=True)
class Metric:
    """One number over many samples. ``n`` scored samples, ``unscored`` the others. ``no_interval``: why a mean has
    none; totals have none either, and nothing to say. ``ceiling``: what a perfect agent would reach."""

    value: float | None
    ci_low: float | None = None
    ci_high: float | None = None
    n: int = 0
    unscored: int = 0
    ceiling: float | None = None
    no_interval: str | None = None

    def as_dict(self) -> MetricJSON:
        """JSON-ready; without a ceiling, and a reason for no interval, where there is none."""
        found = {name: value for name, value in vars(self).items() if name not in _OPTIONAL or value is not None}
        return cast(MetricJSON, found)  # its fields are the keys

    def between(self, ends: Ends) -> Metric:
        """This number with its interval."""
        return replace(self, ci_low=ends[0], ci_high=ends[1])


@dataclass
class Mean:
    """A metric and how sure it is; without an interval yet where that is by resampling the clusters. ``variance`` of
    the mean, None where it is unknown; ``df``: the degrees of freedom behind it; ``size``: of how many independent
    samples of one group the mean would be as sure. ``resampled``: of each scored cluster the sum of the deviations from
    the mean and the number, then the bounds of the interval."""

    metric: Metric
    scale: Scale = NUMBER
    variance: float | None = None
    df: float = math.inf
    size: float = 1.0
    resampled: tuple[Floats, Rows, Ends] | None = None

    @property
    def value(self) -> float | None:
        """The mean itself."""
        return self.metric.value

    @property
    def finished(self) -> Metric:
        """The metric with its interval."""
        resample_intervals([self])
        return self.metric


def mean_of(table: Table, values: Floats, scale: Scale, rows: Rows | None = None) -> Mean:
    """The plain mean of values of a table's rows, or of some of them, whatever their order; without its interval where
    that is resampled."""
    rows = table.in_order(rows)
    return unfinished_mean(values[rows], table["number"][rows], scale)


def unfinished_mean(
    values: Sequence[float | None] | Floats, clusters: Sequence[int] | Rows, scale: Scale,
    ceiling: float | None = None,
) -> Mean:  # fmt: skip
    """Mean of the values that are neither None nor NaN; ``clusters`` are numbers from 0."""
    values, clusters = np.asarray(values, dtype=float), np.asarray(clusters, dtype=np.intp)
    there = ~np.isnan(values)
    scored, clusters = values[there], clusters[there]
    n, missing = len(scored), len(values) - len(scored)
    if n == 0:
        return Mean(Metric(None, unscored=missing, ceiling=ceiling), scale)
    value = sum_of(scored) / n
    sizes = np.bincount(clusters)
    is_scored = sizes > 0
    k = int(is_scored.sum())
    metric = Metric(value, None, None, n, missing, ceiling)
    if k < FEWEST:
        variance = formulas.unvaried_variance(value, 1, scale.bounds) if scale.bounded else None
        return Mean(replace(metric, no_interval=TOO_SMALL), scale, variance, 1.0)
    spread: Floats = np.bincount(clusters, weights=scored - value)[is_scored].astype(np.float64)
    low, high = scale.bounds  # a score that breaks its declared bounds, as some published ones do, widens them
    bounds = min(low, float(scored.min())), max(high, float(scored.max()))
    se = formulas.standard_error(spread, n)
    unit = float(np.abs(scored).max()) if scale.kind in ("amount", "number") else 1.0
    varies = float(np.abs(spread).max()) > formulas.NOTHING * n * unit and se > 0.0
    found = Mean(metric, scale, se**2, k - 1.0, k)
    if not varies:
        counted = (value * k + 0.5) / (k * k) if scale.kind == "count" and not scale.difference else 0.0
        found.variance = formulas.unvaried_variance(value, k, scale.bounds) if scale.bounded else counted
        found.df = float(k)
    if (ends := _formula_ends(value, scored, spread, scale, bounds, varies)) is not None:
        found.metric = metric.between(ends)
    elif varies:
        found.resampled = spread, sizes[is_scored], bounds
    else:
        found.metric = replace(metric, no_interval=ALIKE)
    return found


def sum_of(values: Floats) -> float:
    """The sum as ``math.fsum`` has it, which any order of adding whole numbers is."""
    whole = bool((values == np.rint(values)).all())
    return float(values.sum()) + 0.0 if whole else math.fsum(values.tolist())


def _formula_ends(
    value: float, scored: Floats, spread: Floats, scale: Scale, bounds: Ends, varies: bool
) -> Ends | None:
    """The ends that a formula gives; None where the interval is resampled, or there is none."""
    n, k = len(scored), len(spread)
    if scale.kind == "proportion" and bounds == scale.bounds:
        if not scale.difference:
            whole = k == n or value in bounds
            return formulas.wilson(value * k, k) if whole else formulas.clustered_wilson(value, spread, n)
        low, high = formulas.paired_binary(scored, spread, varies)
        return max(bounds[0], low), min(bounds[1], high)
    if varies:
        few = k < formulas.FEWEST_RESAMPLED and bounds == scale.bounds
        return _score(value, formulas.standard_error(spread, n) ** 2, k - 1, scale) if few else None
    if scale.bounded:
        return formulas.unvaried_interval(value, k, bounds)
    return formulas.poisson(value * k, k) if scale.kind == "count" and not scale.difference else None


def _score(value: float, variance: float, df: float, scale: Scale) -> Ends | None:
    """The score interval of a mean between the bounds of its kind, which follow from its variance; None for others."""
    if scale.difference or not scale.bounds[0] < value < scale.bounds[1] or scale.kind == "number":
        return None
    return formulas.score_share(value, variance, df) if scale.bounded else formulas.score_count(value, variance, df)


def of_means(one: Mean) -> Mean:
    """A mean of means with its interval, which follows from its variance, degrees of freedom and size."""
    metric, value, variance, (low, high) = one.metric, one.value, one.variance, one.scale.bounds
    if value is None:
        return one
    if variance is None or not variance > 0:
        return replace(one, metric=replace(metric, no_interval=TOO_SMALL if variance is None else ALIKE))
    if one.scale.bounded and not one.scale.difference and value in (low, high):
        ends = formulas.wilson(value * one.size, one.size)
    elif (formula := _score(value, variance, one.df, one.scale)) is not None:
        ends = formula
    else:
        half = formulas.student(one.df) * math.sqrt(variance)
        ends = max(min(low, value), value - half), min(max(high, value), value + half)
    return replace(one, metric=metric.between(ends))


def resample_intervals(means: Iterable[Mean]) -> None:
    """Give the means their intervals by resampling whole clusters: one set of resamples per number of clusters."""
    open_means = [(one, one.resampled) for one in means if one.resampled is not None]
    for k, group in group_by(open_means, lambda pair: len(pair[1][0])).items():
        columns = [column for _, (spread, sizes, _) in group for column in formulas.moments(spread, sizes)]
        reaches = formulas.studentise(columns, k)
        for (one, (spread, _, bounds)), (below, above) in zip(group, reaches, strict=True):
            value, se = one.value or 0.0, formulas.standard_error(spread, one.metric.n)
            one.metric = one.metric.between((max(bounds[0], value - below * se), min(bounds[1], value + above * se)))
            one.resampled = None
