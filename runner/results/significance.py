"""Comparing two methods on the same items: a paired t-test, tests by flipped signs, Holm's adjustment.

Source: Zheng et al. 2024, arXiv 2412.09529, who print t and p without naming the test; the two-sided
paired t-test (Student 1908) is the usual reading. The p value comes from the regularised incomplete
beta function by its continued fraction (Lentz 1976), exact to about 1e-12. Sign test: Dixon & Mood 1946, for
scores of 0 and 1 McNemar's exact test; flipped signs: Fisher 1935; Holm 1979.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, lgamma, log, log1p, sqrt
from statistics import fmean, stdev

_TINY, _PRECISE, _MOST_TERMS, _FLIPS = 1e-300, 1e-15, 10_000, 9_999


@dataclass(frozen=True)
class Comparison:
    """Method A against method B. ``t`` is negative when A's values are lower; ``t`` and ``p_value`` (two-sided)
    are None when they are undefined: all differences alike, or fewer than two items.
    """

    win: int
    tie: int
    loss: int
    t: float | None
    p_value: float | None
    df: int


def compare(a: Sequence[float], b: Sequence[float], lower_is_better: bool = True) -> Comparison:
    """Compare two methods by their values on the same items, in the same order."""
    differences = [left - right for left, right in zip(a, b, strict=True)]
    lower = sum(difference < 0 for difference in differences)
    higher = sum(difference > 0 for difference in differences)
    win, loss = (lower, higher) if lower_is_better else (higher, lower)
    t = _t(differences)
    df = len(differences) - 1
    return Comparison(win, len(differences) - win - loss, loss, t, None if t is None else t_test_p(t, df), df)


def _t(differences: Sequence[float]) -> float | None:
    """Mean difference in standard errors; None without any spread."""
    spread = stdev(differences) if len(differences) > 1 else 0.0
    return fmean(differences) / (spread / sqrt(len(differences))) if spread else None


def sign_test_p(wins: int, losses: int) -> float:
    """Exact two-sided p value of the sign test: wins and losses are equally likely."""
    n, ways, total = wins + losses, 1, 0
    for k in range(min(wins, losses) + 1):
        total, ways = total + ways, ways * (n - k) // (k + 1)
    return min(1.0, total / (1 << n) * 2)


def sign_flip_p(parts: Sequence[float]) -> float:
    """Two-sided p value of a sum when each part is as likely to have the other sign: exact where all that are not
    nothing weigh the same (the sign test), else over 9,999 draws of signs with a fixed seed."""
    weighed = [part for part in parts if abs(part) > _PRECISE]
    if not weighed or max(map(abs, weighed)) - min(map(abs, weighed)) < _PRECISE:
        return sign_test_p(sum(part > 0 for part in weighed), sum(part < 0 for part in weighed))
    import numpy as np

    values, rng, reached, left = np.array(weighed), np.random.default_rng(0), 0, _FLIPS
    observed = abs(float(values.sum())) - _PRECISE
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


def t_test_p(t: float, df: int) -> float:
    """Two-sided p value of Student's t with ``df`` degrees of freedom."""
    return incomplete_beta(df / 2, 0.5, df / (df + t * t))


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function I_x(a, b), for x from 0 to 1."""
    if x <= 0.0 or x >= 1.0:
        return float(x >= 1.0)
    if x > (a + 1) / (a + b + 2):
        return 1.0 - incomplete_beta(b, a, 1.0 - x)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x))
    return front * _fraction(a, b, x) / a


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method."""
    c = 1.0
    d = 1.0 / _nonzero(1.0 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, _MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1.0 / _nonzero(1.0 + term * d)
            c = _nonzero(1.0 + term / c)
            value *= c * d
        if abs(c * d - 1.0) < _PRECISE:
            break
    return value


def _nonzero(value: float) -> float:
    """The value, or a tiny one in place of zero."""
    return value if abs(value) > _TINY else _TINY
