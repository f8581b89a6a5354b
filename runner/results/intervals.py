"""Means with 95 % intervals: Wilson's for a proportion, with the effective number of independent samples where they
come in clusters (patients); for other values a studentised bootstrap over clusters, 1,000 resamples with a fixed seed,
whose ends are no nearer than those of Student's t.

Where a proportion is 0 or 1 throughout, nothing varies: Wilson over the number of clusters. Where there are fewer than
10 clusters, or so many alike that resamples come without any spread, Student's t over clusters takes its place. How
often each of them holds the truth is measured by ``python -m benchmarks coverage``.
Source: Wilson 1927; Korn & Graubard 1998 (effective size, t in place of z); Efron & Tibshirani 1993, ch. 12.5.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import Generator
    from numpy.typing import NDArray

RESAMPLES = 1000
_BLOCK = 100_000  # weights held at a time
Z = 1.959963984540054
_FEWEST = 10  # clusters to draw from
_FLAT = 0.01  # share of resamples that may come without any spread
_ANY = (-math.inf, math.inf)
_FARTHEST = 2.5  # quantiles of Student's t: what a studentised end is at most away


@dataclass(frozen=True)
class Metric:
    """One number over many samples. ``n`` scored samples, ``unscored`` the others; the interval is None
    where it cannot be told (no or one cluster, or a total). ``ceiling``: what a perfect agent would reach.
    """

    value: float | None
    ci_low: float | None = None
    ci_high: float | None = None
    n: int = 0
    unscored: int = 0
    ceiling: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready; without a ceiling when there is none."""
        return {name: value for name, value in vars(self).items() if name != "ceiling" or value is not None}


@dataclass
class Mean:
    """A metric on its way: without an interval yet where clusters have to be drawn for it.

    ``spread`` and ``sizes`` say of each scored cluster the sum of the deviations from the mean and the number;
    ``bounds``: between which all values are, and so is the interval.
    """

    metric: Metric
    spread: NDArray[np.float64] | None = None
    sizes: NDArray[np.intp] | None = None
    bounds: tuple[float, float] = _ANY


def mean(
    values: Sequence[float | None], clusters: Sequence[int], ceiling: float | None = None, count: bool = False
) -> Metric:
    """Mean of the values that are there, with its interval; ``clusters`` are numbers from 0."""
    import numpy as np

    found = unsettled(np.array(values, dtype=float), np.array(clusters, dtype=np.intp), ceiling, count)
    settle([found])
    return found.metric


def unsettled(
    values: NDArray[np.float64], clusters: NDArray[np.intp], ceiling: float | None = None, count: bool = False,
    least: float = -math.inf,
) -> Mean:  # fmt: skip
    """Mean of the values that are no NaN, and what ``settle`` needs for an interval that has to be drawn; a ``count``
    is no proportion, whatever its values are, and has no mean below ``least``."""
    import numpy as np

    there = ~np.isnan(values)
    scored = values[there]
    n, missing = len(scored), len(values) - len(scored)
    if n == 0:
        return Mean(Metric(None, unscored=missing, ceiling=ceiling))
    total = math.fsum(scored.tolist())
    sizes = np.bincount(clusters[there])
    drawable = sizes > 0
    n_clusters, binary = int(drawable.sum()), bool(((scored == 0.0) | (scored == 1.0)).all())
    metric = Metric(total / n, None, None, n, missing, ceiling)
    if binary and not count and (n_clusters == n or total in (0.0, n)):
        low, high = wilson(total / n * n_clusters, n_clusters)
        return Mean(replace(metric, ci_low=low, ci_high=high))
    if n_clusters < 2:
        return Mean(metric)
    weights = scored - total / n
    spread: NDArray[np.float64] = np.bincount(clusters[there], weights=weights).astype(np.float64)[drawable]
    if binary and not count:
        low, high = clustered_wilson(total / n, spread, n)
        return Mean(replace(metric, ci_low=low, ci_high=high))
    found = (least, math.inf) if count else (0.0, 1.0)
    held = bool(((scored >= found[0]) & (scored <= found[1])).all())
    return Mean(metric, spread, sizes[drawable], found if held else _ANY)


def wilson(successes: float, n: float, z: float = Z) -> tuple[float, float]:
    """Wilson's score interval of a proportion, in [0, 1]."""
    p, z2 = successes / n, z * z
    centre, half = p + z2 / (2 * n), z * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    return max(0.0, (centre - half) / (1 + z2 / n)), min(1.0, (centre + half) / (1 + z2 / n))


