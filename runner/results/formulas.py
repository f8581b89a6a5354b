"""The formulas of intervals, of tests of two methods on the same items, and of their power, a function each.

Source: Wilson 1927; Korn & Graubard 1998 (effective size, t in place of z); Agresti & Min 2005; Garwood 1936; for
resampling of whole clusters Efron & Tibshirani 1993, ch. 12.5; for bounded values that do not vary Anderson 1969.
Zheng et al. 2024, arXiv 2412.09529, print t and p without naming the test: the paired t-test (Student 1908) is usual.
Sign test: Dixon & Mood 1946, of scores of 0 and 1 McNemar's; flipped signs: Fisher 1935; Holm 1979. Power is that of
a two-sided test at 5 %, without adjustment: of McNemar's summed over the numbers of pairs that differ (Connor 1987),
their share being the one observed; of others by the noncentral t distribution, without the far side of the test.
``scipy.special`` loads in a fifth of the time of ``scipy.stats``.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import Generator
    from numpy.typing import NDArray

Z = 1.959963984540054
_TAIL = 0.025
Ends = tuple[float, float]
RESAMPLES = 1000
_BLOCK = 50_000  # weights in memory at a time
FEWEST_RESAMPLED = 10  # clusters to resample
_FLAT = 0.01  # share of resamples that may come without any spread
_FARTHEST = 2.5  # quantiles of Student's t: what a studentised end is at most away
_COLUMNS = 5  # of each mean
_DIGITS = 9  # of standard errors: sums of the same numbers may differ beyond these with what else is summed
NOTHING = 1e-12  # of the largest value: what rounding leaves
ALPHA, POWER = 0.05, 0.80
FEWEST_SIGNS = 6  # clusters: 2 / 2^6 is below 5 %, so that fewer find nothing
_FAR = 8.0  # standard deviations of the number of pairs that differ
_STEPS = 16  # halvings: differences to 0.00002
_FLIPS, _ALL = 9_999, 13  # parts of up to 13 clusters: all 2^13 signs


def student(df: float) -> float:
    """The 97.5 % quantile of Student's t; with infinite degrees of freedom that of the normal distribution."""
    from scipy.special import stdtrit

    return float(stdtrit(df, 1 - _TAIL))


def standard_error(spread: NDArray[np.float64], n: int) -> float:
    """Of a mean over n samples in two or more clusters, from the sums of the deviations in each."""
    k = len(spread)
    return math.sqrt(float(spread @ spread) * k / (k - 1)) / n


def wilson(successes: float, n: float, z: float = Z) -> Ends:
    """Wilson's score interval of a proportion, in [0, 1]; it holds the proportion, whatever rounding does."""
    p, z2 = successes / n, z * z
    centre, half = p + z2 / (2 * n), z * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    low, high = (centre - half) / (1 + z2 / n), (centre + half) / (1 + z2 / n)
    return max(0.0, min(p, low)), min(1.0, max(p, high))


def clustered_wilson(p: float, spread: NDArray[np.float64], n: int) -> Ends:
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


def paired_binary(values: NDArray[np.float64], spread: NDArray[np.float64], varies: bool) -> Ends:
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


def unvaried(value: float, k: int, bounds: Ends) -> Ends:
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


def moments(spread: NDArray[np.float64], sizes: NDArray[np.intp]) -> Iterator[NDArray[Any]]:
    """The columns that are summed over resampled clusters: deviations, sizes, and their products."""
    import numpy as np

    unit = float(np.abs(spread).max()) or 1.0
    scaled, size = spread / unit, sizes / float(sizes.max())
    yield from (scaled, size, scaled * scaled, scaled * size, size * size)


def studentised(columns: NDArray[Any], k: int) -> Iterator[tuple[float, float]]:
    """How many standard errors the interval of each mean reaches below and above it, from its moments in k clusters."""
    import numpy as np

    every = resampled_sums(columns, RESAMPLES if k >= FEWEST_RESAMPLED else 0, np.random.default_rng(0))
    t = student(k - 1)
    for place in range(0, columns.shape[1], _COLUMNS):
        if not len(every):
            yield t, t
            continue
        deviation, n, square, product, size = every[:, place : place + _COLUMNS].T
        ratio = deviation / n
        variance = np.maximum(square - 2 * ratio * product + ratio * ratio * size, 0.0) * k / (k - 1)
        spread = variance > 1e-6 * float(np.median(variance))
        if (~spread).mean() > _FLAT or not spread.any():
            yield t, t
            continue
        ends = np.percentile(deviation[spread] / np.sqrt(variance[spread]), [2.5, 97.5])
        low, high = (round(float(end), _DIGITS) for end in ends)
        yield min(max(high, t), _FARTHEST * t), min(max(-low, t), _FARTHEST * t)


