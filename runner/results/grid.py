"""Methods by datasets: what every row of runs scored on every dataset, and the mean over the datasets."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from runner.results.intervals import Metric
from runner.results.kinds import NUMBER, Better, Scale, group_by
from runner.results.levels import average, levelled_mean
from runner.results.rows import Row, is_named, rows_of, setting_word, shorten_label
from runner.results.runs import Run, leaves
from runner.results.table import Table

MEAN = "mean"


@dataclass(frozen=True)
class DatasetColumn:
    """A dataset, its headline score, that score's levels, direction and ``scale``; ``data``: that of its runs."""

    label: str
    score: str | None
    levels: Sequence[str] = ()
    direction: Better = "higher"
    scale: Scale = NUMBER
    data: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class Grid:
    """``cells``: (row, column) -> the episodes of that method on that dataset, where it was run."""

    rows: Sequence[Row]
    columns: Sequence[DatasetColumn]
    cells: Mapping[tuple[str, str], Table]

    @property
    def several(self) -> bool:
        """Whether there is something to compare: two methods or two datasets."""
        return len(self.rows) > 1 or len(self.columns) > 1

    @property
    def averages(self) -> bool:
        """Whether a mean over the columns is meaningful: there are several, all with the same score."""
        return len(self.columns) > 1 and len({column.score for column in self.columns}) == 1

    @cached_property
    def metrics(self) -> dict[str, dict[str, Metric]]:
        """Row -> column -> headline as the run's own metrics have it; ``mean`` for rows that have all columns."""
        found = {}
        for row in self.rows:
            means = {
                one.label: levelled_mean(table, table[f"scores/{one.score}"], one.levels, one.scale)
                for one in self.columns
                if (table := self.cells.get((row.label, one.label))) is not None
            }
            if (
                self.averages
                and len(means) == len(self.columns)
                and all(one.value is not None for one in means.values())
            ):
                means[MEAN] = average(list(means.values()))
            found[row.label] = {label: one.finished for label, one in means.items()}
        return found


def grid_of(runs: Sequence[Run]) -> Grid:
    """Arrange runs in rows by the settings that vary, and in columns by dataset."""
    data = _data_of(runs := sorted(runs, key=is_imported))
    rows, by_data = rows_of(runs, by_dataset=True), group_by(runs, data.__getitem__)
    columns, cells = [], {}
    for (key, of), label in zip(by_data.items(), _labels(list(by_data), runs), strict=True):
        score = next((run.headline for run in of if run.headline), None)
        if not score or all(score not in run.table.valued for run in of):
            # as of tasks that cannot be done, which have no completion: the first score that one has values of
            score = next((other for run in of if (other := deciding_score(run)) != score), score)
        levels = next((run.levels[score] for run in of if score in run.levels), ()) if score else ()
        direction = of[0].better(score) if score else "higher"
        columns.append(DatasetColumn(label, score, levels, direction, of[0].scale(score or ""), key))
        for row in rows:
            if mine := [run for run in row.runs if data[run] == key]:
                cells[row.label, label] = Table.join([run.table for run in mine])
    return Grid(rows, columns, cells)


def is_imported(run: Run) -> bool:
    """Whether it is a log of another tool, which does not declare its scores."""
    return "imported" in run.manifest


def _data_of(runs: Sequence[Run]) -> dict[Run, tuple[str, str]]:
    """The data of each run. An imported one has those of a run made here on a dataset of its name, of several the one
    with which it has the most samples in common."""
    ids = {run: set(run.table["sample_id"].tolist()) for run in runs}
    found = {}
    for run in runs:
        own = [one for one in runs if is_imported(run) > is_imported(one)]
        own = [one for one in own if run.dataset in (one.dataset, one.choices.get("dataset"))]
        found[run] = max(own, key=lambda one: len(ids[run] & ids[one]), default=run).data
    return found


def deciding_score(run: Run) -> str | None:
    """The score by which an episode counts as solved: the headline where it has values, else the first that has any."""
    valued = run.table.valued
    return run.headline if run.headline in valued else next(iter(valued), run.headline)


def _labels(data: Sequence[tuple[str, str]], runs: Sequence[Run]) -> list[str]:
    """The choices of the datasets, as short as they stay different, else with the settings or content that differ."""
    content, first = {run.data: str(run.content)[:8] for run in runs}, {run.data: run for run in reversed(runs)}
    nodes = {key: dict(leaves(run.cfg.get("dataset"), "dataset")) for key, run in first.items()}
    labels, cut = [], []
    for choice, node in data:
        words, alike = [choice or "dataset"], [other for other in data if other[0] == choice]
        for key, value in nodes[choice, node].items():
            others = [first[other] for other in alike if nodes[other].get(key) != value]
            words += setting_word(first[choice, node], others, key, value)
        labels.append(" ".join(dict.fromkeys(words)))
        cut.append(shorten_label(words))
    labels = [one if cut.count(one) == 1 else label for one, label in zip(cut, labels, strict=True)]
    short = [label.rpartition("/")[2] if "=" not in label else label for label in labels]
    short = [short[n] if short.count(short[n]) == 1 and short[n] != MEAN else label for n, label in enumerate(labels)]
    return [
        label if short.count(label) == 1 else f"{label} {content[key]}" for key, label in zip(data, short, strict=True)
    ]


def present_among(grid: Grid, baselines: Collection[str]) -> list[str]:
    """The baselines that are among the rows."""
    return [name for name in baselines if any(is_named(row, [name]) for row in grid.rows)]
