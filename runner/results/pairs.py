"""Pairs of episodes (same sample, same epoch, scored on both sides) and the difference of two methods on them: interval
as of every other mean (``runner.results.intervals``), tests, standard error, power."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

from components.core.score_names import EXPECTED
from runner.results import significance
from runner.results.arrays import Floats, Rows, np
from runner.results.formulas import NOTHING
from runner.results.intervals import Metric
from runner.results.kinds import Better, Scale, as_gain
from runner.results.levels import levelled_mean, used_levels
from runner.results.table import Path, Table, align
from runner.storage.schema import Record

_DIGITS = 12
MCNEMAR, UNSCORED, UNRATED = "McNemar", "unscored", "without rated harm"
_FEWEST_VARYING = 3  # clusters that show how much they vary
_OF_PAIRS = ("strata", "number", "rank")  # columns that are needed of them
_NO_EFFECT = 1e-6  # standard deviations


@dataclass(frozen=True)
class Pairs:
    """``table``: the episodes of one method that have a partner, ``gains``: of each its difference to the partner;
    ``unpaired``: reason -> episodes without one; ``scale``: what the differences can be."""

    table: Table
    gains: Floats
    unpaired: Mapping[str, Sequence[str]]
    scale: Scale

    @property
    def n_unpaired(self) -> int:
        """How many episodes of either side have no partner."""
        return sum(map(len, self.unpaired.values()))


def pairs_of(
    mine: Table | Iterable[Record], theirs: Table | Iterable[Record], metric: str, scale: Scale,
    direction: Better = "higher", also: Sequence[str] = (),
) -> Pairs:  # fmt: skip
    """Pair the episodes of two methods; a difference is positive where mine is better. Clusters are those of the side
    with fewer: an imported run may lack them. ``scale`` of the metric; ``also``: more columns that are needed."""
    mine, theirs = Table.of(mine), Table.of(theirs)
    keys, (left, right) = align(mine, theirs)
    values, others = mine.values_of(metric, left), theirs.values_of(metric, right)
    paired = ~(np.isnan(values) | np.isnan(others))
    unpaired: dict[str, list[str]] = {}
    for place in np.flatnonzero(~paired).tolist():
        stops = [None if row < 0 else side["stop"][row] for side, row in ((mine, left[place]), (theirs, right[place]))]
        reason = "ended in an error" if "error" in stops else UNRATED if metric == EXPECTED else UNSCORED
        reason = "run on one side only" if None in stops else reason
        sample, epoch = keys[place]
        unpaired.setdefault(reason, []).append(f"{sample} (epoch {epoch})" if epoch else sample)
    gains = _subtract(values[paired], others[paired], direction)
    sides = ((mine, left[paired]), (theirs, right[paired]))
    side, rows = min(sides, key=lambda of: len(np.unique(of[0]["number"][of[1]])))
    alone = Table({name: side[name] for name in (*_OF_PAIRS, *also)}, side.kinds)
    return Pairs(alone.take(rows), gains, unpaired, replace(scale, difference=True))


def _subtract(values: Floats, others: Floats, direction: Better) -> Floats:
    """Differences as gains, to as many digits as both numbers have: 0.3 less 0.2 is 0.4 less 0.3."""
    both = np.empty(len(values), dtype=complex)  # many pairs are alike: each is rounded once, as Python does
    both.real, both.imag = values, others
    distinct, places = np.unique(both, return_inverse=True)
    gains = []
    for pair in distinct.tolist():
        size = max(abs(pair.real), abs(pair.imag))
        digits = _DIGITS - math.ceil(math.log10(size)) if size else 0
        gains.append(as_gain(round(pair.real - pair.imag, digits) if size else 0.0, direction))
    return np.array(gains, dtype=float)[places]


@dataclass(frozen=True)
class Difference:
    """``metric``: mean difference over ``n`` pairs, positive where better; won, tied and lost clusters (patients, or
    samples over their epochs); ``p`` by ``test``, two-sided; ``t``: the difference in standard errors, with its p;
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
    table, gains = pairs.table, pairs.gains
    levels = used_levels(table, levels)
    metric = replace(levelled_mean(table, gains, levels, pairs.scale).finished, unscored=0)
    nothing = NOTHING * float(np.abs(gains).max(initial=0.0))
    sizes = np.bincount(table["number"])
    means = (np.bincount(table["number"], weights=gains) / np.maximum(sizes, 1))[sizes > 0]
    wins, losses = int((means > nothing).sum()), int((means < -nothing).sum())
    independent = len(means) == len(gains) and not levels
    binary = pairs.scale.kind == "proportion" and bool(np.isin(gains, (-1.0, 0.0, 1.0)).all())
    (shares, weights), k = shares_of(pairs, levels), len(means)
    p = se = t = None
    if k > 1 and metric.value is not None:
        p, each = significance.sign_flip_p(shares), zip(shares, weights, strict=True)
        se = math.sqrt(math.fsum((share - metric.value * weight) ** 2 for share, weight in each) * k / (k - 1))
        se = 0.0 if se <= nothing else se
        t = metric.value / se if se else None
    test = MCNEMAR if independent and binary else "permutation"
    t_p = None if t is None else significance.t_test_p(t, k - 1)
    return Difference(metric, k, wins, k - wins - losses, losses, test, p, t, t_p, se)


def adjust(differences: Iterable[Difference]) -> list[Difference]:
    """The same with their p adjusted for all of them that have one."""
    found = list(differences)
    p_values = iter(significance.holm([one.p for one in found if one.p is not None]))
    return [one if one.p is None else replace(one, p_holm=next(p_values)) for one in found]


class Shares(NamedTuple):
    """What each cluster adds to a mean difference, and its weight there; all weights together are 1."""

    added: list[float]
    weights: list[float]


def shares_of(pairs: Pairs, levels: Sequence[str]) -> Shares:
    """The shares of clusters in the mean difference (of means, by levels); as the clusters come first, since random
    signs depend on the order."""
    codes, paths = pairs.table.paths(levels)
    numbers, weight = pairs.table["number"], weights_of(codes, paths)
    _, first = np.unique(numbers, return_index=True)
    order = numbers[np.sort(first)]
    return Shares(*(np.bincount(numbers, weights=of)[order].tolist() for of in (pairs.gains * weight, weight)))


def weights_of(codes: Rows, paths: Sequence[Path]) -> Floats:
    """The weight of each sample in a mean of means, all together 1, from the number of its group among ``paths``."""
    within = np.bincount(codes, minlength=len(paths))
    below: dict[Path, set[str | None]] = {}
    for path in (path for path, n in zip(paths, within.tolist(), strict=True) if n):
        for depth, step in enumerate(path):
            below.setdefault(path[:depth], set()).add(step)
    weights = [
        1 / (n * math.prod(len(below[path[:depth]]) for depth in range(len(path)))) if n else 0.0
        for path, n in zip(paths, within.tolist(), strict=True)
    ]
    return np.array(weights)[codes]
