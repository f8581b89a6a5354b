"""Means with 95 % intervals: the one place that computes them. Tables, pages, files and comparisons read these.

The kind of a score (``runner.results.kinds``) decides, never which values came out:

- ``proportion``: Wilson's interval, with the effective number of independent samples where they come in clusters
  (patients); differences of two of them: Agresti and Min's.
- ``share``, ``count``, ``number``: a studentised bootstrap over clusters, 1,000 resamples with a fixed seed, whose ends
  are no nearer than those of Student's t; with hardly any spread Student's t over clusters. Below 10 clusters the score
  interval with Student's t: of shares Wilson's over as many samples of 0 and 1 as would give their variance, of counts
  that of an overdispersed Poisson's mean; of numbers, and of differences, Student's t.
- Where all clusters are alike: of shares what values at the bounds could change (``bounds.unvaried``), of counts
  Garwood's interval; of numbers nothing says how far they reach (Bahadur & Savage 1956): ``does not vary``.
- Means of means: the same score intervals, else Student's t, from the variances of the groups with degrees of freedom
  by Welch and Satterthwaite (1946).

With fewer than two clusters there is no interval: ``n too small``. How often each holds the truth is measured by
``python -m benchmarks coverage``. Source: ``runner.results.bounds``; Efron & Tibshirani 1993, ch. 12.5.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypedDict, cast

from runner.results.bounds import (
    FEWEST_RESAMPLED,
    Ends,
    clustered_wilson,
    moments,
    paired_binary,
    poisson,
    score_count,
    score_share,
    standard_error,
    student,
    studentised,
    unvaried,
    wilson,
)
from runner.results.kinds import Scale, grouped
from runner.results.significance import NOTHING
from runner.storage.schema import Record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

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
    none; totals have none either, and nothing to say. ``ceiling``: what a perfect agent would reach.
    """

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
    """A metric in progress: without an interval yet where clusters have to be resampled for it.

    ``spread`` and ``sizes`` say of each scored cluster the sum of the deviations from the mean and the number, where
    there are two clusters or more; ``bounds``: of the interval; ``resampled``: its interval is by resampling.
    """

    metric: Metric
    spread: NDArray[np.float64] | None = None
    sizes: NDArray[np.intp] | None = None
    bounds: Ends = (-math.inf, math.inf)
    varies: bool = False
    resampled: bool = False

    @property
    def clusters(self) -> int:
        """How many scored clusters there are, as far as there are two; else 1."""
        return 1 if self.spread is None else len(self.spread)

    @property
    def sums(self) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Spread and sizes of a mean that has clusters."""
        assert self.spread is not None and self.sizes is not None, "it has clusters"
        return self.spread, self.sizes


def numbered(records: Iterable[Record]) -> NDArray[np.intp]:
    """The number of each record's cluster in the order of their names; without a cluster a sample is its own."""
    import numpy as np

    names = [str(record["cluster"] or record["sample_id"]) for record in records]
    numbers = {name: number for number, name in enumerate(sorted(set(names)))}
    return np.array([numbers[name] for name in names], dtype=np.intp)


def mean_of(records: Sequence[Record], score: str, scale: Scale) -> Metric:
    """The plain mean of one score, with its interval, whatever the order of the records."""
    return finished_metric(unfinished_mean_of(records, score, scale))


def unfinished_mean_of(records: Sequence[Record], score: str, scale: Scale) -> Mean:
    """The same before its interval is resampled."""
    import numpy as np

    ordered = sorted(records, key=lambda one: (str(one["sample_id"]), one["epoch"]))
    values = np.array([one["scores"].get(score) for one in ordered], dtype=float)
    return unfinished_mean(values, numbered(ordered), scale)


def mean(values: Sequence[float | None], clusters: Sequence[int], scale: Scale, ceiling: float | None = None) -> Metric:
    """Mean of the values that are there, with its interval; ``clusters`` are numbers from 0."""
    import numpy as np

    return finished_metric(
        unfinished_mean(np.array(values, dtype=float), np.array(clusters, dtype=np.intp), scale, ceiling)
    )


