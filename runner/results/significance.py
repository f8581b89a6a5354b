"""Tests of two methods on the same items, Holm's adjustment, and power.

Source: Zheng et al. 2024, arXiv 2412.09529, print t and p without naming the test: the paired t-test (Student 1908) is
usual. Sign test: Dixon & Mood 1946, of scores of 0 and 1 McNemar's; flipped signs: Fisher 1935; Holm 1979. Power is
that of a two-sided test at 5 %, without adjustment: of McNemar's summed over the numbers of pairs that differ (Connor
1987), their share being the one observed; of others by the noncentral t distribution, without the far side of the test.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean, stdev

from runner.results.arrays import Array, np
from runner.results.formulas import ALPHA, NOTHING, POWER, Z

FEWEST_SIGNS = 6  # clusters: 2 / 2^6 is below 5 %, so that fewer find nothing

_FAR = 8.0  # standard deviations of the number of pairs that differ

_SURE = 30.0  # standard errors: scipy has no numbers for 40

_STEPS = 16  # halvings: differences to 0.00002

_FLIPS, _ALL = 9_999, 13  # parts of up to 13 clusters: all 2^13 signs
_BLOCK = 104  # sets of signs that fit a processor's cache, a multiple of 8
_CHUNK = 1 << 16  # random numbers
_KEPT = 1 << 28  # random numbers that stay in memory at the most: 32 MB, for 26,000 clusters


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
    values = np.asarray(parts, dtype=float)
    sizes = np.abs(values)
    nothing = NOTHING * float(sizes.max(initial=0.0))
    values, sizes = values[sizes > nothing], sizes[sizes > nothing]
    if not len(values) or float(np.ptp(sizes)) <= nothing:
        return sign_test_p(int((values > 0).sum()), int((values < 0).sum()))
    observed = abs(float(values.sum())) - NOTHING * float(sizes.sum())
    if len(values) <= _ALL:
        every = (np.arange(1 << len(values))[:, None] >> np.arange(len(values)) & 1) * 2 - 1
        return float((np.abs(every @ values) >= observed).mean())
    whole, n, reached = float(values.sum()), len(values), 0
    size = max(_CHUNK, 1 << (_FLIPS * n).bit_length())
    signs = _random_signs(size) if size <= _KEPT else _random_signs.__wrapped__(size)
    for start in range(0, _FLIPS, _BLOCK):
        size = min(_BLOCK, _FLIPS - start)
        bits = np.unpackbits(signs[start * n // 8 : (start + _BLOCK) * n // 8])[: size * n]
        kept = bits.reshape(size, n).astype(np.float64) @ values
        reached += int((np.abs(2 * kept - whole) >= observed).sum())
    return (reached + 1) / (_FLIPS + 1)


@lru_cache(maxsize=2)
def _random_signs(n: int) -> Array:
    """The first n, a power of two, of the numbers of rng.integers(0, 2, n, np.int8), eight in a byte: the same for all
    tests."""
    rng = np.random.default_rng(0)
    chunks = (np.frombuffer(rng.bytes(_CHUNK), np.uint8) & 0x80 for _ in range(n // _CHUNK))
    return np.concatenate([np.packbits(chunk) for chunk in chunks])


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


def t_power(effect: float, clusters: int, alpha: float = ALPHA) -> float:
    """The chance that a t-test at half of ``alpha`` on one side finds an effect in standard deviations of a cluster."""
    from scipy.special import nctdtr, stdtrit

    df = clusters - 1
    return 1.0 - float(nctdtr(df, min(_SURE, effect * math.sqrt(clusters)), stdtrit(df, 1 - alpha / 2)))


def mcnemar_power(pairs: int, won: float, lost: float, alpha: float = ALPHA) -> float:
    """The chance that McNemar's exact test finds these shares of pairs that are won and lost, together above 0."""
    from scipy.special import bdtr, bdtrik, gammaln, xlog1py, xlogy

    share = min(1.0, won + lost)
    far = _FAR * math.sqrt(pairs * share * (1 - share)) + 1
    differ = np.arange(
        max(FEWEST_SIGNS, math.floor(pairs * share - far)), min(pairs, math.ceil(pairs * share + far)) + 1
    )
    chance = gammaln(pairs + 1) - gammaln(differ + 1) - gammaln(pairs - differ + 1)
    chance = np.exp(chance + xlogy(differ, share) + xlog1py(pairs - differ, -share))
    # Of the rarer kind, so that p is below alpha: as many, or one less; for 5 % in a fifth of the time.
    fast = alpha == ALPHA
    most = (differ - Z * np.sqrt(differ)) // 2 - 1 if fast else np.floor(bdtrik(alpha / 2, differ, 0.5)) - 1
    most = np.where(bdtr(most + 1, differ, 0.5) <= alpha / 2, most + 1, most)
    chance, differ, most = chance[most >= 0], differ[most >= 0], most[most >= 0]
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
