"""Claims about a gain that were planned: superiority, non-inferiority and equivalence, their p values and power.

Each is tested on one side at half of alpha (ICH E9 1998, 5.5), equivalence by two such tests (Schuirmann 1987). The p
of a gain g above a bound b follows from the printed 95 % interval (l, u): T(-t (g - b) / (g - l)) where T(-t) = 0.025,
T Student's distribution with clusters - 1 degrees of freedom (with McNemar's test the normal one); that of a gain below
a bound from u. So it is at most 0.025 only where the whole interval is within the claim. Except with McNemar's test,
(g - l) / t counts for no less than the standard error between whole clusters. Superiority over 0 also needs the test of
every paired difference (McNemar's exact one, or signs of whole clusters flipped).

The power is exact for McNemar's test, else that of a t-test by clusters at the planned spread (noncentral t), with
Kish's design effect (1965) for patients that have several samples and for samples that weigh more than others.
"""

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from runner.results.arrays import np
from runner.results.formulas import student
from runner.results.pairs import MCNEMAR, Difference, weights_of
from runner.results.significance import FEWEST_SIGNS, holm, mcnemar_power, t_power
from runner.results.table import Path

Bounds = tuple[float, float]
_MOST = 1_000_000  # samples that are thought of


def claim_p(difference: Difference, bounds: Bounds) -> float | None:
    """The p value, one-sided, of the claim that the gain is between the bounds; None where nothing can be tested."""
    low, high = bounds
    sides = [_beyond(difference, low, 1.0)]
    if not math.isinf(high):
        sides.append(_beyond(difference, high, -1.0))
    elif low == 0:
        p, gain = difference.p, difference.metric.value
        sides.append(None if p is None or gain is None else p / 2 if gain > 0 else 1 - p / 2)
    known = [p for p in sides if p is not None]
    return max(known) if len(known) == len(sides) else None


def _beyond(difference: Difference, bound: float, sign: float) -> float | None:
    """One-sided p of a gain above a bound, with ``sign`` -1 below it, from that end of the interval."""
    from scipy.special import stdtr

    metric, is_mcnemar = difference.metric, difference.test == MCNEMAR
    end = metric.ci_low if sign > 0 else metric.ci_high
    if metric.value is None or end is None or difference.clusters < 2:
        return None
    df, far = math.inf if is_mcnemar else difference.clusters - 1.0, sign * (metric.value - bound)
    se = max(sign * (metric.value - end) / student(df), 0.0 if is_mcnemar else difference.standard_error or 0.0)
    return float(stdtr(df, -far / se)) if se else float(far <= 0)


def adjust_p_values(
    primary: Sequence[float | None], secondary: Sequence[float | None], by_order: bool
) -> tuple[list[float], list[float]]:
    """P values adjusted for all hypotheses: of the primary ones by Holm's method, or ``by_order``, each tested only if
    all before it hold; of the secondary ones in the same way, after all primary ones (a gatekeeper: Dmitrienko 2003).
    What cannot be tested counts as 1."""

    def family(p_values: Sequence[float | None]) -> list[float]:
        known = [1.0 if p is None else p for p in p_values]
        return np.maximum.accumulate(known).tolist() if by_order and known else holm(known)

    first = family(primary)
    return first, [max(p, *first) for p in family(secondary)]


@dataclass(frozen=True)
class Clusters:
    """``n`` samples of ``k`` patients. The variance of their mean is that of n independent ones of equal weight, times
    ``weight_effect`` = n sum(w^2) over samples where these are independent, and times ``cluster_effect`` = n sum(w^2)
    over patients where those of a patient are copies; weights w add up to 1."""

    n: int
    k: int
    cluster_effect: float
    weight_effect: float = 1.0

    @classmethod
    def of(cls, names: Sequence[str], paths: Sequence[Path] = ()) -> "Clusters":
        """From the patient of each sample; ``paths``: the groups of each in a mean of means, from the outer one."""
        paths = paths or [()] * len(names)
        numbers = {path: n for n, path in enumerate(dict.fromkeys(paths))}
        weights = weights_of(np.array([numbers[path] for path in paths], dtype=np.intp), list(numbers))
        total = defaultdict[str, float](float)
        for name, weight in zip(names, weights.tolist(), strict=True):
            total[name] += weight
        n = len(names)
        return cls(n, len(total), n * math.fsum(one * one for one in total.values()), n * float(weights @ weights))

    def scaled(self, n: int) -> "Clusters":
        """So many samples, of patients and groups as here."""
        return replace(self, n=n, k=max(2, round(self.k * n / self.n)))


@dataclass(frozen=True)
class Planned:
    """What a power calculation assumes: ``room`` of the expected gain to either bound of the claim, the standard
    deviation of the differences of pairs (``spread``), how alike those of a patient are (``within``); ``changes``: the
    shares of pairs of scores of 0 and 1 that are won and lost, where the test is McNemar's."""

    room: Bounds
    spread: float
    within: float = 0.0
    changes: tuple[float, float] | None = None

    def power(self, samples: Clusters, alpha: float) -> float:
        """The chance that the claim is shown with these samples: of equivalence at least."""
        if self.changes is not None and samples.k == samples.n and samples.weight_effect < 1 + 1e-9:
            return mcnemar_power(samples.n, *self.changes, alpha) if samples.n >= FEWEST_SIGNS else 0.0
        design = (1 - self.within) * samples.weight_effect + self.within * samples.cluster_effect
        deviation = max(self.spread, 1e-9) * math.sqrt(design * samples.k / samples.n)
        sides = [t_power(one / deviation, samples.k, alpha) for one in self.room if not math.isinf(one)]
        return max(0.0, sum(sides) - len(sides) + 1)

    def needed(self, samples: Clusters, alpha: float, power: float) -> int | None:
        """The smallest number of samples with this power, six or more; None beyond a million."""
        numbers = range(_MOST + 1)
        n = bisect_left(numbers, True, FEWEST_SIGNS, key=lambda n: self.power(samples.scaled(n), alpha) >= power)
        return n if n in numbers else None
