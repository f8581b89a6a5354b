"""How much paired samples can tell: the smallest difference found with a power of 80 %, and how many samples more would
tell two methods apart at the difference observed. Paired t-test at 5 %, two-sided, without adjustment.

The power is that of the noncentral t distribution (SciPy); the far side of the test, which adds less than a millionth,
is left out. Tests hold it against statsmodels, whose import takes longer than all of a sweep's comparisons.
"""

from __future__ import annotations

import math
from functools import lru_cache

from runner.results.statistics.gains import Gain

ALPHA, POWER = 0.05, 0.80
_FEWEST = 3
_NOTHING = 1e-6  # standard deviations


def detectable(gain: Gain) -> float | None:
    """The smallest true difference that as many clusters find with a power of 80 %; None where nothing varies."""
    if not gain.standard_error or gain.clusters < _FEWEST:
        return None
    return least_effect(gain.clusters) * gain.standard_error * math.sqrt(gain.clusters)


def more_samples(gain: Gain) -> int | None:
    """How many more samples find the observed difference with a power of 80 %: 0 where those at hand do; None where
    nothing varies, or there is no difference to find."""
    if not gain.metric.value or not gain.standard_error or gain.clusters < _FEWEST:
        return None
    effect = abs(gain.metric.value) / (gain.standard_error * math.sqrt(gain.clusters))
    if effect < _NOTHING:
        return None
    missing = clusters_for(effect) - gain.clusters
    return max(0, math.ceil(missing * gain.metric.n / gain.clusters - 1e-9))


@lru_cache(maxsize=1024)
def least_effect(clusters: int) -> float:
    """The smallest effect, in standard deviations, that three or more clusters find."""
    from scipy.special import nctdtrinc, stdtrit

    df = clusters - 1
    return float(nctdtrinc(df, 1 - POWER, stdtrit(df, 1 - ALPHA / 2))) / math.sqrt(clusters)


def clusters_for(effect: float) -> int:
    """How many clusters, three or more, find an effect in standard deviations."""
    from scipy.special import ndtri

    sure = math.ceil(float((ndtri(1 - ALPHA / 2) + ndtri(POWER)) / effect) ** 2)  # with a normal distribution: too few
    low, high = max(_FEWEST, sure), max(_FEWEST, sure) + 3
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if least_effect(middle) <= effect else (middle + 1, high)
    return low