def resampled_sums(columns: NDArray[Any], resamples: int, rng: Generator) -> NDArray[np.float64]:
    """Sums of every column (rows: clusters) over as many clusters, sampled again: (resamples, columns)."""
    import numpy as np

    matrix, n = columns.astype(np.float64), len(columns)
    sums, block = [np.empty((0, matrix.shape[1]))], max(1, _BLOCK // n)
    for start in range(0, resamples, block):
        k = min(block, resamples - start)
        indices = rng.integers(0, n, (k, n)) + (np.arange(k) * n)[:, None]  # six times as fast as multinomial
        weights = np.bincount(indices.ravel(), minlength=k * n).reshape(k, n).astype(np.float64)
        sums.append(weights @ matrix)  # how often each cluster is in each resample
    return np.concatenate(sums)


@dataclass(frozen=True)
class Comparison:
    """Method A against method B. ``t`` is negative when A's values are lower; ``t`` and ``p_value`` (two-sided) are
    None when they are undefined: all differences alike, or fewer than two items."""

    win: int
    tie: int
    loss: int
    t: float | None
    p_value: float | None
    df: int


def compare(a: Sequence[float], b: Sequence[float], lower_is_better: bool = True) -> Comparison:
    """Compare two methods by their values on the same items, in the same order."""
    differences = [left - right for left, right in zip(a, b, strict=True)]
    lower, higher = sum(one < 0 for one in differences), sum(one > 0 for one in differences)
    win, loss = (lower, higher) if lower_is_better else (higher, lower)
    spread, df = stdev(differences) if len(differences) > 1 else 0.0, len(differences) - 1
    varies = spread > NOTHING * max(map(abs, differences), default=0.0)
    t = fmean(differences) / (spread / math.sqrt(len(differences))) if varies else None  # in standard errors
    return Comparison(win, len(differences) - win - loss, loss, t, None if t is None else t_test_p(t, df), df)


def t_test_p(t: float, df: int) -> float:
    """Two-sided p value of Student's t with ``df`` degrees of freedom."""
    from scipy.special import stdtr

    return 2.0 * float(stdtr(df, -abs(t)))


def sign_test_p(wins: int, losses: int) -> float:
    """Exact two-sided p value of the sign test: wins and losses are equally likely."""
    from scipy.special import bdtr

    return min(1.0, 2.0 * float(bdtr(min(wins, losses), wins + losses, 0.5))) if wins + losses else 1.0


def sign_flip_p(parts: Sequence[float]) -> float:
    """Two-sided p value of a sum when each part is as likely to have the other sign: exact where all that are not zero
    weigh the same (the sign test) and for up to 13 of them, else by 9,999 random signs with a fixed seed."""
    nothing = NOTHING * max(map(abs, parts), default=0.0)
    weighed = [part for part in parts if abs(part) > nothing]
    if not weighed or max(map(abs, weighed)) - min(map(abs, weighed)) <= nothing:
        return sign_test_p(sum(part > 0 for part in weighed), sum(part < 0 for part in weighed))
    import numpy as np

    values, rng, reached, left = np.array(weighed), np.random.default_rng(0), 0, _FLIPS
    observed = abs(float(values.sum())) - NOTHING * float(np.abs(values).sum())
    if len(values) <= _ALL:
        every = (np.arange(1 << len(values))[:, None] >> np.arange(len(values)) & 1) * 2 - 1
        return float((np.abs(every @ values) >= observed).mean())
    while left:
        size = min(left, 1_000)
        signs = rng.integers(0, 2, size=(size, len(values)), dtype=np.int8) * 2 - 1
        reached += int((np.abs(signs @ values) >= observed).sum())
        left -= size
    return (reached + 1) / (_FLIPS + 1)


def holm(p_values: Sequence[float]) -> list[float]:
    """P values adjusted for their number, in the order given: at most one false finding with the stated chance."""
    adjusted, highest = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = highest
    return adjusted


@lru_cache(maxsize=1024)
def least_effect(clusters: int) -> float:
    """The smallest effect, in standard deviations, that three or more clusters find."""
    from scipy.special import nctdtrinc, stdtrit

    df = clusters - 1
    return float(nctdtrinc(df, 1 - POWER, stdtrit(df, 1 - ALPHA / 2))) / math.sqrt(clusters)


def clusters_for(effect: float) -> int:
    """How many clusters, six or more, find an effect in standard deviations."""
    from scipy.special import ndtri

    sure = math.ceil(float((ndtri(1 - ALPHA / 2) + ndtri(POWER)) / effect) ** 2)  # with a normal distribution: too few
    low = max(FEWEST_SIGNS, sure)
    return low + bisect_left(range(low, low + 3), True, key=lambda clusters: least_effect(clusters) <= effect)


def mcnemar_power(pairs: int, won: float, lost: float) -> float:
    """The chance that McNemar's exact test finds these shares of pairs that are won and lost, together above 0."""
    import numpy as np
    from scipy.special import bdtr, gammaln, xlog1py, xlogy

    share = min(1.0, won + lost)
    far = _FAR * math.sqrt(pairs * share * (1 - share)) + 1
    differ = np.arange(
        max(FEWEST_SIGNS, math.floor(pairs * share - far)), min(pairs, math.ceil(pairs * share + far)) + 1
    )
    chance = gammaln(pairs + 1) - gammaln(differ + 1) - gammaln(pairs - differ + 1)
    chance = np.exp(chance + xlogy(differ, share) + xlog1py(pairs - differ, -share))
    most = (differ - Z * np.sqrt(differ)) // 2 - 1  # of the rarer kind, so that p is below 5 %: as many, or one less
    most = np.where(bdtr(most + 1, differ, 0.5) <= ALPHA / 2, most + 1, most)
    found = bdtr(most, differ, lost / (won + lost)) + bdtr(most, differ, won / (won + lost))
    return float(chance @ found)


@lru_cache(maxsize=1024)
def least_difference(pairs: int, differ: int) -> float:
    """The smallest difference that six or more pairs find, as many of which differ, or more where it needs them."""
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        share = max(differ / pairs, middle)
        enough = mcnemar_power(pairs, (share + middle) / 2, (share - middle) / 2) >= POWER
        low, high = (low, middle) if enough else (middle, high)
    return high


@lru_cache(maxsize=1024)
def pairs_for(won: float, lost: float, about: int) -> int:
    """How many pairs find these shares; ``about`` as many as a t-test needs, where the search begins."""
    low, high = about - 1, about
    while mcnemar_power(high, won, lost) < POWER:
        low, high = high, high + max(1, high // 8)
    between = range(low + 1, high)
    return low + 1 + bisect_left(between, True, key=lambda pairs: mcnemar_power(pairs, won, lost) >= POWER)
