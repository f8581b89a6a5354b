"""The formulas of intervals, a function each.

Source: Wilson 1927; Korn & Graubard 1998 (effective size, t in place of z); Agresti & Min 2005; Garwood 1936; for
resampling of whole clusters Efron & Tibshirani 1993, ch. 12.5; for bounded values that do not vary Anderson 1969.
``scipy.special`` loads in a fifth of the time of ``scipy.stats``.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from runner.results.arrays import Array, Floats, Rows, np

Z = 1.959963984540054
_TAIL = 0.025
Ends = tuple[float, float]
RESAMPLES = 1000
_BLOCK = 1 << 17  # weights at a time, which fit a processor's cache
_FEW, _MANY = 750, 3_000  # clusters whose weights are kept
FEWEST_RESAMPLED = 10  # clusters to resample
_FLAT = 0.01  # share of resamples that may come without any spread
_FARTHEST = 2.5  # quantiles of Student's t: what a studentised end is at most away
_COLUMNS = 5  # of each mean
_DIGITS = 9  # of standard errors: sums of the same numbers may differ beyond these with what else is summed
NOTHING = 1e-12  # of the largest value: what rounding leaves
ALPHA, POWER = 0.05, 0.80


def student(df: float) -> float:
    """The 97.5 % quantile of Student's t; with infinite degrees of freedom that of the normal distribution."""
    from scipy.special import stdtrit

    return float(stdtrit(df, 1 - _TAIL))


def standard_error(spread: Floats, n: int) -> float:
    """Of a mean over n samples in two or more clusters, from the sums of the deviations in each."""
    k = len(spread)
    return math.sqrt(float(spread @ spread) * k / (k - 1)) / n


def wilson(successes: float, n: float, z: float = Z) -> Ends:
    """Wilson's score interval of a proportion, in [0, 1]; it holds the proportion, whatever rounding does."""
    p, z2 = successes / n, z * z
    centre, half = p + z2 / (2 * n), z * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    low, high = (centre - half) / (1 + z2 / n), (centre + half) / (1 + z2 / n)
    return max(0.0, min(p, low)), min(1.0, max(p, high))


def clustered_wilson(p: float, spread: Floats, n: int) -> Ends:
    """Wilson's interval of a proportion in (0, 1) over as many samples, at most n, as would be as informative."""
    return score_share(p, standard_error(spread, n) ** 2, len(spread) - 1, float(n))


def score_share(value: float, variance: float, df: float, most: float = math.inf) -> Ends:
    """Wilson's interval of a mean in (0, 1): over as many samples as would give this variance, at most so many."""
    effective = min(most, max(1.0, value * (1 - value) / variance)) if variance else most
    return wilson(value * effective, effective, student(df))


def score_count(value: float, variance: float, df: float) -> Ends:
    """The score interval of a mean above 0 whose variance is proportional to it, as of an overdispersed Poisson's."""
    half = student(df) ** 2 * variance / value / 2
    reach = math.sqrt(half * (2 * value + half))
    return value + half - reach, value + half + reach


def paired_binary(values: Floats, spread: Floats, varies: bool) -> Ends:
    """Interval of a mean difference of proportions; ``spread``: the sums of the deviations in each of two or more
    clusters. Where none of them ``varies`` each cluster is one pair."""
    k, n, value, square = len(spread), len(values), float(values.mean()), float(values @ values) / len(values)
    quantile, pairs = (Z, float(n)) if k == n else (student(k - 1), float(k))
    if k < n and varies:
        pairs = min(float(n), max(1.0, (square - value * value) / standard_error(spread, n) ** 2))
    of = pairs + 2.0  # half a pair more in each of the four cells: a gain, a loss, two ties
    centre = value * pairs / of
    half = quantile * math.sqrt((square * pairs + 1.0) / of - centre * centre) / math.sqrt(of)
    return min(value, centre - half), max(value, centre + half)


def unvaried_interval(value: float, k: int, bounds: Ends) -> Ends:
    """Interval of a bounded mean of which all k clusters have the same value: at most Wilson's upper end for 0 of k is
    the share of clusters with another value, and these could be at either bound. At a bound it is Wilson's own."""
    others = wilson(0, k)[1]
    return value - others * (value - bounds[0]), value + others * (bounds[1] - value)


