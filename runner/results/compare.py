"""What a sweep says of its methods: scores over datasets, what a question costs, differences to the best baseline.

Printed, and kept beside the jobs: ``compare.md`` as it is read, ``compare.json`` with all numbers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from components.core.errors import ConfigError
from runner.results.grid import MEAN, Grid, grid_of
from runner.results.intervals import Metric
from runner.results.paired import Difference, Differences, differences, played
from runner.results.runs import Run, leaves
from runner.results.statistics.versus import is_one
from runner.results.table import interval, markdown, plain, show, stacked
from runner.results.usage import WHAT, by_purpose, per_question, purpose_lines, said

FILE, READ = "compare.json", "compare.md"
_HEAD = ("", "less", "gain", "95 % interval", "pairs", "clusters", "won:tied:lost", "p", "Holm p")


@dataclass(frozen=True)
class Table:
    """A table with what is said below it."""

    title: str
    head: Sequence[str]
    body: Sequence[Sequence[str]]
    below: Sequence[str] = field(default=())

    def show(self) -> None:
        """Print it."""
        show(self.head, self.body, self.title)
        for line in self.below:
            print(line)  # noqa: T201

    @property
    def text(self) -> str:
        """It as Markdown."""
        return "\n\n".join([f"## {self.title}", markdown(self.head, self.body), *map(plain, self.below)])


def warnings_of(runs: Sequence[Run]) -> list[str]:
    """What a reader of several runs must know: simulated models, and the notes of each with its methods."""
    found: dict[str, list[str]] = {}
    for run in runs:
        for note in run.notes.get("notes") or ():
            found.setdefault(str(note), []).append(str(run.choices.get("agent", "?")))
    said = [f"note: {note} ({', '.join(dict.fromkeys(of))})" for note, of in found.items()]
    said += [line for run in runs if (line := _cut(run))]
    if any(run.simulated for run in runs):
        said.insert(0, "simulated model: these numbers say nothing about any real model")
    return said


def _cut(run: Run) -> str:
    """That records of a run are gone, where its manifest counts more."""
    counted = (run.notes.get("counts") or {}).get("finished") or 0
    if run.notes.get("status") != "complete" or counted <= len(run.records):
        return ""
    return (
        f"note: {run.folder} was complete with {counted} records and holds {len(run.records)}: records.jsonl was "
        "cut or changed; run.resume plays what is missing, from the journal where it can"
    )


def show_compare(runs: Sequence[Run], baselines: Sequence[str] | None = None, home: Path | None = None) -> None:
    """Print the tables where there are two methods or two datasets; write them to ``home``.

    ``baselines`` None: those that the first run's config names. Raises ConfigError where none of those given is there.
    """
    grid = grid_of(runs)
    given = baselines is not None
    if not grid.several and not given:
        return
    if baselines is None:
        baselines = (runs[0].compare.get("baselines") if runs else None) or ()
    if (missing := [name for name in baselines if not played(grid, [name])]) and given:
        have = ", ".join(dict.fromkeys(str(row.first.choices.get("agent")) for row in grid.rows))
        raise ConfigError(f"--baselines: no method here is {' or '.join(missing)}; there are {have}")
    found = differences(grid, baselines) if len(grid.rows) > 1 else {}
    tables = [_scores(grid), _costs(grid)]
    tables += [_differences(grid, found, baselines)] if any(found.values()) else []
    for table in tables:
        table.show()
    if home is not None:
        told = _told(grid, found) | {"baselines": played(grid, baselines)}
        (home / FILE).write_text(json.dumps(told, indent=1), encoding="utf-8")
        text = "\n\n".join([f"# {home.name}", *map(plain, warnings_of(runs)), *(table.text for table in tables)])
        (home / READ).write_text(text + "\n", encoding="utf-8")


def _scores(grid: Grid) -> Table:
    """Rows are methods, columns datasets and their mean."""
    names = [*(column.label for column in grid.columns), *([MEAN] if grid.averages else [])]
    body = [(label, *(_cell(of.get(name)) for name in names)) for label, of in grid.metrics.items()]
    scores = list(dict.fromkeys(column.score or "no score" for column in grid.columns))
    below = list(_uneven(grid))
    if len(scores) > 1:
        told = ", ".join(f"{column.label} {column.score or 'nothing'}" for column in grid.columns)
        below.append(f"scores, which are not averaged, as they differ: {told}")
    if lost := list(_unscored(grid)):
        below.append("unscored episodes, left out: " + ", ".join(lost))
    title = f"{scores[0] if len(scores) == 1 else 'headline scores'}, 95 % interval below"
    below += [f"lower is better: {name}" for name in _low(grid)]
    return Table(title, ("", *names), body, below)


def _cell(metric: Metric | None) -> str:
    return "-" if metric is None else stacked(metric.as_dict())


def _unscored(grid: Grid) -> Iterator[str]:
    for label, of in grid.metrics.items():
        for name, metric in of.items():
            if metric.unscored and name != MEAN:
                yield f"{label} {name} {metric.unscored:,}"


def _low(grid: Grid) -> list[str]:
    """The headline scores that are better low."""
    return list(dict.fromkeys(column.score or "" for column in grid.columns if column.direction == "lower"))


def _uneven(grid: Grid) -> Iterator[str]:
    """Settings of the model in which rows differ that the sweep did not vary: an agent may bring them."""
    settings = {row.label: dict(leaves(row.first.cfg.get("model"), "model")) for row in grid.rows}
    varied = {key for row in grid.rows for key in row.first.notes.get("swept") or ()}
    for key in dict.fromkeys(key for of in settings.values() for key in of):
        values: dict[str, list[str]] = {}
        for label, of in settings.items():
            values.setdefault(str(of.get(key)), []).append(label)
        if len(values) > 1 and key not in varied and "model" not in varied:
            told = "; ".join(f"{value} for {', '.join(labels)}" for value, labels in values.items())
            yield f"not the same in all rows: {key} is {told}"


def _costs(grid: Grid) -> Table:
    """What a question costs a method, and of that each purpose."""
    body: list[tuple[str, ...]] = []
    for row in grid.rows:
        if row.records:
            body.append((row.label, *said(list(per_question(row.records).values()))))
            body += [(f"  {name}", *cells) for name, *cells in purpose_lines(row.records)]
    return Table("per question, by method and purpose", ("", *WHAT), body)


def _differences(grid: Grid, found: Differences, baselines: Sequence[str]) -> Table:
    """A block per dataset: each method less what it is held against.

    Where baselines are named, they are held against the best of them in the mean only; the file has all.
    """
    named = played(grid, baselines)
    below = {row.label for row in grid.rows if is_one(row, named)}
    body: list[tuple[str, ...]] = []
    for name, whole in found.items():
        short = MEAN in found and name != MEAN
        of = {label: one for label, one in whole.items() if not short or label not in below}
        if of:
            body.append((name, *[""] * (len(_HEAD) - 1)))
            body += [_line(label, one) for label, one in of.items()]
    whom = f"the best of {', '.join(named)}" if len(named) > 1 else named[0] if named else "the best other method"
    missing = [name for name in baselines if name not in named]
    lines = [f"compare.baselines: no method here is {' or '.join(missing)}"] if missing else []
    lines += [f"lower is better: a gain is by how much {name} is lower" for name in _low(grid)]
    lines += [*_EXPLAINED, *([_CHOSEN] if len(named) > 1 else [] if named else [_BEST_OTHER])]
    lost = [f"{label} {name} {one.unpaired:,}" for name, of in found.items() for label, one in of.items()
            if one.unpaired and name != MEAN]  # fmt: skip
    if lost:
        lines.append("episodes without a scored partner, left out: " + ", ".join(lost))
    return Table(f"paired differences to {whom}", _HEAD, body, lines)


_EXPLAINED = (
    "p: two-sided, that the gain is nothing; differences of whole patients or samples change signs",
    "(scores of 0 and 1 on one dataset: McNemar's exact test). Holm p: adjusted, in the mean and on a",
    "single dataset for all methods, on each of several datasets for one method on all of them.",
)
_CHOSEN = "The best baseline is chosen on these same data, which favours it: gains are rather larger."
_BEST_OTHER = "No compare.baselines: the best other method is chosen on these data, differences are biased."


def _line(label: str, one: Difference) -> tuple[str, ...]:
    value = "-" if one.metric.value is None else f"{round(one.metric.value, 4) + 0.0:+.4f}"
    p_values = ("-" if p is None else "<0.001" if p < 0.001 else f"{p:.3f}" for p in (one.p, one.p_holm))
    counts = (f"{one.metric.n:,}", f"{one.clusters:,}", f"{one.wins:,}:{one.ties:,}:{one.losses:,}")
    return (f"  {label}", one.against, value, interval(one.metric.as_dict()), *counts, *p_values)


def _told(grid: Grid, found: Differences) -> dict[str, Any]:
    """What the tables say, in numbers."""
    return {
        "scores": {column.label: column.score for column in grid.columns},
        "rows": {label: {name: one.as_dict() for name, one in of.items()} for label, of in grid.metrics.items()},
        "differences": {name: {label: one.as_dict() for label, one in of.items()} for name, of in found.items()},
        "per_question": {row.label: per_question(row.records) for row in grid.rows if row.records},
        "by_purpose": {
            row.label: {name: one.as_dict() for name, one in by_purpose(row.records).items()} for row in grid.rows
        },
    }
