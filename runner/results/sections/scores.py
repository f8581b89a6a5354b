"""Scores of all runs: next to each other, by every choice that the runs vary, by the strata of the samples, and against
what they cost, with the runs that no other beats in both (the Pareto front)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product

from runner.results.arrays import np
from runner.results.grid import deciding_score
from runner.results.kinds import group_by, natural_order
from runner.results.levels import note_of
from runner.results.render.figures import bars, intervals
from runner.results.rows import RunMetrics, axis, better, column, headline, headlines, name_with_arrow, read_metrics
from runner.results.runs import Run
from runner.results.sections.report import status_line
from runner.results.sheets import Cell, Column, Plot, Section, Sheet, Value, columns, longer_down
from runner.results.table import OVERFLOWS

_COSTS = ("errors/rate", OVERFLOWS, "calls/per_sample", "tokens/input", "tokens/output", "cost/usd", "time/seconds_p50")
_PLOTTED = 2
_JOB_SCORES, _JOB_COSTS = 7, ("errors/rate", "cost/usd")
_NOT_VARIED = ("tracking", "scorer", "experiment", "run", "hydra", "name")
_FIRST = ("condition", "agent", "model", "verifier", "dataset")
_SETTINGS_SCORES, _SETTINGS_SERIES = 4, 8  # scores of a table; bars of a plot
_STRATA_SCORES = 3
_VALUES = 40  # of a stratum that are shown, those of the most samples


def leaderboard(runs: Sequence[Run]) -> Section | None:
    """Tables of scores and of costs, a line per run, and plots of the first scores with their intervals."""
    found = read_metrics(*runs)
    if not found:
        return None
    names, plots = headlines(found), []
    for name in names[:_PLOTTED]:  # the best at the top
        scored = [(one.label, value) for one in reversed(found) if (value := one.value(name)) is not None]
        scored.sort(key=lambda pair: pair[1].value or 0.0, reverse=better(found, name) == "lower")
        figure = intervals([label for label, _ in scored], [value for _, value in scored], axis(found, name))
        plots.append(Plot(f"{name} of every run", figure))
    costs = [name for name in _COSTS if any(one.value(name) is not None for one in found)]
    lines = [[one.label, *(one.value(name) for name in costs)] for one in found]
    notes = ["cost/usd, tokens/input and tokens/output are totals of a run; unknown costs are left empty."]
    table = Sheet("Cost, tokens, time", columns("run", *(column(found, name) for name in costs)), lines, notes)
    intro = (
        "One line per run. Small numbers are 95 % intervals, with n below ten; an arrow shows in which direction a "
        "column improves."
    )
    return Section("leaderboard", "Leaderboard", intro, [_scores(found, names), *plots, table])


def _scores(found: Sequence[RunMetrics], names: Sequence[str]) -> Sheet:
    """The headline scores; runs that are not complete are named below."""
    dataset = ["dataset"] if len({one.run.dataset for one in found}) > 1 else []
    rows: list[list[Cell]] = []
    for one in found:
        counts, data = one.run.manifest.get("counts"), [one.run.dataset] if dataset else []
        rows.append([one.label, *data, counts and counts["finished"], *(one.value(name) for name in names)])
    notes = _unfinished(found)
    levels = {f"total/{score}": strata for one in found for score, strata in one.run.levels.items()}
    notes += [note_of(name, levels[name]) for name in names if name in levels]
    heads = columns("run", *dataset, ("episodes", "n"), *(column(found, name) for name in names))
    return Sheet("Scores", heads, rows, notes)


def jobs_table(title: str, found: Sequence[RunMetrics]) -> Sheet:
    """The scores that decide, errors and cost where there are any, and other headlines of jobs."""
    manifests, metrics = [one.run.manifest for one in found], [one.metrics for one in found]
    scores = [(deciding_score(one.run), one.metrics) for one in found]
    decide = list(dict.fromkeys(t if (t := f"total/{one}") in values else one for one, values in scores if one))
    named = dict.fromkeys(name for one in found for name in one.run.compare.get("scores") or ())
    first = [*decide, *(name for name in _JOB_COSTS if any(of.get(name, {}).get("value") for of in metrics))]
    names = [*dict.fromkeys([*first, *headline(metrics, _JOB_SCORES, manifests, named)])][:_JOB_SCORES]
    heads = [Column("job"), *(column(found, name) for name in names)]
    rows = [[one.label, *(one.metrics.get(name, {}).get("value") for name in names)] for one in found]
    notes = [f"{' and '.join(decide)} decide{'s' * (len(decide) == 1)}; ↑ higher is better, ↓ lower"] if decide else []
    if missing := [name for name in named if all(one.get(name, {}).get("value") is None for one in metrics)]:
        notes.append(f"compare.scores: no job has a value of {', '.join(missing)}")
    return Sheet(title, heads, rows, [*notes, *_unfinished(found)])


def _unfinished(found: Sequence[RunMetrics]) -> list[str]:
    """How those of these runs ended that are not complete."""
    manifests = [(one.label, one.run.manifest) for one in found]
    return [f"{label}: {status_line(notes)}" for label, notes in manifests if notes.get("status") != "complete"]


def settings(runs: Sequence[Run]) -> Section | None:
    """One table per field that is varied together with others: its values are columns; None below two fields."""
    found, fields = read_metrics(*runs), varied_fields(runs)
    if len(fields) < 2:
        return None
    parts: list[Sheet | Plot] = []
    for field, values in fields.items():
        parts += _setting_parts(found, field, values, [name for name in fields if name != field])
    intro = "What each varied field changes while the others are fixed: a line per score and setting of the others."
    return Section("settings", "By what the runs vary", intro, parts)


def varied_fields(runs: Sequence[Run]) -> dict[str, list[str]]:
    """Field -> its values, of all in which the runs differ, conditions first; without those that follow from others."""
    names = [*_FIRST, *(name for run in runs for name in (*run.choices, *(run.manifest.get("swept") or ())))]
    values = {
        name: [_setting(run, name) for run in runs] for name in names if name.partition(".")[0] not in _NOT_VARIED
    }
    values = {name: settings for name, settings in values.items() if len(set(settings)) > 1}
    found, order = {}, list(values)

    def follows(name: str, other: str) -> bool:
        """Whether a field's values follow from another's; of two that follow from each other the later one does."""
        pairs = len(set(zip(values[name], values[other], strict=True)))
        later = order.index(other) < order.index(name)
        return pairs == len(set(values[other])) and (later or pairs > len(set(values[name])))

    for name, settings in values.items():
        if not any(follows(name, other) for other in order if other != name):
            found[name] = list(dict.fromkeys(settings))
    return found


def _setting(run: Run, name: str) -> str:
    """A choice, or a value as it was set; a dash where a run has neither."""
    value = run.choices.get(name, (run.manifest.get("varied") or {}).get(name))
    return "-" if value is None else str(value)


def _setting_parts(
    found: Sequence[RunMetrics], field: str, values: Sequence[str], others: Sequence[str]
) -> list[Sheet | Plot]:
    """The table of a field, and bars of the first score that has any value."""
    names = headlines(found)[:_SETTINGS_SCORES]
    tables = {name: _by_setting(found, name, field, values, others) for name in names}
    rows = [
        [name_with_arrow(found, name), setting, *line]
        for name, part in tables.items()
        for setting, line in part.items()
    ]
    sheet = Sheet(f"By {field}", columns("score", ", ".join(others), *values), rows, keys=2)
    name, lines = next(((name, lines) for name, lines in tables.items() if lines), ("", {}))
    if not 1 <= len(lines) <= _SETTINGS_SERIES:
        return [sheet]
    scored = [n for n in range(len(values)) if any(line[n] for line in lines.values())]
    series = {setting: [line[n] for n in scored] for setting, line in lines.items()}
    figure = bars([values[n] for n in scored], series, axis(found, name), field)
    return [Plot(f"{name} by {field}", figure), sheet]


def _by_setting(
    found: Sequence[RunMetrics], name: str, field: str, values: Sequence[str], others: Sequence[str]
) -> dict[str, list[Value | None]]:
    """Setting of the other fields -> the score at every value of this one; a cell that two runs share is empty, and a
    line without any value is left out."""

    def place(one: RunMetrics) -> tuple[str, str]:
        return ", ".join(_setting(one.run, other) for other in others), _setting(one.run, field)

    cells = group_by(found, place)
    single = {at: runs[0].value(name) for at, runs in cells.items() if len(runs) == 1}
    settings = dict.fromkeys(setting for setting, _ in cells)
    lines = {setting: [single.get((setting, value)) for value in values] for setting in settings}
    return {setting: line for setting, line in lines.items() if any(line)}


def strata(runs: Sequence[Run]) -> Section | None:
    """A heat map per stratum and score; None where no stratum has two values."""
    found = read_metrics(*runs)
    parts: list[Sheet] = []
    for stratum, values in _strata_of(found).items():
        sizes = Counter[str]()
        for table in (one.run.table for one in found):
            counts = np.bincount(table["strata"], minlength=len(table.kinds)).tolist()
            for kind, n in zip(table.kinds, counts, strict=True):
                sizes[str(kind.get(stratum))] += n
        labels = sorted(sorted(values, key=lambda value: -sizes[value])[:_VALUES], key=natural_order)
        others = len(values) - len(labels)
        notes = [f"{others} values of fewer samples are left out"] if others else []
        for name in headlines(found)[:_STRATA_SCORES]:
            parts += _heat_maps(found, name, stratum, labels, notes)
    intro = "The first scores by the strata of the samples; the tooltip of a cell has the number of samples."
    return Section("strata", "By task, complexity and other strata", intro, parts) if parts else None


def heat_map_keys(runs: Sequence[Run]) -> set[tuple[str, str]]:
    """The pairs of score and stratum of which there is a heat map."""
    found = read_metrics(*runs)
    return set(product(headlines(found)[:_STRATA_SCORES], _strata_of(found)))


def _strata_of(found: Sequence[RunMetrics]) -> dict[str, list[str]]:
    """Stratum -> its values, of those that have several."""
    strata = [one.run.summary["strata"] for one in found]
    names = dict.fromkeys(name for parts in strata for name in parts)
    values = {name: sorted({value for parts in strata for value in parts.get(name, {})}, key=natural_order)
              for name in names}  # fmt: skip
    return {name: several for name, several in values.items() if len(several) > 1}


def _heat_maps(
    found: Sequence[RunMetrics], name: str, stratum: str, values: Sequence[str], notes: Sequence[str]
) -> Iterator[Sheet]:
    """A score by runs and values of a stratum; none where no run has it."""
    parts = {one.label: one.run.summary["strata"].get(stratum, {}) for one in found}
    lines = {run: [Value.from_json(part.get(value, {}).get(name)) for value in values] for run, part in parts.items()}
    if any(map(any, lines.values())):
        heads, rows = longer_down(lines, values, ("run", stratum), better(found, name))
        yield Sheet(f"{name} by {stratum}", heads, rows, notes, shaded=1)
