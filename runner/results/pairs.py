"""Pairs of episodes (same sample, same epoch, scored on both sides) and the difference of two methods on them: interval
as of every other mean (``runner.results.intervals``), tests, standard error, power."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from runner.results import significance
from runner.results.formulas import NOTHING
from runner.results.intervals import Metric
from runner.results.kinds import Better, Scale, as_gain, group_by
from runner.results.levels import levelled_mean, used_levels
from runner.results.metrics import OVERFLOWS, did_overflow
from runner.storage.schema import Record

_USAGE: Mapping[str, Literal["cost_usd", "input_tokens", "output_tokens", "calls"]] = {
    "cost/usd": "cost_usd", "tokens/input": "input_tokens", "tokens/output": "output_tokens",
    "calls/per_sample": "calls",
}  # fmt: skip
_SECONDS, _DIGITS = "time/seconds", 12
MCNEMAR = "McNemar"
OWN = ("stop/answered", "stop/refused", "stop/limit", "stop/failed", OVERFLOWS, *_USAGE, _SECONDS)  # beyond the scores
_FEWEST_VARYING = 3  # clusters that show how much they vary
_NO_EFFECT = 1e-6  # standard deviations


def value_of(record: Record, metric: str) -> float | None:
    """A score of an episode, or what it cost; None is unscored, as everything is of one that ended in an error."""
    if record["stop"] == "error":
        return None
    if metric == OVERFLOWS:
        return did_overflow(record)
    if metric.startswith("stop/"):
        return float(record["stop"] == metric.partition("/")[2])
    if metric == _SECONDS:
        return float(record["seconds"])
    value = record["usage"][_USAGE[metric]] if metric in _USAGE else record["scores"].get(metric)
    return None if value is None else float(value)


def cluster_of(record: Record) -> str:
    """The patient, or where there is none the sample."""
    return str(record["cluster"] or record["sample_id"])


@dataclass(frozen=True)
class Pairs:
    """``records``: of one method, with the difference to the other as their only score; ``unpaired``: reason ->
    episodes without a partner; ``scale``: what the differences can be."""

    metric: str
    records: Sequence[Record]
    unpaired: Mapping[str, Sequence[str]]
    scale: Scale

    @property
    def n_unpaired(self) -> int:
        """How many episodes of either side have no partner."""
        return sum(map(len, self.unpaired.values()))


def pairs_of(
    mine: Sequence[Record], theirs: Sequence[Record], metric: str, scale: Scale, direction: Better = "higher"
) -> Pairs:
    """Pair the episodes of two methods; a difference is positive where mine is better. ``scale`` of the metric."""
    left, right = ({(str(one["sample_id"]), int(one["epoch"])): one for one in side} for side in (mine, theirs))
    records: list[Record] = []
    unpaired: dict[str, list[str]] = {}
    for key in sorted(left.keys() | right.keys(), key=str):
        sides = left.get(key), right.get(key)
        value, other = (None if one is None else value_of(one, metric) for one in sides)
        if value is None or other is None:
            stops = [one and one["stop"] for one in sides]
            reason = "ended in an error" if "error" in stops else "unscored"
            reason = "run on one side only" if None in stops else reason
            unpaired.setdefault(reason, []).append(f"{key[0]} (epoch {key[1]})" if key[1] else key[0])
            continue
        # to as many digits as both numbers have: 0.3 less 0.2 is 0.4 less 0.3
        size = max(abs(value), abs(other))
        difference = round(value - other, _DIGITS - math.ceil(math.log10(size))) if size else 0.0
        records.append({**left[key], "scores": {metric: as_gain(difference, direction)}})
    return Pairs(metric, records, unpaired, replace(scale, difference=True))


@dataclass(frozen=True)
class Difference:
    """``metric``: mean difference over ``n`` pairs, positive where better; won, tied and lost clusters (patients, or
    samples over their epochs); ``p`` by ``test``, two-sided; ``t`` with its p over the clusters' mean differences;
    ``p_holm``: p adjusted for all comparisons made. None where it is unknown."""

    metric: Metric
    clusters: int
    wins: int
    ties: int
    losses: int
    test: str
    p: float | None
    t: float | None = None
    t_p: float | None = None
    standard_error: float | None = None
    p_holm: float | None = None

    @property
    def counts(self) -> str:
        """``won:tied:lost``."""
        return f"{self.wins:,}:{self.ties:,}:{self.losses:,}"

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        facts = {key: value for key, value in asdict(self).items() if key != "metric"}
        metric = {key: value for key, value in self.metric.as_dict().items() if key not in ("n", "unscored", "value")}
        return {"gain": self.metric.value, **metric, "pairs": self.metric.n, **facts}

    def least_detectable(self, reach: float = math.inf) -> float | None:
        """The smallest true difference that as many clusters find with a power of 80 %; None where nothing varies,
        too few clusters differ to find any, or it is beyond the ``reach`` of a difference."""
        if not self.standard_error or self.clusters < significance.FEWEST_SIGNS:
            return None
        if self.test == MCNEMAR:
            return significance.least_difference(self.clusters, self.wins + self.losses)
        if self.wins + self.losses < significance.FEWEST_SIGNS:
            return None
        least = significance.least_effect(self.clusters) * self.standard_error * math.sqrt(self.clusters)
        return least if least <= reach else None

    def more_samples(self) -> int | None:
        """How many more samples find the observed difference with a power of 80 %: 0 where those at hand do; None
        where nothing varies, or there is no difference to find."""
        if not self.metric.value or not self.standard_error or self.clusters < _FEWEST_VARYING:
            return None
        effect = abs(self.metric.value) / (self.standard_error * math.sqrt(self.clusters))
        if effect < _NO_EFFECT:
            return None
        needed = significance.clusters_for(effect)
        if self.test == MCNEMAR:
            needed = significance.pairs_for(self.wins / self.clusters, self.losses / self.clusters, needed)
        return max(0, math.ceil((needed - self.clusters) * self.metric.n / self.clusters - 1e-9))


def difference_of(pairs: Pairs, levels: Sequence[str] = ()) -> Difference:
    """The difference of two methods on one dataset; ``levels``: of a mean of means, from the inner to the outer one."""
    levels = used_levels(pairs.records, levels)
    metric = replace(levelled_mean(pairs.records, pairs.metric, levels, pairs.scale).finished, unscored=0)
    values = [one["scores"][pairs.metric] or 0.0 for one in pairs.records]
    nothing = NOTHING * max(map(abs, values), default=0.0)
    clusters = group_by(zip(map(cluster_of, pairs.records), values, strict=True), lambda pair: pair[0])
    means = [math.fsum(value for _, value in of) / len(of) for of in clusters.values()]
    means = [0.0 if abs(one) <= nothing else one for one in means]
    tested = significance.compare(means, [0.0] * len(means), lower_is_better=False)
    independent = len(clusters) == len(values) and not levels
    binary = pairs.scale.kind == "proportion" and set(values) <= {-1.0, 0.0, 1.0}
    shares, k = shares_of(pairs.records, levels), len(clusters)
    p, se = None, None
    if k > 1 and metric.value is not None:
        p = significance.sign_flip_p([share for share, _ in shares.values()])
        se = math.sqrt(math.fsum((of - metric.value * weight) ** 2 for of, weight in shares.values()) * k / (k - 1))
        se = 0.0 if se <= nothing else se
    test = MCNEMAR if independent and binary else "permutation"
    return Difference(metric, k, tested.win, tested.tie, tested.loss, test, p, tested.t, tested.p_value, se)


def adjust(differences: Iterable[Difference]) -> list[Difference]:
    """The same with their p adjusted for all of them that have one."""
    found = list(differences)
    p_values = iter(significance.holm([one.p for one in found if one.p is not None]))
    return [one if one.p is None else replace(one, p_holm=next(p_values)) for one in found]


def shares_of(records: Sequence[Record], levels: Sequence[str]) -> dict[str, tuple[float, float]]:
    """What each cluster adds to the mean difference (of means, by levels), and its weight there, of all together 1."""
    paths = [tuple(record["strata"].get(level, "") for level in reversed(levels)) for record in records]
    within = Counter(paths)
    below: dict[tuple[str, ...], set[str]] = {}
    for path in within:
        for depth, step in enumerate(path):
            below.setdefault(path[:depth], set()).add(step)
    shares: dict[str, tuple[float, float]] = {}
    for record, path in zip(records, paths, strict=True):
        weight = 1 / (within[path] * math.prod(len(below[path[:depth]]) for depth in range(len(path))))
        (value,) = record["scores"].values()
        share, whole = shares.get(cluster_of(record), (0.0, 0.0))
        shares[cluster_of(record)] = share + (value or 0.0) * weight, whole + weight
    return shares
