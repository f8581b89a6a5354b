"""Methods against the best baseline on the same episodes: mean paired difference, interval, sign-flip test.

Pairs are episodes of the same sample and epoch that were scored on both sides. Interval: percentile bootstrap over
clusters of paired differences, the same clusters drawn for all methods of a dataset. A win is a cluster (a patient,
or a sample over its epochs) whose differences add up to more than nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from runner.results.grid import MEAN, Column, Grid, Record
from runner.results.intervals import Metric
from runner.results.levels import average
from runner.results.rows import Row
from runner.results.significance import holm, sign_flip_p

_NOTHING = 1e-12
Differences = dict[str, dict[str, "Difference"]]


@dataclass(frozen=True)
class Difference:
    """One method less another. ``metric``: mean difference over ``n`` pairs; ``unpaired``: episodes of one side only;
    ``p`` two-sided, that the gain is nothing; ``p_holm`` adjusted (see ``differences``); None without a pair."""

    against: str
    metric: Metric
    wins: int
    losses: int
    unpaired: int
    p: float | None
    p_holm: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        told = {key: value for key, value in asdict(self).items() if key != "metric"}
        return told | {"value": self.metric.value, "ci_low": self.metric.ci_low, "ci_high": self.metric.ci_high,
                       "pairs": self.metric.n}  # fmt: skip


def differences(grid: Grid, baselines: Collection[str] = ()) -> Differences:
    """Column (and the mean over all) -> row -> its difference to the best baseline there.

    ``baselines``: choices of agent; where none of them is a row, and when empty, the best other row takes their place.
    Holm: on a single dataset and in the mean over several for all rows; on each of several for one row on all of them.
    """
    found: Differences = {}
    for name in [*(column.label for column in grid.columns), *([MEAN] if grid.averages else [])]:
        of: dict[str, Difference] = {}
        for row in grid.rows:
            if (other := _best(grid, name, row, baselines)) is not None:
                of[row.label] = _difference(grid, name, row.label, other.label)
        found[name] = of if grid.averages and name != MEAN else _adjusted(of)
    if grid.averages:
        for row in grid.rows:
            of = {name: column[row.label] for name, column in found.items() if name != MEAN and row.label in column}
            for name, p in zip(of, holm([one.p for one in of.values() if one.p is not None]), strict=False):
                found[name][row.label] = replace(of[name], p_holm=p)
    return found


def played(grid: Grid, baselines: Collection[str]) -> list[str]:
    """The baselines that are among the rows."""
    agents = {row.first.choices.get("agent") for row in grid.rows}
    return [name for name in baselines if name in agents]


def _best(grid: Grid, name: str, row: Row, baselines: Collection[str]) -> Row | None:
    """What a row is held against: the best that plays with the same model and seed, where there is one.

    None for the best of the named baselines itself, and where nothing is scored.
    """
    named = played(grid, baselines)
    rivals = [
        one
        for one in grid.rows
        if (one.first.choices.get("agent") in named if named else one is not row)
        and _score(grid, name, one) is not None
    ]
    if _score(grid, name, row) is None:
        return None
    alike = [one for one in rivals if _setting(one) == _setting(row)] or rivals
    best = max(alike, key=lambda one: _score(grid, name, one) or 0.0, default=None)
    return None if best is row else best


def _setting(row: Row) -> tuple[Any, ...]:
    return row.first.notes.get("models"), row.first.cfg.get("seed")


def _score(grid: Grid, name: str, row: Row) -> float | None:
    metric = grid.metrics[row.label].get(name)
    return None if metric is None else metric.value


def _difference(grid: Grid, name: str, row: str, other: str) -> Difference:
    """On one dataset, or the plain mean of the differences on all of them."""
    columns = [column for column in grid.columns if name in (column.label, MEAN)]
    pairs = [_pairs(column, grid.cells[row, column.label], grid.cells[other, column.label]) for column in columns]
    parts = [column.part(of, differences=True) for column, (of, _) in zip(columns, pairs, strict=True)]
    whole = average(parts) if all(part.value is not None for part in parts) else replace(parts[0], value=None)
    signs = Counter(sign for of, _ in pairs for sign in _signs(of))
    n = sum(len(of) for of, _ in pairs)
    metric = replace(whole.metric, n=n, unscored=0)
    shares = [one for column, (of, _) in zip(columns, pairs, strict=True) for one in _shares(column, of)]
    p = sign_flip_p(shares) if n and whole.value is not None else None
    return Difference(other, metric, signs[1], signs[-1], sum(lost for _, lost in pairs), p)


def _pairs(column: Column, mine: Sequence[Record], theirs: Sequence[Record]) -> tuple[list[Record], int]:
    """Records of the differences, and how many episodes have no partner."""
    other = {(record["sample_id"], record["epoch"]): record for record in theirs}
    keys = {(record["sample_id"], record["epoch"]) for record in mine} | other.keys()
    pairs: list[Record] = []
    for record in mine:
        partner = other.get((record["sample_id"], record["epoch"]))
        value, less = column.value(record), None if partner is None else column.value(partner)
        if value is not None and less is not None:
            pairs.append({**record, "scores": {column.score: value - less}})
    return pairs, len(keys) - len(pairs)


def _shares(column: Column, pairs: Sequence[Record]) -> list[float]:
    """What each cluster adds to the mean difference on a dataset, which is a mean of means where it has levels."""
    paths = [tuple(record["strata"].get(level, "") for level in reversed(column.levels)) for record in pairs]
    within = Counter(paths)
    below: dict[tuple[str, ...], set[str]] = {}
    for path in within:
        for depth, step in enumerate(path):
            below.setdefault(path[:depth], set()).add(step)
    shares: dict[str, float] = {}
    for record, path in zip(pairs, paths, strict=True):
        (value,) = record["scores"].values()
        weight = within[path] * math.prod(len(below[path[:depth]]) for depth in range(len(path)))
        cluster = record["cluster"] or record["sample_id"]
        shares[cluster] = shares.get(cluster, 0.0) + value / weight
    return list(shares.values())


def _signs(pairs: Sequence[Record]) -> list[int]:
    """1 for every cluster that gains, -1 for every one that loses."""
    sums: dict[str, float] = {}
    for record in pairs:
        (value,) = record["scores"].values()
        cluster = record["cluster"] or record["sample_id"]
        sums[cluster] = sums.get(cluster, 0.0) + value
    return [1 if total > 0 else -1 for total in sums.values() if abs(total) > _NOTHING]


def _adjusted(of: Mapping[str, Difference]) -> dict[str, Difference]:
    """Holm's adjustment; two rows that are held against each other are one comparison."""
    p_of = {frozenset((label, one.against)): one.p for label, one in of.items() if one.p is not None}
    adjusted = dict(zip(p_of, holm(list(p_of.values())), strict=True))
    return {label: replace(one, p_holm=adjusted.get(frozenset((label, one.against)))) for label, one in of.items()}
