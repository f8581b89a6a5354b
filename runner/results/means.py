"""Tables of means of means, or per value of a stratum: one row per settings, one column per group, and the total."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

from runner.results.intervals import Metric, mean_of
from runner.results.levels import Nested, Part
from runner.results.rows import Row
from runner.results.runs import Run
from runner.results.table import number, show, stacked

TOTAL, ALL = "total", "all samples"
_FEW = 6  # rows of which every stratum is shown


def means(rows: Sequence[Row]) -> dict[str, dict[str, Nested]]:
    """Score -> label of a row -> its means; rows without the score are left out, and scores of one group only. Of the
    strata that a score is wanted by, the first stands below the score's name, others below ``<score> by <stratum>``."""
    found: dict[str, dict[str, Nested]] = {}
    for row in rows:
        for score, levels in row.first.levels.items():
            found.setdefault(score, {})[row.label] = Nested(row.records, score, levels, row.first.scale(score))
        for score, (first, *others) in row.first.by.items():
            for stratum in (first, *others):
                name = score if stratum == first else f"{score} by {stratum}"
                found.setdefault(name, {})[row.label] = Nested(
                    row.records, score, [stratum], row.first.scale(score), pooled=True
                )
    runs = [run for row in rows for run in row.runs]
    return {name: of for name, of in found.items() if any(_tells(run, next(iter(of.values())).levels) for run in runs)}


def _tells(run: Run, levels: Sequence[str]) -> bool:
    """Whether a run has means of means; that of one group each stands in the table over datasets."""
    return len(levels) > 1 or len({record["strata"].get(level) for level in levels for record in run.records}) > 1


def shared(tables: Sequence[Mapping[str, float | None]]) -> list[str]:
    """The groups in which every one of these has a value, in the first one's order."""
    there = [[group for group, value in table.items() if value is not None] for table in tables]
    return reduce(lambda left, right: [group for group in left if group in right], there) if there else []


def show_means(rows: Sequence[Row]) -> dict[str, Any]:
    """Print a table per score, but for those of a single innermost group and those without a value. Returns what they
    say: {score: {label: {column: metric}}}."""
    told: dict[str, Any] = {}
    untold: list[str] = []
    for name, nested in means(rows).items():
        if len({path for one in nested.values() for path in one.leaves}) < 2:
            continue
        groups = sorted({group for one in nested.values() for group in one.outer})
        common = shared([_values(one) for one in nested.values()])
        first = next(iter(nested.values()))
        columns = [*groups, _all(first)]
        if any(shared([_values(one)]) != common for one in nested.values()) and common:
            columns.append(over(common))
        table = {label: {column: _metric(one, column, common) for column in columns} for label, one in nested.items()}
        if all(metric.value is None for of in table.values() for metric in of.values()):
            continue
        if name == first.score:
            levels = " of ".join(f"means per {level}" for level in reversed(first.levels))
            body = [
                (label, *(stacked(metrics[column].as_dict()) for column in columns)) for label, metrics in table.items()
            ]
            show(("", *columns), body, f"{first.score}: {levels}, and {_all(first)}")
        elif len(table) <= _FEW:
            _show_briefly(first, table, groups)
        else:
            untold.append(name)
        told[name] = {label: {name: one.as_dict() for name, one in of.items()} for label, of in table.items()}
    if untold:
        print(f"{', '.join(untold)}: of {len(rows)} rows too much to show here; the report's page has it")  # noqa: T201
    return told


def _show_briefly(of: Nested, table: Mapping[str, Mapping[str, Metric]], groups: Sequence[str]) -> None:
    """A line per row, without intervals, which ``means.json`` has: of many groups each is small. Its size is in the
    head where all rows have the same."""
    sizes = {group: {metrics[group].n for metrics in table.values()} for group in groups}
    head = [f"{group} ({min(n)})" if len(n) == 1 else group for group, n in sizes.items()]
    body = [(label, *(number(metrics[group].value) for group in groups)) for label, metrics in table.items()]
    show(("", *head), body, f"{of.score}: means per {of.levels[-1]} (of so many samples)")


def _all(of: Nested) -> str:
    """The name of the last column: the mean of means, or the plain mean of all samples, which is another number."""
    return ALL if of.pooled else TOTAL


def over(groups: Sequence[str]) -> str:
    """The name of the total over the groups that all rows share."""
    return "total, shared: " + " ".join(groups)


def _values(nested: Nested) -> dict[str, float | None]:
    return {group: part.value for group, part in nested.outer.items()}


def _metric(nested: Nested, column: str, common: Sequence[str]) -> Metric:
    """A cell: a mean of means, or the plain mean of the samples it is about."""
    if not nested.pooled:
        return _part(nested, column, common).metric
    wanted = {ALL: None, over(common): set(common)}.get(column, {column})
    of = [one for one in nested.records if wanted is None or one["strata"].get(nested.levels[-1]) in wanted]
    return mean_of(of, nested.score, nested.scale)


def _part(nested: Nested, column: str, common: Sequence[str]) -> Part:
    if column == TOTAL:
        return nested.total()
    return nested.total(common) if column == over(common) else nested.outer.get(column, Part(None))