def poisson(total: float, k: int) -> Ends:
    """Garwood's exact interval of the mean of k counts with this total, as of Poisson's distribution."""
    from scipy.special import gammaincinv

    low = float(gammaincinv(total, _TAIL)) if total else 0.0
    return low / k, float(gammaincinv(total + 1, 1 - _TAIL)) / k


def unvaried_variance(value: float, k: int, bounds: Ends) -> float:
    """Variance of a bounded mean of which all k clusters have the same value, for means of such means: values at either
    bound have a share by Jeffreys' posterior (Brown, Cai & DasGupta 2001) of 0 of k, as large as means of k vary."""
    share = 0.5 * (k + 0.5) / ((k + 1) ** 2 * (k + 2)) * (k + 1) / k
    return share * ((value - bounds[0]) ** 2 + (bounds[1] - value) ** 2)


def moments(spread: Floats, sizes: Rows) -> Iterator[Array]:
    """The columns that are summed over resampled clusters: deviations, sizes, and their products."""
    unit = float(np.abs(spread).max()) or 1.0
    scaled, size = spread / unit, sizes / float(sizes.max())
    yield from (scaled, size, scaled * scaled, scaled * size, size * size)


def studentise(columns: Sequence[Array], k: int) -> Iterator[tuple[float, float]]:
    """How many standard errors the interval of each mean reaches below and above it, from its moments in k clusters."""
    t = student(k - 1)
    if k < FEWEST_RESAMPLED:
        yield from [(t, t)] * (len(columns) // _COLUMNS)
        return
    every = resampled_sums(columns, RESAMPLES)
    deviation, n, square, product, size = (every[part::_COLUMNS] for part in range(_COLUMNS))
    ratio = deviation / n
    variance = np.maximum(square - 2 * ratio * product + ratio * ratio * size, 0.0) * k / (k - 1)
    spread = variance > 1e-6 * np.median(variance, axis=1, keepdims=True)
    every_t = deviation / np.sqrt(np.where(spread, variance, 1.0))
    ends = np.percentile(every_t, [2.5, 97.5], axis=1).T
    for own, own_t, known, share in zip(ends, every_t, spread, spread.mean(axis=1).tolist(), strict=True):
        if 1 - share > _FLAT or not share:
            yield t, t
            continue
        own = own if share == 1 else np.percentile(own_t[known], [2.5, 97.5])
        low, high = (round(float(end), _DIGITS) for end in own)
        yield min(max(high, t), _FARTHEST * t), min(max(-low, t), _FARTHEST * t)


def resampled_sums(columns: Iterable[Floats], resamples: int) -> Floats:
    """Sums of every column, a number per cluster, over as many clusters, sampled again: (columns, resamples)."""
    known: dict[bytes, int] = {}  # many columns are alike, such as the sizes of clusters that are all of one size
    places = [known.setdefault(column.tobytes(), len(known)) for column in columns]
    matrix = np.frombuffer(b"".join(known)).reshape(len(known), -1)
    n = matrix.shape[1]
    blocks = (_few_weights if n <= _FEW else _many_weights if n <= _MANY else resampled_weights)(n, resamples)
    return np.concatenate([matrix @ weights.astype(np.float64).T for weights in blocks], axis=1)[places]


def resampled_weights(n: int, resamples: int, size: int = 0) -> Iterator[Array]:
    """How often each of n clusters is in each resample, in blocks, with a fixed seed; in smaller ones where ``size``
    numbers are made of each resample."""
    rng, block = np.random.default_rng(0), max(1, _BLOCK // max(n, size))
    for start in range(0, resamples, block):
        k = min(block, resamples - start)
        indices = rng.integers(0, n, (k, n)) + (np.arange(k) * n)[:, None]  # six times as fast as multinomial
        yield np.bincount(indices.ravel(), minlength=k * n).reshape(k, n)


@lru_cache(maxsize=60)  # sizes of groups: 45 MB at the most
def _few_weights(n: int, resamples: int) -> list[Array]:
    """The same, kept for other means and runs of as many clusters, a byte each: none comes 256 times."""
    return [weights.astype(np.uint8) for weights in resampled_weights(n, resamples)]


_many_weights = lru_cache(maxsize=1)(_few_weights.__wrapped__)  # one mean after the other: 3 MB
