"""Methods against the best baseline on the same episodes: mean paired difference, interval, sign-flip test.

On one dataset as ``runner.results.versus`` computes it; in the mean over several a bootstrap over clusters within each.
A difference is positive where the method is better, also where the score is better low. A win is a cluster (a patient,
or a sample over its epochs) that gains.
"""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from runner.results.directions import improved
from runner.results.grid import MEAN, Grid
from runner.results.intervals import Metric
from runner.results.levels import average
from runner.results.pairs import gain_of, pairs_of
from runner.results.rows import Row
from runner.results.significance import holm, sign_flip_p
from runner.results.versus import is_one

Differences = dict[str, dict[str, "Difference"]]


@dataclass(frozen=True)
class Difference:
    """One method less another. ``metric``: mean gain over ``n`` pairs in so many ``clusters``, positive where better;
    ``unpaired``: episodes without a scored partner; ``p`` two-sided, that the gain is nothing; ``p_holm`` adjusted (see
    ``differences``); None without a pair."""

    against: str
    metric: Metric
    wins: int
    ties: int
    losses: int
    clusters: int
    unpaired: int
    p: float | None
    p_holm: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        facts = {key: value for key, value in asdict(self).items() if key != "metric"}
        metric = {key: value for key, value in self.metric.as_dict().items() if key not in ("n", "unscored")}
        return facts | metric | {"pairs": self.metric.n}


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


def present_among(grid: Grid, baselines: Collection[str]) -> list[str]:
    """The baselines that are among the rows."""
    return [name for name in baselines if any(is_one(row, [name]) for row in grid.rows)]


def _best(grid: Grid, name: str, row: Row, baselines: Collection[str]) -> Row | None:
    """The baseline of a row: the best with the same model, seed and condition, where there is one.

    None for the best of the named baselines itself, where nothing is scored, and where none is named and no way of the
    score is better.
    """
    named = present_among(grid, baselines)
    rivals = [
        one
        for one in grid.rows
        if (is_one(one, named) if named else one is not row) and _score(grid, name, one) is not None
    ]
    direction = next(column.direction for column in grid.columns if name in (column.label, MEAN))
    if _score(grid, name, row) is None or not (named or direction):
        return None
    alike = [one for one in rivals if _setting(one) == _setting(row)] or rivals
    best = max(alike, key=lambda one: improved(_score(grid, name, one) or 0.0, direction), default=None)
    return None if best is row else best


def _setting(row: Row) -> tuple[Any, ...]:
    return row.first.notes.get("models"), row.first.cfg.get("seed"), row.first.choices.get("condition")


def _score(grid: Grid, name: str, row: Row) -> float | None:
    metric = grid.metrics[row.label].get(name)
    return None if metric is None else metric.value


def _difference(grid: Grid, name: str, row: str, other: str) -> Difference:
    """On one dataset, or the plain mean of the differences on all of them."""
    columns = [column for column in grid.columns if name in (column.label, MEAN)]
    pairs = [
        pairs_of(grid.cells[row, one.label], grid.cells[other, one.label], one.score or "", one.scale, one.direction)
        for one in columns
    ]
    gains = [gain_of(of, column.levels) for column, of in zip(columns, pairs, strict=True)]
    lost = sum(of.n_lost for of in pairs)
    of_each = ((one.wins, one.ties, one.losses, one.clusters) for one in gains)
    wins, ties, losses, clusters = (sum(of) for of in zip(*of_each, strict=True))
    if len(gains) == 1:
        return Difference(other, gains[0].metric, wins, ties, losses, clusters, lost, gains[0].p)
    parts = [column.part(of.records, of.scale) for column, of in zip(columns, pairs, strict=True)]
    whole = average(parts) if all(part.value is not None for part in parts) else replace(parts[0], value=None)
    n = sum(len(of.records) for of in pairs)
    shares = [one for column, of in zip(columns, pairs, strict=True) for one in column.shares(of.records)]
    p = sign_flip_p(shares) if len(shares) > 1 and whole.value is not None else None
    return Difference(other, replace(whole.metric, n=n, unscored=0), wins, ties, losses, clusters, lost, p)


def _adjusted(of: Mapping[str, Difference]) -> dict[str, Difference]:
    """Holm's adjustment; two rows that are compared with each other are one comparison."""
    p_of = {frozenset((label, one.against)): one.p for label, one in of.items() if one.p is not None}
    adjusted = dict(zip(p_of, holm(list(p_of.values())), strict=True))
    return {label: replace(one, p_holm=adjusted.get(frozenset((label, one.against)))) for label, one in of.items()}
