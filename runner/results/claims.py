"""Claims about a gain that were planned: superiority, non-inferiority and equivalence, their p values and power.

Each is tested on one side at half of alpha, as ICH E9 (1998, 5.5) has it, so that it agrees with the two-sided
interval; equivalence by two such tests (Schuirmann 1987). Superiority over 0 has the test of every paired difference
(McNemar's exact one, or signs of whole clusters flipped); other bounds a t-test by clusters, of scores of 0 and 1 on
the middle and the standard error of their interval (Agresti & Min 2005). The power is that of these tests at the
planned spread: exact for McNemar's, else by the noncentral t distribution, with Kish's design effect (1965) where
patients have several samples.
"""

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from runner.results.arrays import np
from runner.results.formulas import adjusted_binary
from runner.results.pairs import Difference, Pairs
from runner.results.significance import FEWEST_SIGNS, holm, mcnemar_power, t_power

Bounds = tuple[float, float]
LOOK = 0.001  # alpha of an interim analysis, two-sided (Haybittle 1971, Peto 1976)
_MOST = 1_000_000  # samples that are thought of


def claim_p(pairs: Pairs, difference: Difference, bounds: Bounds, levelled: bool = False) -> float | None:
    """The p value, one-sided, of the claim that the gain is between the bounds; None where nothing can be tested.
    ``levelled``: it is a mean of means."""
    low, high = bounds
    if low == 0 and math.isinf(high):
        return _superiority_p(difference)
    sides = [_beyond(pairs, difference, low, levelled, 1.0)]
    if not math.isinf(high):
        sides.append(_beyond(pairs, difference, high, levelled, -1.0))
    known = [p for p in sides if p is not None]
    return max(known) if len(known) == len(sides) else None


def _superiority_p(difference: Difference) -> float | None:
    p, gain = difference.p, difference.metric.value
    return None if p is None or gain is None else p / 2 if gain > 0 else 1 - p / 2


def _beyond(pairs: Pairs, difference: Difference, bound: float, levelled: bool, sign: float) -> float | None:
    """One-sided p of a gain above a bound, with ``sign`` -1 below it."""
    from scipy.special import stdtr

    value, se, k = difference.metric.value, difference.standard_error, difference.clusters
    if value is None or k < 2:
        return None
    df = float(k - 1)
    if pairs.scale.kind == "proportion" and not levelled:
        number = pairs.table["number"]
        sizes, n = np.bincount(number), len(pairs.gains)
        spread = np.bincount(number, weights=pairs.gains - value)[sizes > 0].astype(np.float64)
        value, deviation, of = adjusted_binary(pairs.gains, spread, bool(se))
        se, df = deviation / math.sqrt(of), math.inf if k == n else df
    return float(stdtr(df, -sign * (value - bound) / se)) if se else None


def adjusted(
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
    """The samples of a study: how many, of how many patients, and Kish's mean size, by which their likeness counts.
    ``unequal``: how many times as large the variance of a mean of means is as that of the plain mean, by the weights of
    the samples (Kish 1965), 1 for groups of the same size; None: it is a plain mean."""

    n: int
    k: int
    size: float
    unequal: float | None = None

    @classmethod
    def of(cls, names: Iterable[str]) -> "Clusters":
        """From the patient of each sample."""
        sizes = list(Counter(names).values())
        return cls(sum(sizes), len(sizes), sum(one * one for one in sizes) / max(1, sum(sizes)))

    def scaled(self, n: int) -> "Clusters":
        """So many samples, of patients that have as many as here."""
        return replace(self, n=n, k=max(2, round(self.k * n / self.n)))

    def levelled(self, strata: Sequence[Mapping[str, str]], levels: Sequence[str]) -> "Clusters":
        """The same for a mean of means by these levels, from the inner to the outer one, of samples with ``strata``."""
        leaves = Counter(tuple(of[name] for name in reversed(levels)) for of in strata if levels and {*levels} <= {*of})
        if len(leaves) < 2:
            return self
        below: dict[tuple[str, ...], set[str]] = {}
        for path in leaves:
            for depth, step in enumerate(path):
                below.setdefault(path[:depth], set()).add(step)
        weights = {path: 1 / math.prod(len(below[path[:depth]]) for depth in range(len(path))) for path in leaves}
        return replace(self, unequal=self.n * sum(weights[path] ** 2 / n for path, n in leaves.items()))


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
        if self.changes is not None and samples.k == samples.n and samples.unequal is None:
            return mcnemar_power(samples.n, *self.changes, alpha) if samples.n >= FEWEST_SIGNS else 0.0
        design = (1 + (samples.size - 1) * self.within) * (samples.unequal or 1.0)
        deviation = max(self.spread, 1e-9) * math.sqrt(design * samples.k / samples.n)
        sides = [t_power(one / deviation, samples.k, alpha) for one in self.room if not math.isinf(one)]
        return max(0.0, sum(sides) - len(sides) + 1)

    def needed(self, samples: Clusters, alpha: float, power: float) -> int | None:
        """The smallest number of samples with this power; None beyond a million."""
        most = FEWEST_SIGNS
        while self.power(samples.scaled(most), alpha) < power:
            if (most := 2 * most) > _MOST:
                return None
        between = range(most // 2, most)
        return most // 2 + bisect_left(between, True, key=lambda n: self.power(samples.scaled(n), alpha) >= power)
