"""What a method gains over another on the same samples: interval, tests, and how much the pairs at hand can tell.

Its interval is computed as every other one (``runner.results.intervals``), the gains being differences of two scores of
the declared kind.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from runner.results.intervals import Metric
from runner.results.levels import Nested, leaf
from runner.results.significance import NOTHING, compare, sign_flip_p
from runner.results.statistics.pairing import Pairs, Record, cluster_of

MCNEMAR = "McNemar"


@dataclass(frozen=True)
class Gain:
    """``metric``: mean gain over ``n`` pairs, positive where better; won, tied and lost clusters (patients, or samples
    over their epochs); ``p`` by ``test``, two-sided; ``t`` with its p over the clusters' mean gains; ``p_holm``: p
    adjusted for all comparisons made. None where it is unknown."""

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
        facts = {key: value for key, value in asdict(self).items() if key != "metric"}
        metric = {key: value for key, value in self.metric.as_dict().items() if key not in ("n", "unscored", "value")}
        return {"gain": self.metric.value, **metric, "pairs": self.metric.n, **facts}


def gain_of(pairs: Pairs, levels: Sequence[str] = ()) -> Gain:
    """The gain of one method over another on one dataset. ``levels``: strata from the inner to the outer one where the
    mean is one of means."""
    nested = Nested(pairs.records, pairs.metric, levels, pairs.scale) if levels else None
    if nested is not None and len(nested.leaves) < 2:
        nested = None
    part = leaf(pairs.records, pairs.metric, pairs.scale) if nested is None else nested.total()
    metric = replace(part.metric, unscored=0)
    shares = shares_of(pairs.records, levels if nested is not None else ())
    sums: dict[str, list[float]] = {}
    for record in pairs.records:
        sums.setdefault(cluster_of(record), []).append(record["scores"][pairs.metric])
    means = [math.fsum(of) / len(of) for of in sums.values()]
    size = max((abs(one["scores"][pairs.metric]) for one in pairs.records), default=0.0)
    means = [0.0 if abs(one) <= NOTHING * size else one for one in means]
    said = compare(means, [0.0] * len(means), lower_is_better=False)
    alone = pairs.scale.kind == "proportion" and len(sums) == len(pairs.records) and nested is None
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
