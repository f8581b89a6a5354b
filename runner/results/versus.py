"""Two methods on the same samples, for every pair of them or each against named ones, with Holm's adjustment over all
comparisons that were made."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from components.core.errors import ConfigError
from runner.results.directions import improved
from runner.results.grid import Column, Grid, Record
from runner.results.pairs import OWN, Gain, gain_of, pairs_of, value_of
from runner.results.power import detectable, more_samples
from runner.results.rows import Row
from runner.results.sheets import Better
from runner.results.significance import holm

MOST = 66  # pairs that are all compared unasked: of 12 methods


@dataclass(frozen=True)
class Versus:
    """``mine`` against ``theirs`` on a dataset, by a metric that is better as ``direction`` says. ``lost``: reason ->
    episodes without a partner; ``detectable`` and ``more_samples``: see ``runner.results.power``."""

    mine: str
    theirs: str
    dataset: str
    metric: str
    direction: Better
    lost: Mapping[str, Sequence[str]]
    gain: Gain
    detectable: float | None
    more_samples: int | None

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        facts = {"mine": self.mine, "theirs": self.theirs, "dataset": self.dataset, "metric": self.metric}
        facts |= {"better": self.direction or "not said"}
        rest = {"detectable": self.detectable, "more_samples": self.more_samples, "lost": dict(self.lost)}
        return {**facts, **self.gain.as_dict(), **rest}


@dataclass(frozen=True)
class Compared:
    """What was compared, and what was not, a line each."""

    found: Sequence[Versus]
    notes: Sequence[str]


def compared(
    grid: Grid, metrics: Sequence[str] = (), baselines: Collection[str] | None = None, every: bool = False
) -> Compared:
    """Compare the rows of a grid by these metrics, else by the headline of each dataset.

    ``baselines``: agents, labels or folders; each other row is compared with them. Without: every pair, but where there
    are more than 66 and not ``every``, each against the best.

    Raises:
        ConfigError: a metric or baseline that is not there, or not one pair of samples.
    """
    found, notes = [], []
    for column in grid.columns:
        here = [row for row in grid.rows if (row.label, column.label) in grid.cells]
        for metric in metrics or ([column.score] if column.score else []):
            if not _known(grid, column, here, metric):
                continue
            scored, note = _scored(grid, column, here, metric)
            notes += [*note, *_replayed(scored, metric)]
            wanted, note = _wanted(grid, column, scored, metric, baselines, every)
            notes += note
            for mine, theirs in wanted:
                found.append(_versus(grid, column, metric, mine, theirs))
    _check(grid, metrics, baselines, found, notes)
    if any("lower" not in row.first.notes for row in grid.rows):
        notes.append("older runs do not say which scores are better low: theirs are all taken for better high")
    return Compared(
        _adjusted([one for one in found if one.gain.metric.n]), list(dict.fromkeys([*notes, *_empty(found)]))
    )


def directed(row: Row, metric: str) -> Better:
    """In which direction a metric of a row improves."""
    return row.first.better(metric)


def levels_of(column: Column, row: Row, metric: str) -> Sequence[str]:
    """The strata of a metric that is a mean of means."""
    return column.levels if metric == column.score else row.first.levels.get(metric, ())


def _versus(grid: Grid, column: Column, metric: str, mine: Row, theirs: Row) -> Versus:
    cells = grid.cells[mine.label, column.label], grid.cells[theirs.label, column.label]
    pairs = pairs_of(*cells, metric, mine.first.scale(metric), directed(mine, metric))
    gain = gain_of(pairs, levels_of(column, mine, metric))
    estimates = (detectable(gain, pairs.scale.bounds[1]), more_samples(gain)) if gain.metric.n else (None, None)
    return Versus(
        mine.label, theirs.label, column.label, metric, directed(mine, metric), pairs.lost, gain, *estimates,
    )  # fmt: skip


def _known(grid: Grid, column: Column, rows: Sequence[Row], metric: str) -> bool:
    """Whether some episode of the rows has the metric here."""
    return metric in OWN or any(metric in one["scores"] for row in rows for one in grid.cells[row.label, column.label])


def _scored(grid: Grid, column: Column, rows: Sequence[Row], metric: str) -> tuple[list[Row], list[str]]:
    """The rows with a value of the metric here, and who the others are; all where none or one has any."""
    found = [
        row for row in rows if any(value_of(one, metric) is not None for one in grid.cells[row.label, column.label])
    ]
    others = [row.label for row in rows if row not in found]
    if len(found) < 2 or not others:
        return list(rows), []
    return found, [f"not compared on {column.label}, without any {metric}: {', '.join(others)}"]


def _replayed(rows: Sequence[Row], metric: str) -> Iterator[str]:
    """Where the journal answered, a run's time is not its method's."""
    found = [row.label for row in rows if any((run.notes.get("calls") or {}).get("from_journal") for run in row.runs)]
    if metric.startswith("time/") and found:
        yield f"{metric} says little about {', '.join(found)}: the journal answered calls of theirs at once"


def _wanted(
    grid: Grid, column: Column, rows: Sequence[Row], metric: str, baselines: Collection[str] | None, every: bool
) -> tuple[list[tuple[Row, Row]], list[str]]:
    """The pairs of rows to compare, and notes on the choice."""
    if baselines:
        named = [row for row in rows if is_one(row, baselines)]
        return [(row, other) for row in rows if row not in named for other in nearest(row, named)], []
    pairs = list(combinations(rows, 2))
    if every or len(pairs) <= MOST:
        return pairs, []
    way = "best" if directed(rows[0], metric) else "highest"
    best = max(rows, key=lambda row: _mean(grid.cells[row.label, column.label], metric, directed(row, metric)))
    note = (
        f"{len(pairs)} pairs on {column.label}: only those with {best.label}, the {way} on these data, which favours "
        "it; --all-pairs has all"
    )
    return [(best, row) for row in rows if row is not best], [note]


def _mean(records: Sequence[Record], metric: str, direction: Better) -> float:
    values = [value for record in records if (value := value_of(record, metric)) is not None]
    return improved(sum(values) / len(values), direction) if values else float("-inf")


def is_one(row: Row, names: Collection[str]) -> bool:
    """Whether a row is meant: by its agent, its label, one of its folders or a value that the sweep varied, alone or
    behind its key (``key=value``)."""
    pairs = {pair for run in row.runs for pair in run.swept}
    varied = {word for key, value in pairs for word in (value, f"{key}={value}")}
    own = {row.label, str(row.first.choices.get("agent")), *(run.folder.name for run in row.runs)}
    return not (own | varied).isdisjoint(names)


def nearest(row: Row, named: Sequence[Row]) -> list[Row]:
    """Those that differ from a row in the fewest of the settings that were swept: all that are as near."""
    far = {other.label: _distance(row, other) for other in named}
    return [other for other in named if far[other.label] == min(far.values())]


def _distance(row: Row, other: Row) -> int:
    mine, theirs = ((one.first.notes.get("varied") or {}) | {"": one.first.model} for one in (row, other))
    return sum(mine.get(key) != theirs.get(key) for key in mine.keys() | theirs.keys())


def _empty(found: Sequence[Versus]) -> Iterator[str]:
    for one in found:
        if not one.gain.metric.n:
            why = ", ".join(f"{len(of):,} {reason}" for reason, of in one.lost.items())
            yield f"not paired on {one.dataset}: {one.mine} and {one.theirs} have no scored sample in common ({why})"


def _check(
    grid: Grid, metrics: Sequence[str], baselines: Collection[str] | None, found: Sequence[Versus], notes: Sequence[str]
) -> None:
    """Raises ConfigError where something was asked for that is not there, or nothing can be paired."""
    records = [record for cell in grid.cells.values() for record in cell]
    have = dict.fromkeys(name for record in records for name in record["scores"])
    if missing := [name for name in metrics if name not in have and name not in OWN]:
        raise ConfigError(f"--metric: no run here has {missing[0]!r}; there are {', '.join([*have, *OWN])}")
    for name in baselines or ():
        if not any(is_one(row, [name]) for row in grid.rows):
            raise ConfigError(f"--baselines: no method here is {name!r}; there are {', '.join(_names(grid))}")
    if any(one.gain.metric.n for one in found):
        return
    if len(grid.rows) < 2:
        raise ConfigError("nothing to compare: there is one method; give two or more runs, or a sweep's folder")
    if baselines and all(is_one(row, baselines) for row in grid.rows):
        raise ConfigError(f"--baselines: all methods are among them ({', '.join(_names(grid))}); name fewer")
    reasons = [*notes, *_empty(found)] or [f"{', '.join(_names(grid))} were run on different data: {_cells(grid)}"]
    raise ConfigError(f"nothing can be paired: {reasons[0]}")


def _names(grid: Grid) -> list[str]:
    return [row.label for row in grid.rows]


def _cells(grid: Grid) -> str:
    return "; ".join(f"{row} {column}" for row, column in grid.cells)


def _adjusted(found: Sequence[Versus]) -> list[Versus]:
    """Holm's adjustment over all of them."""
    tested = [one.gain.p for one in found if one.gain.p is not None]
    adjusted = iter(holm(tested))
    return [one if one.gain.p is None else replace(one, gain=replace(one.gain, p_holm=next(adjusted))) for one in found]
