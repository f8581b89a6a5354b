"""Means of means, or means per value of a stratum, that scorers request (``levels``, ``by``): of each settings per
group, and in total."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from runner.results.intervals import Metric, MetricJSON
from runner.results.kinds import natural_order
from runner.results.levels import Nested, describe, shared_groups
from runner.results.metrics import as_dicts
from runner.results.rows import Row, rows_of
from runner.results.runs import Run
from runner.results.sections.scores import heat_map_keys
from runner.results.sheets import Section, Sheet, Value, longer_down
from runner.results.terminal import show_section

TOTAL, ALL = "total", "all samples"
_FEW = 6  # rows of which every stratum is shown
MeansJSON = dict[str, dict[str, dict[str, MetricJSON]]]  # score -> label of a row -> column -> metric


@dataclass(frozen=True)
class Means:
    """The means of a score by ``levels``: ``cells`` has label of a row -> column -> metric. ``pooled``: they are plain
    means, per group and in total, and no means of means."""

    name: str
    score: str
    levels: Sequence[str]
    pooled: bool
    columns: Sequence[str]
    cells: Mapping[str, Mapping[str, Metric]]


def section(runs: Sequence[Run]) -> Section | None:
    """A table per score; None where no score is requested by groups, or none has several."""
    return _section(means_of(runs))


def page_section(runs: Sequence[Run]) -> Section | None:
    """The same without plain means by a stratum that the section on strata has as heat maps."""
    maps = heat_map_keys(runs)
    return _section([one for one in means_of(runs) if not one.pooled or (one.score, one.levels[0]) not in maps])


def show_means(runs: Sequence[Run], brief: bool = False) -> MeansJSON:
    """Print the section, unless ``brief``. Returns its numbers."""
    found = means_of(runs)
    if not brief and (section := _section(found)) is not None:
        show_section(section)
    return {one.name: {label: as_dicts(of) for label, of in one.cells.items()} for one in found}


def _section(found: Sequence[Means]) -> Section | None:
    if not found:
        return None
    tables = [one for one in found if one.name == one.score or len(one.cells) <= _FEW]
    names, sheets = ", ".join(one.name for one in found if one not in tables), []
    for one in tables:
        title = f"{one.score}: {describe(one.levels)}, and {ALL if one.pooled else TOTAL}"
        lines = {label: [Value.of(of[name]) for name in one.columns] for label, of in one.cells.items()}
        sheets.append(Sheet(title, *longer_down(lines, one.columns, ("row", one.levels[-1]))))
    hidden = f"not shown here for {len(found[0].cells)} rows; the section on strata of the report's page has it."
    return Section("means", "Means by group", f"{names}: {hidden}" if names else "", sheets)


def means_of(runs: Sequence[Run]) -> list[Means]:
    """The means of every score, but for those of a single innermost group and those without a value."""
    rows = rows_of([run for run in runs if run.levels or run.by])
    found = []
    for (name, score, pooled), nested in _nest_scores(rows).items():
        if len({path for one in nested.values() for path in one.leaves}) < 2:
            continue
        first = next(iter(nested.values()))
        means = [one.outer for one in nested.values()]
        common = shared_groups(means)
        groups: dict[str, Collection[str] | None] = {
            group: {group} for group in sorted({group for of in means for group in of}, key=natural_order)
        }
        groups[ALL if pooled else TOTAL] = None
        if common and any(shared_groups([of]) != common for of in means):
            groups["total, shared: " + " ".join(common)] = common
        cells: dict[str, dict[str, Metric]] = {label: {} for label in nested}
        for (label, one), (column, of) in product(nested.items(), groups.items()):
            if of is not None and column in one.outer:
                mean = one.outer[column]
            else:
                mean = one.pooled(of) if pooled else one.total(of)
            cells[label][column] = mean.finished
        if any(metric.value is not None for of in cells.values() for metric in of.values()):
            found.append(Means(name, score, first.levels, pooled, list(groups), cells))
    return found


def _nest_scores(rows: Sequence[Row]) -> dict[tuple[str, str, bool], dict[str, Nested]]:
    """Title, score, whether it is pooled -> label of a row -> its means; rows without the score are left out, and
    scores of one group only (the table over datasets has them). Further strata that a score is requested by are
    ``<score> by <stratum>``."""
    found: dict[tuple[str, str, bool], dict[str, Nested]] = {}
    for row in rows:
        table, scale = row.table, row.first.scale
        for score, levels in row.first.levels.items():
            one = Nested(table, table[f"scores/{score}"], levels, scale(score))
            found.setdefault((score, score, False), {})[row.label] = one
        for score, strata in row.first.by.items():
            for stratum in strata:
                name = score if stratum == strata[0] else f"{score} by {stratum}"
                one = Nested(table, table[f"scores/{score}"], [stratum], scale(score))
                found.setdefault((name, score, True), {})[row.label] = one
    tables = [run.table for row in rows for run in row.runs]

    def has_several(levels: Sequence[str]) -> bool:
        return len(levels) > 1 or any(len(table.paths(levels)[1]) > 1 for table in tables)

    return {name: of for name, of in found.items() if has_several(next(iter(of.values())).levels)}
