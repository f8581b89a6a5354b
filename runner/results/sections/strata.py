"""Scores by what the samples differ in: task, complexity, modality, level, whatever strata the records have."""

from collections import Counter
from collections.abc import Sequence

from runner.results.render.figures import groups, shades
from runner.results.run_metrics import RunMetrics, axis, headlines, named, read_metrics
from runner.results.runs import Run
from runner.results.sheets import Cell, Column, Plot, Section, Sheet, Value

_SCORES = 3
_SERIES = 6  # runs that are bars; more are shades
_VALUES = 40  # of a stratum that are shown, those of the most samples


def section(runs: Sequence[Run]) -> Section | None:
    """A table per stratum, its values are columns; None where no stratum has two values."""
    found = read_metrics(runs)
    strata = dict.fromkeys(stratum for one in found for stratum in one.strata)
    parts: list[Sheet | Plot] = []
    for stratum in strata:
        values = _values(found, stratum)
        if len(values) > 1:
            parts += _parts(found, stratum, values)
    if not parts:
        return None
    intro = "The first scores by the strata of the samples; the tooltip of a cell has the number of samples."
    return Section("strata", "By task, complexity and other strata", intro, parts)


def _values(found: Sequence[RunMetrics], stratum: str) -> list[str]:
    """The values of a stratum in the order of their names."""
    return sorted({value for one in found for value in one.strata.get(stratum, {})})


def _parts(found: Sequence[RunMetrics], stratum: str, values: Sequence[str]) -> list[Sheet | Plot]:
    """The table of a stratum, and a plot of the first score."""
    sizes: Counter[str] = Counter()
    for one in found:
        sizes.update(str(record["strata"].get(stratum)) for record in one.run.records)
    shown = sorted(sorted(values, key=lambda value: -sizes[value])[:_VALUES])
    names = headlines(found)[:_SCORES]
    there = [one for one in found if one.strata.get(stratum)]
    rows: list[list[Cell]] = [
        [named(found, name), one.label, *cells]
        for name in names
        for one in there
        if any(cells := _cells(one, stratum, shown, name))
    ]
    notes = [f"{len(values) - len(shown)} values of fewer samples are left out"] if len(shown) < len(values) else []
    columns = [Column("score"), Column("run"), *map(Column, shown)]
    sheet = Sheet(f"By {stratum}", columns, rows, notes, keys=2)
    return [*([_plot(there, stratum, shown, names[0])] if names else []), sheet]


def _cells(one: RunMetrics, stratum: str, values: Sequence[str], name: str) -> list[Value | None]:
    return [Value.stored(one.strata[stratum].get(value, {}).get(name)) for value in values]


def _plot(found: Sequence[RunMetrics], stratum: str, values: Sequence[str], name: str) -> Plot:
    """Bars for few runs, shades for many."""
    title = f"{axis(found, name)} by {stratum}"
    series = {one.label: cells for one in found if any(cells := _cells(one, stratum, values, name))}
    if len(series) <= _SERIES:
        return Plot(title, groups(values, series, axis(found, name), stratum))
    z = [[None if cell is None else cell.value for cell in cells] for cells in series.values()]
    return Plot(title, shades(list(series), values, z))