def clustered_wilson(p: float, spread: NDArray[np.float64], n: int) -> tuple[float, float]:
    """Wilson's interval of a proportion in (0, 1) over as many samples as would tell as much, were they independent;
    at most the samples, at least one."""
    variance = standard_error(spread, n) ** 2
    effective = min(float(n), max(1.0, p * (1 - p) / variance)) if variance else float(n)
    return wilson(p * effective, effective, student(len(spread) - 1))


def standard_error(spread: NDArray[np.float64], n: int) -> float:
    """Of a mean over n samples in two or more clusters, from the sums of the deviations in each."""
    k = len(spread)
    return math.sqrt(float(spread @ spread) * k / (k - 1)) / n


def student(df: float) -> float:
    """The 97.5 % quantile of Student's t; with infinite degrees of freedom that of the normal distribution."""
    from scipy.special import stdtrit

    return float(stdtrit(df, 0.975))


def settle(means: Sequence[Mean]) -> None:
    """Give the means their intervals by drawing whole clusters: one draw per number of clusters."""
    import numpy as np

    alike: dict[int, list[Mean]] = {}
    for one in means:
        if one.sizes is not None:
            alike.setdefault(len(one.sizes), []).append(one)
    for k, group in alike.items():
        columns = [column for one in group for column in _moments(one)]
        sums = drawn_sums(np.stack(columns, axis=1), RESAMPLES if k >= _FEWEST else 0, np.random.default_rng(0))
        for number, one in enumerate(group):
            assert one.spread is not None and one.metric.value is not None, "it is to be drawn"
            se = standard_error(one.spread, one.metric.n)
            below, above = _ends(sums[:, 5 * number : 5 * number + 5], k)
            low, high = one.metric.value - below * se, one.metric.value + above * se
            least, most = one.bounds
            one.metric = replace(one.metric, ci_low=max(least, low), ci_high=min(most, high))


def _moments(one: Mean) -> Iterator[NDArray[Any]]:
    """What sums over drawn clusters are needed of: deviations, sizes, and their products."""
    import numpy as np

    assert one.spread is not None and one.sizes is not None, "it is to be drawn"
    unit = float(np.abs(one.spread).max()) or 1.0  # squares in single precision
    spread, sizes = one.spread / unit, one.sizes / float(one.sizes.max())
    yield from (spread, sizes, spread * spread, spread * sizes, sizes * sizes)


def _ends(sums: NDArray[np.float64], k: int) -> tuple[float, float]:
    """How many standard errors the interval reaches below and above the mean."""
    import numpy as np

    t = student(k - 1)
    if not len(sums):
        return t, t
    deviation, n, square, product, size = sums.T
    ratio = deviation / n
    variance = np.maximum(square - 2 * ratio * product + ratio * ratio * size, 0.0) * k / (k - 1)
    spread = variance > 1e-6 * float(np.median(variance))
    if (~spread).mean() > _FLAT or not spread.any():
        return t, t
    studentised = deviation[spread] / np.sqrt(variance[spread])
    low, high = np.percentile(studentised, [2.5, 97.5])
    return min(max(float(high), t), _FARTHEST * t), min(max(-float(low), t), _FARTHEST * t)


def drawn_sums(columns: NDArray[Any], resamples: int, rng: Generator) -> NDArray[np.float64]:
    """Sums of every column (rows: clusters) over as many clusters, drawn again: (resamples, columns)."""
    import numpy as np

    matrix = columns.astype(np.float32)
    drawn = [weights @ matrix for weights in _draws(len(matrix), resamples, rng)]
    return np.concatenate(drawn or [np.empty((0, matrix.shape[1]))]).astype(np.float64)


def _draws(n: int, resamples: int, rng: Generator) -> Iterator[NDArray[np.float32]]:
    """How often each of n clusters is drawn in each resample, in blocks of resamples of about 1 MB."""
    import numpy as np

    block = max(1, _BLOCK // n)
    for start in range(0, resamples, block):
        k = min(block, resamples - start)
        drawn = rng.integers(0, n, (k, n)) + (np.arange(k) * n)[:, None]  # six times as fast as multinomial
        yield np.bincount(drawn.ravel(), minlength=k * n).reshape(k, n).astype(np.float32)
