"""Means with 95 % intervals: Wilson for a proportion whose samples are independent, otherwise a percentile bootstrap
over clusters (patients), 1,000 resamples with a fixed seed.

Where a proportion is 0 or 1 throughout, resampling has nothing to vary: Wilson over the number of clusters.
Source: Wilson 1927; Efron & Tibshirani 1993, ch. 13.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import Generator
    from numpy.typing import NDArray

RESAMPLES = 1000
_BLOCK = 100_000  # weights held at a time
_Z = 1.959963984540054


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
        return {name: value for name, value in asdict(self).items() if name != "ceiling" or value is not None}


@dataclass
class Mean:
    """A metric on its way: without an interval yet where clusters have to be drawn for it.

    ``spread`` and ``sizes`` say of each scored cluster the sum of the deviations from the mean and the number.
    """

    metric: Metric
    spread: NDArray[np.float64] | None = None
    sizes: NDArray[np.intp] | None = None


def mean(values: Sequence[float | None], clusters: Sequence[int], ceiling: float | None = None) -> Metric:
    """Mean of the values that are there, with its interval; ``clusters`` are numbers from 0."""
    import numpy as np

    found = unsettled(np.array(values, dtype=float), np.array(clusters, dtype=np.intp), ceiling)
    settle([found])
    return found.metric


def unsettled(
    values: NDArray[np.float64], clusters: NDArray[np.intp], ceiling: float | None = None, count: bool = False
) -> Mean:
    """Mean of the values that are no NaN, and what ``settle`` needs for an interval that has to be drawn; a ``count``
    is no proportion, whatever its values are."""
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
    spread: NDArray[np.float64] = np.bincount(clusters[there], weights=scored - total / n).astype(np.float64)
    return Mean(metric, spread[drawable], sizes[drawable])


def wilson(successes: float, n: int) -> tuple[float, float]:
    """Wilson's score interval of a proportion, in [0, 1]."""
    p, z2 = successes / n, _Z * _Z
    centre, half = p + z2 / (2 * n), _Z * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    return max(0.0, (centre - half) / (1 + z2 / n)), min(1.0, (centre + half) / (1 + z2 / n))


def settle(means: Sequence[Mean]) -> None:
    """Give the means their percentile intervals, whole clusters drawn again: one draw per number of clusters."""
    import numpy as np

    alike: dict[int, list[Mean]] = {}
    for one in means:
        if one.sizes is not None:
            alike.setdefault(len(one.sizes), []).append(one)
    for group in alike.values():
        columns = [column for one in group for column in (one.spread, one.sizes) if column is not None]
        sums = drawn_sums(np.stack(columns, axis=1), RESAMPLES, np.random.default_rng(0))
        low, high = np.percentile(sums[:, 0::2] / sums[:, 1::2], [2.5, 97.5], axis=0)
        for number, one in enumerate(group):
            value = one.metric.value or 0.0
            one.metric = replace(one.metric, ci_low=value + float(low[number]), ci_high=value + float(high[number]))


def drawn_sums(columns: NDArray[Any], resamples: int, rng: Generator) -> NDArray[np.float64]:
    """Sums of every column (rows: clusters) over as many clusters, drawn again: (resamples, columns)."""
    import numpy as np

    matrix = columns.astype(np.float32)
    return np.concatenate([drawn @ matrix for drawn in _draws(len(matrix), resamples, rng)]).astype(np.float64)


def _draws(n: int, resamples: int, rng: Generator) -> Iterator[NDArray[np.float32]]:
    """How often each of n clusters is drawn in each resample, in blocks of resamples of about 1 MB."""
    import numpy as np

    block = max(1, _BLOCK // n)
    for start in range(0, resamples, block):
        k = min(block, resamples - start)
        drawn = rng.integers(0, n, (k, n)) + (np.arange(k) * n)[:, None]  # six times as fast as multinomial
        yield np.bincount(drawn.ravel(), minlength=k * n).reshape(k, n).astype(np.float32)
