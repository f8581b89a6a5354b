"""A score by every choice or value that the runs vary: condition, agent, model, a number."""

from collections.abc import Mapping, Sequence

from runner.results.render.figures import groups
from runner.results.run_metrics import RunMetrics, axis, headlines, named, read_metrics
from runner.results.runs import Run
from runner.results.sheets import Cell, Column, Plot, Section, Sheet, Value

_APART = ("tracking", "scorer", "experiment", "run", "hydra", "name")
_FIRST = ("condition", "agent", "model", "verifier", "dataset")
_SCORES = 4
_SERIES = 8  # runs that are bars


def section(runs: Sequence[Run]) -> Section | None:
    """One table per field that is varied together with others: its values are columns; None below two fields."""
    found = read_metrics(runs)
    fields = varied(runs)
    if len(fields) < 2:
        return None
    parts: list[Sheet | Plot] = []
    for field, values in fields.items():
        others = [name for name in fields if name != field]
        parts += _parts(found, field, values, others)
    intro = "What each varied field changes while the others are fixed: a line per score and setting of the others."
    return Section("settings", "By what the runs vary", intro, parts)


def varied(runs: Sequence[Run]) -> dict[str, list[str]]:
    """Field -> its values, of the choices and swept values in which the runs differ, conditions first; without those
    that follow from another one."""
    names = [*_FIRST, *(name for run in runs for name in (*run.choices, *(run.notes.get("swept") or ())))]
    values = {name: [_setting(run, name) for run in runs] for name in names if name.partition(".")[0] not in _APART}
    values = {name: of for name, of in values.items() if len(set(of)) > 1}
    order = list(values)
    kept = [
        name
        for n, name in enumerate(order)
        if not any(_follows(values[name], values[other], m < n) for m, other in enumerate(order) if m != n)
    ]
    return {name: list(dict.fromkeys(values[name])) for name in kept}


def _follows(one: Sequence[str], other: Sequence[str], later: bool) -> bool:
    """Whether a field's values follow from another's; of two that follow from each other the later one does."""
    pairs = set(zip(one, other, strict=True))
    return len(pairs) == len(set(other)) and (later or len(pairs) > len(set(one)))


def _setting(run: Run, name: str) -> str:
    """A choice, or a value as it was set; a dash where a run has neither."""
    value = run.choices.get(name, (run.notes.get("varied") or {}).get(name))
    return "-" if value is None else str(value)


def _parts(found: Sequence[RunMetrics], field: str, values: Sequence[str], others: Sequence[str]) -> list[Sheet | Plot]:
    """The table of a field, and bars of the first score."""
    names = headlines(found)[:_SCORES]
    rows: list[list[Cell]] = []
    series: dict[str, list[Value | None]] = {}
    for name in names:
        lines = _lines(found, name, field, values, others)
        rows += [[named(found, name), setting, *cells] for setting, cells in lines.items()]
        series = series or dict(lines)
    sheet = Sheet(f"By {field}", [Column("score"), Column(", ".join(others)), *map(Column, values)], rows, keys=2)
    if not names or not 1 <= len(series) <= _SERIES:
        return [sheet]
    shown = [n for n in range(len(values)) if any(cells[n] for cells in series.values())]
    series = {setting: [cells[n] for n in shown] for setting, cells in series.items()}
    figure = groups([values[n] for n in shown], series, axis(found, names[0]), field)
    return [Plot(f"{names[0]} by {field}", figure), sheet]


def _lines(
    found: Sequence[RunMetrics], name: str, field: str, values: Sequence[str], others: Sequence[str]
) -> Mapping[str, list[Value | None]]:
    """Setting of the other fields -> the score at every value of this one; a cell that two runs share is empty, and a
    line without any value is left out."""
    lines: dict[str, dict[str, list[RunMetrics]]] = {}
    for one in found:
        setting = ", ".join(_setting(one.run, other) for other in others)
        lines.setdefault(setting, {}).setdefault(_setting(one.run, field), []).append(one)
    found_of = {
        setting: [cells[value][0].value(name) if len(cells.get(value, ())) == 1 else None for value in values]
        for setting, cells in lines.items()
    }
    return {setting: cells for setting, cells in found_of.items() if any(cells)}
