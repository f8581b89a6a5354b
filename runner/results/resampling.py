"""Drawing whole clusters again: how far a studentised interval reaches, and sums over drawn clusters.

Source: Efron & Tibshirani 1993, ch. 12.5.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from runner.results.bounds import student

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import Generator
    from numpy.typing import NDArray

RESAMPLES = 1000
_BLOCK = 50_000  # weights held at a time
FEWEST_DRAWN = 10  # clusters to draw from
_FLAT = 0.01  # share of resamples that may come without any spread
_FARTHEST = 2.5  # quantiles of Student's t: what a studentised end is at most away
_COLUMNS = 5  # of each mean
_DIGITS = 9  # of standard errors: sums of the same numbers may differ beyond these with what else is summed


def moments(spread: NDArray[np.float64], sizes: NDArray[np.intp]) -> Iterator[NDArray[Any]]:
    """What sums over drawn clusters are needed of: deviations, sizes, and their products."""
    import numpy as np

    unit = float(np.abs(spread).max()) or 1.0
    scaled, size = spread / unit, sizes / float(sizes.max())
    yield from (scaled, size, scaled * scaled, scaled * size, size * size)


def studentised(columns: NDArray[Any], k: int) -> Iterator[tuple[float, float]]:
    """How many standard errors the interval of each mean reaches below and above it, given the moments of all of them
    in k clusters each."""
    import numpy as np

    sums = drawn_sums(columns, RESAMPLES if k >= FEWEST_DRAWN else 0, np.random.default_rng(0))
    for place in range(0, columns.shape[1], _COLUMNS):
        yield _ends(sums[:, place : place + _COLUMNS], k)


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
    low, high = (round(float(end), _DIGITS) for end in np.percentile(studentised, [2.5, 97.5]))
    return min(max(high, t), _FARTHEST * t), min(max(-low, t), _FARTHEST * t)


def drawn_sums(columns: NDArray[Any], resamples: int, rng: Generator) -> NDArray[np.float64]:
    """Sums of every column (rows: clusters) over as many clusters, drawn again: (resamples, columns)."""
    import numpy as np

    matrix = columns.astype(np.float64)
    drawn = [weights @ matrix for weights in _draws(len(matrix), resamples, rng)]
    return np.concatenate(drawn or [np.empty((0, matrix.shape[1]))])


def _draws(n: int, resamples: int, rng: Generator) -> Iterator[NDArray[np.float64]]:
    """How often each of n clusters is drawn in each resample, in blocks of resamples of about 1 MB."""
    import numpy as np

    block = max(1, _BLOCK // n)
    for start in range(0, resamples, block):
        k = min(block, resamples - start)
        drawn = rng.integers(0, n, (k, n)) + (np.arange(k) * n)[:, None]  # six times as fast as multinomial
        yield np.bincount(drawn.ravel(), minlength=k * n).reshape(k, n).astype(np.float64)