def unfinished_mean(
    values: NDArray[np.float64], clusters: NDArray[np.intp], scale: Scale, ceiling: float | None = None
) -> Mean:
    """Mean of the values that are not NaN, and what ``resample_intervals`` needs for an interval by resampling."""
    import numpy as np

    there = ~np.isnan(values)
    scored = values[there]
    n, missing = len(scored), len(values) - len(scored)
    if n == 0:
        return Mean(Metric(None, unscored=missing, ceiling=ceiling))
    value = math.fsum(scored.tolist()) / n
    sizes = np.bincount(clusters[there])
    scored_clusters = sizes > 0
    metric = Metric(value, None, None, n, missing, ceiling)
    if int(scored_clusters.sum()) < FEWEST:
        return Mean(replace(metric, no_interval=TOO_SMALL))
    spread: NDArray[np.float64] = np.bincount(clusters[there], weights=scored - value).astype(np.float64)[
        scored_clusters
    ]
    low, high = scale.bounds  # a score that breaks its declared bounds, as some published ones do, widens them
    unit = float(np.abs(scored).max()) if scale.kind == "number" else 1.0
    varies = float(np.abs(spread).max()) > NOTHING * n * unit and standard_error(spread, n) > 0.0
    bounds = min(low, float(scored.min())), max(high, float(scored.max()))
    found = Mean(metric, spread, sizes[scored_clusters], bounds, varies)
    if (ends := _closed(found, scored, scale)) is not None:
        found.metric = metric.between(ends)
    elif varies:
        found.resampled = True
    else:
        found.metric = replace(metric, no_interval=ALIKE)
    return found


def _closed(one: Mean, scored: NDArray[np.float64], scale: Scale) -> Ends | None:
    """The ends that a formula gives; None where the interval is resampled, or there is none."""
    value, n, k = one.metric.value, one.metric.n, one.clusters
    assert value is not None and one.spread is not None, "it has clusters"
    if scale.kind == "proportion" and one.bounds == scale.bounds:
        if not scale.difference:
            whole = k == n or value in scale.bounds
            return wilson(value * k, k) if whole else clustered_wilson(value, one.spread, n)
        low, high = paired_binary(scored, one.spread, one.varies)
        return max(one.bounds[0], low), min(one.bounds[1], high)
    if one.varies:
        few = k < FEWEST_RESAMPLED and one.bounds == scale.bounds
        return _score(value, standard_error(one.spread, n) ** 2, k - 1, scale) if few else None
    if scale.bounded:
        return unvaried(value, k, one.bounds)
    return poisson(value * k, k) if scale.kind == "count" and not scale.difference else None


def _score(value: float, variance: float, df: float, scale: Scale) -> Ends | None:
    """The score interval of a mean between the bounds of its kind, which follow from its variance; None for others."""
    if scale.difference or not scale.bounds[0] < value < scale.bounds[1] or scale.kind == "number":
        return None
    return score_share(value, variance, df) if scale.bounded else score_count(value, variance, df)


def of_means(metric: Metric, variance: float | None, df: float, size: float, scale: Scale) -> Metric:
    """A mean of means with its interval, from its variance, the degrees of freedom behind that, and as how many
    independent samples of one group it counts."""
    value = metric.value
    if value is None:
        return metric
    if variance is None or not variance > 0:
        return replace(metric, no_interval=TOO_SMALL if variance is None else ALIKE)
    low, high = scale.bounds
    if scale.bounded and not scale.difference and value in (low, high):
        return metric.between(wilson(value * size, size))
    if (ends := _score(value, variance, df, scale)) is not None:
        return metric.between(ends)
    half = student(df) * math.sqrt(variance)
    return metric.between((max(min(low, value), value - half), min(max(high, value), value + half)))


def finished_metric(one: Mean) -> Metric:
    """The metric of a mean, with its interval."""
    resample_intervals([one])
    return one.metric


def resample_intervals(means: Sequence[Mean]) -> None:
    """Give the means their intervals by resampling whole clusters: one set of resamples per number of clusters."""
    import numpy as np

    for k, group in grouped((one for one in means if one.resampled), lambda one: one.clusters).items():
        columns = [column for one in group for column in moments(*one.sums)]
        for one, (below, above) in zip(group, studentised(np.stack(columns, axis=1), k), strict=True):
            value, se = one.metric.value or 0.0, standard_error(one.sums[0], one.metric.n)
            low, high = value - below * se, value + above * se
            one.metric = one.metric.between((max(one.bounds[0], low), min(one.bounds[1], high)))
