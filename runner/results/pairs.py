"""Pairs of episodes and what a method gains over another on them: interval, tests, standard error.

A pair is the same sample and epoch, scored on both sides; what has no partner is counted and named. The interval is
computed as every other one (``runner.results.intervals``), the gains being differences of two scores of the declared
kind.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from runner.results.directions import improved
from runner.results.intervals import Metric, numbered
from runner.results.kinds import Scale
from runner.results.levels import Nested, leaf
from runner.results.metrics import OVERFLOWS, overflowed
from runner.results.sheets import Better
from runner.results.significance import NOTHING, compare, sign_flip_p

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Record = Mapping[str, Any]
_USAGE = {"cost/usd": "cost_usd", "tokens/input": "input_tokens", "tokens/output": "output_tokens",
          "calls/per_sample": "calls"}  # fmt: skip
_SECONDS, _DIGITS = "time/seconds", 12
MCNEMAR = "McNemar"
OWN = (
    "stop/answered",
    "stop/refused",
    "stop/limit",
    "stop/failed",
    OVERFLOWS,
    *_USAGE,
    _SECONDS,
)  # in addition to the scores


def value_of(record: Record, metric: str) -> float | None:
    """A score of an episode, or what it cost; None is unscored, as everything is of one that ended in an error."""
    if record["stop"] == "error":
        return None
    if metric == OVERFLOWS:
        return overflowed(record)
    if metric.startswith("stop/"):
        return float(record["stop"] == metric.partition("/")[2])
    found = record["usage"][_USAGE[metric]] if metric in _USAGE else record["scores"].get(metric)
    found = record["seconds"] if metric == _SECONDS else found
    return None if found is None else float(found)


def cluster_of(record: Record) -> str:
    """The patient, or where there is none the sample."""
    return str(record["cluster"] or record["sample_id"])


@dataclass(frozen=True)
class Pairs:
    """``records``: mine, with the gain over the other side as their only score; ``lost``: reason -> episodes without
    a partner; ``scale``: what the gains can be."""

    metric: str
    records: Sequence[Record]
    lost: Mapping[str, Sequence[str]]
    scale: Scale

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """The gains."""
        import numpy as np

        return np.array([record["scores"][self.metric] for record in self.records], dtype=float)

    @cached_property
    def clusters(self) -> NDArray[np.intp]:
        """The number of each pair's cluster, from 0."""
        return numbered(self.records)

    @property
    def n_lost(self) -> int:
        """How many episodes of either side have no partner."""
        return sum(map(len, self.lost.values()))


def pairs_of(
    mine: Sequence[Record], theirs: Sequence[Record], metric: str, scale: Scale, direction: Better = "higher"
) -> Pairs:
    """Pair the episodes of two methods; a gain is positive where mine is better. ``scale`` of the metric itself."""
    left, right = _by_key(mine), _by_key(theirs)
    records: list[Record] = []
    lost: dict[str, list[str]] = {}
    for key in sorted(left.keys() | right.keys(), key=str):
        reason = _why_lost(left.get(key), right.get(key), metric)
        if reason:
            lost.setdefault(reason, []).append(f"{key[0]} (epoch {key[1]})" if key[1] else key[0])
            continue
        value, other = value_of(left[key], metric), value_of(right[key], metric)
        assert value is not None and other is not None, "both are scored"
        records.append({**left[key], "scores": {metric: improved(_less(value, other), direction)}})
    return Pairs(metric, records, lost, replace(scale, difference=True))


def _less(value: float, other: float) -> float:
    """A difference to as many digits as both numbers have: 0.3 less 0.2 is 0.4 less 0.3."""
    size = max(abs(value), abs(other))
    return round(value - other, _DIGITS - math.ceil(math.log10(size))) if size else 0.0


def _by_key(records: Sequence[Record]) -> dict[tuple[str, int], Record]:
    return {(str(record["sample_id"]), int(record["epoch"])): record for record in records}


def _why_lost(mine: Record | None, theirs: Record | None, metric: str) -> str:
    """Why two episodes make no pair; empty where they do."""
    if mine is None or theirs is None:
        return "run on one side only"
    if "error" in (mine["stop"], theirs["stop"]):
        return "ended in an error"
    return "" if None not in (value_of(mine, metric), value_of(theirs, metric)) else "unscored"


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
    tested = compare(means, [0.0] * len(means), lower_is_better=False)
    alone = pairs.scale.kind == "proportion" and len(sums) == len(pairs.records) and nested is None
    p = sign_flip_p(list(shares.values())) if len(shares) > 1 and metric.value is not None else None
    test = MCNEMAR if alone and set(pairs.values) <= {-1.0, 0.0, 1.0} else "permutation"
    se = _standard_error(pairs, shares, levels if nested is not None else (), metric.value)
    se = 0.0 if se is not None and se <= NOTHING * size else se
    return Gain(metric, len(sums), tested.win, tested.tie, tested.loss, test, p, tested.t, tested.p_value, se)


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
