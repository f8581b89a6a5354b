"""Two methods on the same samples: every pair of them, each against named ones, or each against the best baseline.

P values are adjusted by Holm's method over all comparisons that were made. A difference is positive where the first
method is better, also where the score is better low.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, get_args

from components.core.errors import ConfigError
from components.core.types import ScoreKind
from components.text.words import meant
from runner.results.grid import MEAN, DatasetColumn, Grid, is_imported, present_among
from runner.results.intervals import Metric
from runner.results.kinds import Better, as_gain
from runner.results.levels import average, levelled_mean, used_levels
from runner.results.pairs import Difference, Pairs, adjust, difference_of, pairs_of, shares_of
from runner.results.rows import Row, is_named, nearest_rows
from runner.results.runs import Run
from runner.results.significance import sign_flip_p
from runner.results.table import OWN

_NAMED = 12  # scores in a message
_KINDS = get_args(ScoreKind)  # those with the fewest values first
MOST = 66  # pairs that are all compared by default: of 12 methods


@dataclass(frozen=True)
class Versus:
    """``mine`` against ``theirs`` on a dataset, by a metric that is better as ``direction`` says. ``unpaired``: reason
    -> episodes without a partner; ``reach``: how large a difference can be."""

    mine: str
    theirs: str
    dataset: str
    metric: str
    direction: Better
    unpaired: Mapping[str, Sequence[str]]
    difference: Difference
    reach: float
    levels: Sequence[str] = ()  # of which it is the mean of means

    @property
    def shown(self) -> str:
        """The name that its values have in the tables of single runs."""
        return f"total/{self.metric}" if self.levels else self.metric

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "mine": self.mine, "theirs": self.theirs, "dataset": self.dataset, "metric": self.metric,
            "better": self.direction or "not said", **self.difference.as_dict(),
            "detectable": self.difference.least_detectable(self.reach), "more_samples": self.difference.more_samples(),
            "lost": dict(self.unpaired),
        }  # fmt: skip


@dataclass(frozen=True)
class Compared:
    """The comparisons, and notes on what was not compared."""

    comparisons: Sequence[Versus]
    notes: Sequence[str]


def compare_rows(
    grid: Grid, metrics: Sequence[str] = (), baselines: Collection[str] | None = None, every: bool = False
) -> Compared:
    """Compare the rows of a grid by these metrics, else by the headline of each dataset. ``baselines``: agents, labels
    or folders; each other row is compared with them. Without: every pair, but where there are more than 66 and not
    ``every``, each against the best. Raises ConfigError for a metric or baseline that is not there, or not one pair of
    samples."""
    found, notes = list[Versus](), list[str]()
    for column in grid.columns:
        for metric in metrics or ([column.score] if column.score else []):
            rivals, reasons = _select_pairs(grid, column, metric, baselines, every)
            notes += reasons
            for mine, theirs in rivals:
                direction = min(mine.first, theirs.first, key=is_imported).better(metric)
                cells, others = (grid.cells[one.label, column.label] for one in (mine, theirs))
                scale = max((one.first.scale(metric) for one in (mine, theirs)), key=lambda of: _KINDS.index(of.kind))
                pairs = pairs_of(cells, others, metric, scale, direction)
                levels = column.levels if metric == column.score else mine.first.levels.get(metric, ())
                difference, reach = difference_of(pairs, levels), pairs.scale.bounds[1]
                whose = mine.label, theirs.label, column.label, metric, direction
                found.append(Versus(*whose, pairs.unpaired, difference, reach, used_levels(cells, levels)))
    _check(grid, metrics, baselines, found, notes)
    notes += _imported(grid, found)
    if any("lower" not in row.first.manifest for row in grid.rows):
        notes.append("older runs do not say where lower is better: higher counts as better for all their scores")
    notes = list(dict.fromkeys([*notes, *_empty(grid, found)]))
    found = [one for one in found if one.difference.metric.n]
    differences = adjust(one.difference for one in found)
    return Compared([replace(one, difference=of) for one, of in zip(found, differences, strict=True)], notes)


def _select_pairs(
    grid: Grid, column: DatasetColumn, metric: str, baselines: Collection[str] | None, every: bool
) -> tuple[list[tuple[Row, Row]], list[str]]:
    """The pairs of rows to compare on a dataset, and notes on the choice."""
    rows = [row for row in grid.rows if (row.label, column.label) in grid.cells]
    cells = {row: grid.cells[row.label, column.label] for row in rows}
    if metric not in OWN and not any(metric in of.names("scores") for of in cells.values()):
        return [], []
    notes = []
    values = {row: [value for value in of.values(metric).tolist() if value == value] for row, of in cells.items()}
    scored = [row for row in rows if values[row]]
    if 1 < len(scored) < len(rows):
        others = ", ".join(row.label for row in rows if row not in scored)
        notes.append(f"not compared on {column.label}, without any {metric}: {others}")
        rows = scored
    calls = [(row.label, run.manifest.get("calls")) for row in rows for run in row.runs]
    replayed = ", ".join(dict.fromkeys(label for label, of in calls if of and of["from_journal"]))
    if metric.startswith("time/") and replayed:
        notes.append(f"{metric} says little about {replayed}: the journal answered some of their calls at once")
    if baselines:
        named = [row for row in rows if is_named(row, baselines)]
        return [(row, other) for row in rows if row not in named for other in nearest_rows(row, named)], notes
    pairs = list(combinations(rows, 2))
    if every or len(pairs) <= MOST:
        return pairs, notes

    def mean(row: Row) -> float:
        return as_gain(sum(of) / len(of), row.first.better(metric)) if (of := values[row]) else float("-inf")

    best = max(rows, key=mean)
    way = "best" if rows[0].first.better(metric) else "highest"
    favoured = f"only those with {best.label}, the {way} on these data, which favours it; --all-pairs has all"
    notes.append(f"{len(pairs)} pairs on {column.label}: {favoured}")
    return [(best, row) for row in rows if row is not best], notes


def _empty(grid: Grid, found: Sequence[Versus]) -> Iterator[str]:
    for one in found:
        if not one.difference.metric.n:
            why = ", ".join(f"{len(of):,} {reason}" for reason, of in one.unpaired.items())
            why = f"{one.mine} and {one.theirs} have no scored sample in common ({why})"
            for label in (one.mine, one.theirs):
                there = grid.cells[label, one.dataset].names("scores")
                if one.metric not in (*there, *OWN):
                    why = f"{label} has no {one.metric} but {', '.join(there[:3]) or 'no scores'}"
            yield f"not paired on {one.dataset}: {why}"


def _imported(grid: Grid, found: Sequence[Versus]) -> Iterator[str]:
    """A note per score by which an imported run is compared with one that was made here."""
    rows = {row.label: row.first for row in grid.rows}
    for one in found:
        ours, theirs = sorted((one.mine, one.theirs), key=lambda label: is_imported(rows[label]))
        if is_imported(rows[ours]) < is_imported(rows[theirs]):
            line = f"{theirs} was imported: its {one.metric} may be of another scorer than that of {ours}"
            here, there = (_meaning(rows[label], one.metric) for label in (ours, theirs))
            yield line + (f" ({there}; here {here})" if here != there else "")


def _meaning(run: Run, metric: str) -> str:
    """What the values of a metric can be, and which are better."""
    values = "0 to 1" if run.scale(metric).bounded else "any number"
    return f"{values}, {run.better(metric) or 'neither way'} is better"


def _check(
    grid: Grid, metrics: Sequence[str], baselines: Collection[str] | None, found: Sequence[Versus], notes: Sequence[str]
) -> None:
    """Raises ConfigError where a metric or baseline is missing, or nothing can be paired."""
    scores = dict.fromkeys(name for cell in grid.cells.values() for name in cell.names("scores"))
    labels = ", ".join(row.label for row in grid.rows)
    if missing := [name for name in metrics if name not in scores and name not in OWN]:
        known = [*scores, *OWN]
        more = f" and {len(known) - _NAMED} more" if len(known) > _NAMED else ""
        have = ", ".join(known[:_NAMED]) + more
        raise ConfigError(f"--metric: no run here has {missing[0]!r}; {meant(missing[0], known)}there are {have}")
    if missing := [name for name in baselines or () if not present_among(grid, [name])]:
        near = meant(
            missing[0], [str(name) for row in grid.rows for name in (row.label, row.first.choices.get("agent"))]
        )
        raise ConfigError(f"--baselines: no method here is {missing[0]!r}; {near}there are {labels}")
    if any(one.difference.metric.n for one in found):
        return
    if len(grid.rows) < 2:
        raise ConfigError("nothing to compare: there is one method; give two or more runs, or a sweep's folder")
    if baselines and all(is_named(row, baselines) for row in grid.rows):
        raise ConfigError(f"--baselines: all methods are among them ({labels}); name fewer")
    cells = "; ".join(f"{row} {column}" for row, column in grid.cells)
    reasons = [*notes, *_empty(grid, found)] or [f"{labels} were run on different data: {cells}"]
    raise ConfigError(f"nothing can be paired: {reasons[0]}")


@dataclass(frozen=True)
class Improvement:
    """The difference to the baseline ``against``, with so many ``unpaired`` episodes."""

    against: str
    difference: Difference
    unpaired: int

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        of, metric = self.difference, self.difference.metric.as_dict()
        return {
            "against": self.against, "wins": of.wins, "ties": of.ties, "losses": of.losses, "clusters": of.clusters,
            "unpaired": self.unpaired, "p": of.p, "p_holm": of.p_holm,
            **{key: value for key, value in metric.items() if key not in ("n", "unscored")}, "pairs": of.metric.n,
        }  # fmt: skip


Improvements = dict[str, dict[str, Improvement]]


def improvements(grid: Grid, baselines: Collection[str] = ()) -> Improvements:
    """Column (and the mean over all) -> row -> its difference to the best baseline there. ``baselines``: choices of
    agent; where none of them is a row, and when empty, the best other row takes their place. Holm: on a single dataset
    and in the mean over several for all rows; on each of several for one row on all of them."""
    found: Improvements = {}
    for name in [*(column.label for column in grid.columns), *([MEAN] if grid.averages else [])]:
        found[name] = {}
        columns = [column for column in grid.columns if name in (column.label, MEAN)]
        for row in grid.rows:
            if (other := _best_baseline(grid, name, row, baselines)) is not None:
                pairs = []
                for column in columns:
                    sides = grid.cells[row.label, column.label], grid.cells[other.label, column.label]
                    pairs.append(pairs_of(*sides, column.score or "", column.scale, column.direction))
                single = [difference_of(of, column.levels) for column, of in zip(columns, pairs, strict=True)]
                difference = single[0] if len(single) == 1 else _mean_difference(columns, pairs, single)
                found[name][row.label] = Improvement(other.label, difference, sum(of.n_unpaired for of in pairs))
    for name in [MEAN] if grid.averages else list(found):  # two rows that are compared with each other count once
        distinct = {frozenset((label, one.against)): one.difference for label, one in found[name].items()}
        p_holm = {pair: one.p_holm for pair, one in zip(distinct, adjust(distinct.values()), strict=True)}
        for label, one in found[name].items():
            difference = replace(one.difference, p_holm=p_holm[frozenset((label, one.against))])
            found[name][label] = replace(one, difference=difference)
    for row in grid.rows if grid.averages else ():
        of = {name: column[row.label] for name, column in found.items() if name != MEAN and row.label in column}
        for (name, one), difference in zip(of.items(), adjust(one.difference for one in of.values()), strict=True):
            found[name][row.label] = replace(one, difference=difference)
    return found


def _best_baseline(grid: Grid, name: str, row: Row, baselines: Collection[str]) -> Row | None:
    """The baseline of a row: the best of the named ones that differ from it in the fewest settings; of one of these and
    with none named the best with the same model, seed and condition, where there is one. None for the best of the
    named baselines itself, where nothing is scored, and where none is named and no way of the score is better."""

    def score(one: Row) -> float | None:
        metric = grid.metrics[one.label].get(name)
        return None if metric is None else metric.value

    def setting(one: Row) -> tuple[object, ...]:
        return one.first.manifest.get("models"), one.first.cfg.get("seed"), one.first.choices.get("condition")

    named = present_among(grid, baselines)
    direction = next(column.direction for column in grid.columns if name in (column.label, MEAN))
    if score(row) is None or not (named or direction):
        return None
    others = [one for one in grid.rows if (is_named(one, named) if named else one is not row)]
    rivals = [one for one in others if score(one) is not None]
    alike = (
        nearest_rows(row, rivals)
        if named and row not in rivals
        else [one for one in rivals if setting(one) == setting(row)] or rivals
    )
    best = max(alike, key=lambda one: as_gain(score(one) or 0.0, direction), default=None)
    return None if best is row else best


def _mean_difference(
    columns: Sequence[DatasetColumn], pairs: Sequence[Pairs], single: Sequence[Difference]
) -> Difference:
    """The mean of the differences on several datasets."""
    both = list(zip(columns, pairs, strict=True))
    means = [levelled_mean(of.table, of.gains, column.levels, of.scale) for column, of in both]
    whole = average(means).finished if all(one.value is not None for one in means) else Metric(None)
    used = [(of, used_levels(of.table, column.levels)) for column, of in both]
    shares = [share for of, levels in used for share in shares_of(of, levels).added]
    p = sign_flip_p(shares) if len(shares) > 1 and whole.value is not None else None
    metric = replace(whole, n=sum(len(of.table) for of in pairs), unscored=0)
    counts = zip(*((one.clusters, one.wins, one.ties, one.losses) for one in single), strict=True)
    clusters, wins, ties, losses = map(sum, counts)
    return Difference(metric, clusters, wins, ties, losses, "permutation", p)
