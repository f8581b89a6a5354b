"""The methods of several runs: scores by dataset, cost of a question, paired differences to the best baseline."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from components.core.errors import ConfigError
from runner.results.best_baseline import Difference, Differences, differences, present_among
from runner.results.grid import MEAN, Grid, grid_of
from runner.results.metrics import COLUMNS, by_purpose, per_purpose, per_question
from runner.results.render.written import markdown
from runner.results.runs import Run, leaves, warnings_of
from runner.results.sheets import Better, Cell, Column, Section, Sheet, Value
from runner.results.table import p_text, show_section
from runner.results.versus import is_one

FILE, READ = "compare.json", "compare.md"
_EXPLAINED = (
    "p: two-sided, for a difference of zero; differences of whole patients or samples change signs (scores of 0 and 1 "
    "on one dataset: McNemar's exact test). Holm p: adjusted, in the mean and on a single dataset for all methods, on "
    "each of several datasets for one method on all of them."
)
_CHOSEN = "The best baseline is chosen on these same data, which favours it: differences tend to be too large."
_BEST_OTHER = "No compare.baselines: the best other method is chosen on these data, differences are biased."


def section(runs: Sequence[Run]) -> Section | None:
    """Tables of two or more methods or datasets; None where there is one method on one dataset."""
    grid = grid_of(runs)
    return _section(grid, _configured(runs)) if grid.several else None


def show_methods(runs: Sequence[Run], baselines: Sequence[str] | None = None, home: Path | None = None) -> None:
    """Print the section; write it to ``home``, which also gets all numbers as JSON.

    ``baselines`` None: those that the first run's config names. Raises ConfigError where one of those given is missing.
    """
    grid = grid_of(runs)
    if baselines is None and not grid.several:
        return
    named = _configured(runs) if baselines is None else baselines
    if baselines is not None and (missing := [name for name in named if not present_among(grid, [name])]):
        have = ", ".join(dict.fromkeys(str(row.first.choices.get("agent")) for row in grid.rows))
        raise ConfigError(f"--baselines: no method here is {' or '.join(missing)}; there are {have}")
    found = _section(grid, named)
    show_section(found)
    if home is not None:
        (home / FILE).write_text(json.dumps(_as_dict(grid, named), indent=1), encoding="utf-8")
        text = markdown(home.name, about=f"{len(runs)} runs", warnings=warnings_of(runs), sections=[found])
        (home / READ).write_text(text, encoding="utf-8")


def _configured(runs: Sequence[Run]) -> Sequence[str]:
    """The baselines that the config names."""
    return (runs[0].compare.get("baselines") if runs else None) or ()


def _section(grid: Grid, baselines: Sequence[str]) -> Section:
    sheets = [_scores(grid), _costs(grid)]
    found = differences(grid, baselines) if len(grid.rows) > 1 else {}
    sheets += [_differences(grid, found, baselines)] if any(found.values()) else []
    return Section("methods", "Methods and datasets", "", sheets)


def _scores(grid: Grid) -> Sheet:
    """Rows are methods, columns datasets and their mean."""
    columns = [Column("method"), *(Column(one.label, "", one.direction) for one in grid.columns)]
    ways: set[Better] = {one.direction for one in grid.columns}
    columns += [Column(MEAN, "", ways.pop() if len(ways) == 1 else "")] if grid.averages else []
    rows: list[list[Cell]] = [
        [label, *(Value.of(of[one.name]) if one.name in of else None for one in columns[1:])]
        for label, of in grid.metrics.items()
    ]
    scores = list(dict.fromkeys(column.score or "no score" for column in grid.columns))
    notes = [*_uneven(grid), *(f"lower is better: {name}" for name in _low(grid))]
    if len(scores) > 1:
        names = ", ".join(f"{column.label} {column.score or 'nothing'}" for column in grid.columns)
        notes.append(f"scores, which are not averaged, as they differ: {names}")
    if lost := list(_unscored(grid)):
        notes.append("unscored episodes, left out: " + ", ".join(lost))
    return Sheet(scores[0] if len(scores) == 1 else "headline scores", columns, rows, notes)


def _unscored(grid: Grid) -> Iterator[str]:
    for label, of in grid.metrics.items():
        for name, metric in of.items():
            if metric.unscored and name != MEAN:
                yield f"{label} {name} {metric.unscored:,}"


def _low(grid: Grid) -> list[str]:
    """The headline scores that are better low."""
    return list(dict.fromkeys(column.score or "" for column in grid.columns if column.direction == "lower"))


def _uneven(grid: Grid) -> Iterator[str]:
    """Settings of the model in which rows differ that the sweep did not vary: agents can set their own."""
    settings = {row.label: dict(leaves(row.first.cfg.get("model"), "model")) for row in grid.rows}
    varied = {key for row in grid.rows for key in row.first.notes.get("swept") or ()}
    for key in dict.fromkeys(key for of in settings.values() for key in of):
        values: dict[str, list[str]] = {}
        for label, of in settings.items():
            values.setdefault(str(of.get(key)), []).append(label)
        if len(values) > 1 and key not in varied and "model" not in varied:
            whose = "; ".join(f"{value} for {', '.join(labels)}" for value, labels in values.items())
            yield f"not the same in all rows: {key} is {whose}"


def _costs(grid: Grid) -> Sheet:
    """What a question costs a method, and of that each purpose."""
    rows: list[list[Cell]] = []
    for row in grid.rows:
        if n := len(row.records):
            rows.append([row.label, "all", *per_question(row.records).values()])
            values = {name: one.value for name, one in by_purpose(row.records).items()}
            rows += [[row.label, purpose, *of] for purpose, of in per_purpose(values, n).items()]
    return Sheet("Per question, by method and purpose", [Column("method"), Column("purpose"), *COLUMNS], rows, keys=2)


def _differences(grid: Grid, found: Differences, baselines: Sequence[str]) -> Sheet:
    """Each method less its baseline, on each dataset and in the mean.

    Named baselines are compared with the best of them in the mean only; the file has all.
    """
    named = present_among(grid, baselines)
    among = {row.label for row in grid.rows if is_one(row, named)}
    rows: list[list[Cell]] = []
    for name, whole in found.items():
        short = MEAN in found and name != MEAN
        rows += [_line(name, label, one) for label, one in whole.items() if not short or label not in among]
    whom = f"the best of {', '.join(named)}" if len(named) > 1 else named[0] if named else "the best other method"
    missing = [name for name in baselines if name not in named]
    notes = [f"compare.baselines: no method here is {' or '.join(missing)}"] if missing else []
    notes += [f"lower is better: a gain is by how much {name} is lower" for name in _low(grid)]
    notes += [_EXPLAINED, *([_CHOSEN] if len(named) > 1 else [] if named else [_BEST_OTHER])]
    lost = [f"{label} {name} {one.unpaired:,}" for name, of in found.items() for label, one in of.items()
            if one.unpaired and name != MEAN]  # fmt: skip
    if lost:
        notes.append("episodes without a scored partner, left out: " + ", ".join(lost))
    columns = [
        Column("dataset"), Column("method"), Column("less"), Column("gain", "", "higher", signed=True),
        Column("pairs"), Column("clusters"), Column("won:tied:lost"), Column("p"), Column("Holm p"),
    ]  # fmt: skip
    return Sheet(f"Paired differences to {whom}", columns, rows, notes, keys=2)


def _line(dataset: str, label: str, one: Difference) -> list[Cell]:
    counts = f"{one.wins:,}:{one.ties:,}:{one.losses:,}"
    value = Value.of(one.metric)
    return [dataset, label, one.against, value, one.metric.n, one.clusters, counts, p_text(one.p), p_text(one.p_holm)]


def _as_dict(grid: Grid, baselines: Sequence[str]) -> dict[str, Any]:
    """The numbers of the tables, JSON-ready."""
    found = differences(grid, baselines) if len(grid.rows) > 1 else {}
    return {
        "scores": {column.label: column.score for column in grid.columns},
        "rows": {label: {name: one.as_dict() for name, one in of.items()} for label, of in grid.metrics.items()},
        "differences": {name: {label: one.as_dict() for label, one in of.items()} for name, of in found.items()},
        "per_question": {row.label: per_question(row.records) for row in grid.rows if row.records},
        "by_purpose": {
            row.label: {name: one.as_dict() for name, one in by_purpose(row.records).items()} for row in grid.rows
        },
        "baselines": present_among(grid, baselines),
    }
