"""The power of paired samples: the smallest difference found with a power of 80 %, and how many more samples
would distinguish two methods at the difference observed. At 5 %, two-sided, without adjustment.

Of McNemar's exact test the power is summed over the numbers of pairs that differ (Connor 1987), their share being the
one observed. Of the others it is that of the paired t-test, by the noncentral t distribution (SciPy); the far side of
the test, which adds less than a millionth, is left out. Tests hold it against statsmodels, whose import takes longer
than all of a sweep's comparisons. With fewer than six clusters no test by signs comes below 5 %: they find nothing.
"""

import math
from functools import lru_cache

from runner.results.bounds import Z
from runner.results.pairs import MCNEMAR, Gain

ALPHA, POWER = 0.05, 0.80
_FEWEST, _FEWEST_SEEN = 6, 3  # clusters: 2 / 2^6 is below 5 %; those that show how much they vary
_NOTHING = 1e-6  # standard deviations
_FAR = 8.0  # standard deviations of the number of pairs that differ
_STEPS = 16  # halvings: gains to 0.00002


def detectable(gain: Gain, reach: float = math.inf) -> float | None:
    """The smallest true difference that as many clusters find with a power of 80 %; None where nothing varies,
    too few clusters differ to find any, or it is beyond the ``reach`` of a gain."""
    if not gain.standard_error or gain.clusters < _FEWEST:
        return None
    if gain.test == MCNEMAR:
        return least_gain(gain.clusters, gain.wins + gain.losses)
    if gain.wins + gain.losses < _FEWEST:
        return None
    least = least_effect(gain.clusters) * gain.standard_error * math.sqrt(gain.clusters)
    return least if least <= reach else None


def more_samples(gain: Gain) -> int | None:
    """How many more samples find the observed difference with a power of 80 %: 0 where those at hand do; None where
    nothing varies, or there is no difference to find."""
    if not gain.metric.value or not gain.standard_error or gain.clusters < _FEWEST_SEEN:
        return None
    effect = abs(gain.metric.value) / (gain.standard_error * math.sqrt(gain.clusters))
    if effect < _NOTHING:
        return None
    wanted = clusters_for(effect)
    if gain.test == MCNEMAR:
        wanted = pairs_for(gain.wins / gain.clusters, gain.losses / gain.clusters, wanted)
    return max(0, math.ceil((wanted - gain.clusters) * gain.metric.n / gain.clusters - 1e-9))


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
    low, high = max(_FEWEST, sure), max(_FEWEST, sure) + 3
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if least_effect(middle) <= effect else (middle + 1, high)
    return low


def mcnemar_power(pairs: int, won: float, lost: float) -> float:
    """The chance that McNemar's exact test finds these shares of pairs that are won and lost, together above 0."""
    import numpy as np
    from scipy.special import bdtr, gammaln, xlog1py, xlogy

    share = min(1.0, won + lost)
    far = _FAR * math.sqrt(pairs * share * (1 - share)) + 1
    differ = np.arange(max(_FEWEST, math.floor(pairs * share - far)), min(pairs, math.ceil(pairs * share + far)) + 1)
    chance = gammaln(pairs + 1) - gammaln(differ + 1) - gammaln(pairs - differ + 1)
    chance = np.exp(chance + xlogy(differ, share) + xlog1py(pairs - differ, -share))
    most = (differ - Z * np.sqrt(differ)) // 2 - 1  # of the rarer kind, so that p is below 5 %: as many, or one less
    most = np.where(bdtr(most + 1, differ, 0.5) <= ALPHA / 2, most + 1, most)
    found = bdtr(most, differ, lost / (won + lost)) + bdtr(most, differ, won / (won + lost))
    return float(chance @ found)


@lru_cache(maxsize=1024)
def least_gain(pairs: int, differ: int) -> float:
    """The smallest gain that six or more pairs find, as many of which differ, or more where the gain needs it."""
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
    low = high = about
    while mcnemar_power(high, won, lost) < POWER:
        low, high = high, high + max(1, high // 8)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if mcnemar_power(middle, won, lost) >= POWER else (middle, high)
    return high
