"""What a method gains over another on the same samples: interval, tests, and how much the pairs at hand can tell.

Interval of a mean gain: of scores of 0 and 1 Agresti and Min's (2005), half a pair added to each of the four cells; on
clustered samples over as many pairs as would tell as much, were they independent, with Student's t (as Korn & Graubard
1998 have it for one proportion); of other scores the studentised bootstrap over clusters
(``runner.results.intervals``); of means of means the bootstrap within their groups (``runner.results.levels``).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from runner.results.intervals import Mean, Metric, Z, settle, standard_error, student, unsettled
from runner.results.levels import Nested
from runner.results.significance import NOTHING, compare, sign_flip_p
from runner.results.statistics.pairing import Pairs, Record, cluster_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MCNEMAR = "McNemar"


@dataclass(frozen=True)
class Gain:
    """``metric``: mean gain over ``n`` pairs, positive where better; won, tied and lost clusters (patients, or samples
    over their epochs); ``p`` by ``test``, two-sided; ``t`` with its p over the clusters' mean gains; ``p_holm``: p
    adjusted for all comparisons made. None where it cannot be told."""

    metric: Metric
    clusters: int
    wins: int
    ties: int
    losses: int
    test: str
    p: float | None
    t: float | None
    t_p: float | None
    standard_error: float | None
    p_holm: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        told = {key: value for key, value in asdict(self).items() if key != "metric"}
        metric = {"gain": self.metric.value, "ci_low": self.metric.ci_low, "ci_high": self.metric.ci_high}
        return metric | {"pairs": self.metric.n} | told


def gain_of(pairs: Pairs, levels: Sequence[str] = (), seed: int = 0) -> Gain:
    """The gain of one method over another on one dataset. ``levels``: strata from the inner to the outer one where the
    mean is one of means; ``seed`` of its draws."""
    nested = Nested(pairs.records, pairs.metric, levels, True, seed) if levels else None
    if nested is not None and len(nested.leaves) < 2:
        nested = None
    metric = _mean(pairs) if nested is None else within(replace(nested.total().metric, unscored=0), pairs.reach)
    shares = shares_of(pairs.records, levels if nested is not None else ())
    sums: dict[str, list[float]] = {}
    for record in pairs.records:
        sums.setdefault(cluster_of(record), []).append(record["scores"][pairs.metric])
    means = [math.fsum(of) / len(of) for of in sums.values()]
    size = max((abs(one["scores"][pairs.metric]) for one in pairs.records), default=0.0)
    means = [0.0 if abs(one) <= NOTHING * size else one for one in means]
    said = compare(means, [0.0] * len(means), lower_is_better=False)
    alone = pairs.binary and len(sums) == len(pairs.records) and nested is None
    p = sign_flip_p(list(shares.values())) if len(shares) > 1 and metric.value is not None else None
    test = MCNEMAR if alone and set(pairs.values) <= {-1.0, 0.0, 1.0} else "permutation"
    se = _standard_error(pairs, shares, levels if nested is not None else (), metric.value)
    se = 0.0 if se is not None and se <= NOTHING * size else se
    return Gain(metric, len(sums), said.win, said.tie, said.loss, test, p, said.t, said.p_value, se)


def shares_of(records: Sequence[Record], levels: Sequence[str]) -> dict[str, float]:
    """What each cluster adds to the mean gain, which is a mean of means where there are levels."""
    shares: dict[str, float] = {}
    for record, weight in zip(records, _weights(records, levels), strict=True):
        (value,) = record["scores"].values()
        shares[cluster_of(record)] = shares.get(cluster_of(record), 0.0) + value * weight
    return shares


def _weights(records: Sequence[Record], levels: Sequence[str]) -> list[float]:
    """What each pair counts in the mean; all together 1."""
    paths = [tuple(record["strata"].get(level, "") for level in reversed(levels)) for record in records]
    within = Counter(paths)
    below: dict[tuple[str, ...], set[str]] = {}
    for path in within:
        for depth, step in enumerate(path):
            below.setdefault(path[:depth], set()).add(step)
    return [1 / (within[path] * math.prod(len(below[path[:depth]]) for depth in range(len(path)))) for path in paths]


def _standard_error(pairs: Pairs, shares: dict[str, float], levels: Sequence[str], value: float | None) -> float | None:
    """Of the mean gain, over clusters; None of fewer than two."""
    if value is None or len(shares) < 2:
        return None
    left: dict[str, float] = dict.fromkeys(shares, 0.0)
    for record, weight in zip(pairs.records, _weights(pairs.records, levels), strict=True):
        left[cluster_of(record)] += weight
    k = len(shares)
    return math.sqrt(math.fsum((shares[one] - value * left[one]) ** 2 for one in shares) * k / (k - 1))


def _mean(pairs: Pairs) -> Metric:
    """The plain mean gain with its interval."""
    if not len(pairs.values):
        return Metric(None)
    found = unsettled_gain(pairs.values, pairs.clusters, pairs.binary, pairs.reach)
    settle([found])
    return within(found.metric, pairs.reach)


def within(metric: Metric, reach: float) -> Metric:
    """An interval without what cannot be: a share gains no more than 1."""
    if metric.ci_low is None or metric.ci_high is None:
        return metric
    return replace(metric, ci_low=max(-reach, metric.ci_low), ci_high=min(reach, metric.ci_high))


def unsettled_gain(
    values: NDArray[np.float64], clusters: NDArray[np.intp], binary: bool = False, reach: float = math.inf
) -> Mean:
    """A mean gain, and what ``settle`` needs for its interval where that has to be drawn; ``binary``: of scores of 0
    and 1; ``reach``: how large a gain can be."""
    import numpy as np

    found = unsettled(values, clusters, count=True)
    if found.spread is None:
        return found
    varies = float(np.abs(found.spread).max()) > NOTHING * len(values) * float(np.abs(values).max())
    if not binary:
        return found if varies else Mean(found.metric)  # all gains alike: nothing tells how far they reach
    low, high = binary_interval(values, found.spread, varies)
    return Mean(within(replace(found.metric, ci_low=low, ci_high=high), reach))


def binary_interval(values: NDArray[np.float64], spread: NDArray[np.float64], varies: bool) -> tuple[float, float]:
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
