"""Methods compared: scores by dataset, cost of a question, differences to the best baseline; every pair of methods on
the same samples, and effects of the fields that a sweep varies."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from components.core.errors import ConfigError
from components.text.words import meant
from runner.results.cells import p_text
from runner.results.effects import Effects, effects_of, factors_of, short
from runner.results.grid import MEAN, DatasetColumn, Grid, grid_of, present_among
from runner.results.kinds import Better, group_by
from runner.results.levels import describe, note_of, used_levels
from runner.results.metrics import COLUMNS, as_dicts, by_purpose, per_purpose, per_question
from runner.results.pairs import Difference
from runner.results.render.formats import markdown
from runner.results.rows import is_named
from runner.results.runs import Run, leaves, warnings_of
from runner.results.sheets import Cell, Column, Section, Sheet, Value, columns
from runner.results.terminal import show_section
from runner.results.versus import Compared, Improvements, compare_rows, improvements

FILE, READ = "compare.json", "compare.md"
_TESTS = (
    "p: two-sided, for a difference of zero; differences of whole patients or samples change signs (scores of 0 and 1 "
    "on one dataset: McNemar's exact test). Holm p: adjusted, in the mean and on a single dataset for all methods, on "
    "each of several datasets for one method on all of them."
)
_CHOSEN = "The best baseline is chosen on these same data, which favours it: differences tend to be too large."
_BEST_OTHER = "No compare.baselines: the best other method is chosen on these data, differences are biased."
_PAIRED = (
    "Gain: the mean difference over pairs (same sample, same epoch), positive where the first is better. Its 95 % "
    "interval and p resample or change whole patients, or samples where there are none. "
    "p below 0.05 is seen once in twenty comparisons of methods that are alike; Holm p allows for their number."
)
_LEGEND = (
    "clusters: patients, or samples where there are none; won:tied:lost counts them",
    "test: McNemar's exact one for scores of 0 and 1 on independent samples, else signs of whole clusters are changed "
    "(permutation)",
    "t: the gain, with its sign, in standard errors over clusters",
    "detectable: the smallest true gain that these pairs show with a probability of 80 % at p < 0.05; a dash: none",
    "more samples: how many more would show the observed gain with that probability; a dash where no gain was seen",
)


def methods(runs: Sequence[Run]) -> Section | None:
    """Tables of two or more methods or datasets; None where there is one method on one dataset. Differences on a
    dataset are in the section of comparisons, here are those in the mean over several."""
    grid = grid_of(runs)
    if not grid.several:
        return None
    baselines = _configured_baselines(runs)
    return _methods(grid, baselines, {name: of for name, of in _gains(grid, baselines).items() if name == MEAN})


def show_methods(
    runs: Sequence[Run], baselines: Sequence[str] | None = None, home: Path | None = None, most: int | None = None
) -> None:
    """Print the section, at ``most`` so many tables; write it to ``home``, which also gets all numbers as JSON.
    ``baselines`` None: those that the first run's config names. Raises ConfigError where one given is missing."""
    grid = grid_of(runs)
    if baselines is None and not grid.several:
        return
    named = _configured_baselines(runs) if baselines is None else baselines
    if baselines is not None and (missing := [name for name in named if not present_among(grid, [name])]):
        own = ((row.first.choices.get("agent"), *(value for _, value in row.first.swept)) for row in grid.rows)
        known = list(dict.fromkeys(str(word) for of in own for word in of))
        near = meant(missing[0], known)
        raise ConfigError(f"--baselines: no method here is {' or '.join(missing)}; {near}there are {', '.join(known)}")
    differences = _gains(grid, named)
    section = _methods(grid, named, differences)
    show_section(replace(section, parts=section.sheets[:most]))
    if home is not None:
        numbers = {
            "scores": {column.label: column.score for column in grid.columns},
            "rows": {label: as_dicts(of) for label, of in grid.metrics.items()},
            "differences": {
                name: {label: one.as_dict() for label, one in of.items()} for name, of in differences.items()
            },
            "per_question": {row.label: per_question(row.table) for row in grid.rows if len(row.table)},
            "by_purpose": {row.label: as_dicts(by_purpose(row.table)) for row in grid.rows},
            "baselines": present_among(grid, named),
        }
        (home / FILE).write_text(json.dumps(numbers, indent=1), encoding="utf-8")
        text = markdown(home.name, about=f"{len(runs)} runs", warnings=warnings_of(runs), sections=[section])
        (home / READ).write_text(text, encoding="utf-8")


def names_in(listed: str | None) -> list[str] | None:
    """The names of ``--baselines A,B``, None without the option. Raises ConfigError where it names nothing."""
    names = None if listed is None else [name.strip() for name in listed.split(",") if name.strip()]
    if names == []:
        raise ConfigError("--baselines names nothing; give agents, labels or folders, with commas between them")
    return names


def _configured_baselines(runs: Sequence[Run]) -> Sequence[str]:
    """The baselines that the config names."""
    return (runs[0].compare.get("baselines") if runs else None) or ()


def _gains(grid: Grid, baselines: Sequence[str]) -> Improvements:
    return improvements(grid, baselines) if len(grid.rows) > 1 else {}


def _methods(grid: Grid, baselines: Sequence[str], found: Improvements) -> Section:
    costs: list[list[Cell]] = []  # of a question, and of that each purpose
    for row in grid.rows:
        if n := len(row.table):
            costs.append([row.label, "all", *per_question(row.table).values()])
            values = {name: one.value for name, one in by_purpose(row.table).items()}
            costs += [[row.label, purpose, *of] for purpose, of in per_purpose(values, n).items()]
    heads = columns("method", "purpose", *COLUMNS)
    sheets = [_scores(grid), Sheet("Per question, by method and purpose", heads, costs, keys=2)]
    sheets += [_improvements(grid, found, baselines)] if any(found.values()) else []
    return Section("methods", "Methods and datasets", "", sheets)


def _scores(grid: Grid) -> Sheet:
    """Rows are methods, columns datasets and their mean."""
    heads = [Column("method"), *(Column(one.label, "", one.direction) for one in grid.columns)]
    if grid.averages:
        directions: set[Better] = {one.direction for one in grid.columns}
        heads.append(Column(MEAN, "", directions.pop() if len(directions) == 1 else ""))
    rows: list[list[Cell]] = []
    for label, of in grid.metrics.items():
        rows.append([label, *(Value.of(of[one.name]) if one.name in of else None for one in heads[1:])])
    scores, notes = list(dict.fromkeys(_headed(grid, column) for column in grid.columns)), []
    settings = {row.label: dict(leaves(row.first.cfg.get("model"), "model")) for row in grid.rows}
    varied = {key for row in grid.rows for key in row.first.manifest.get("swept") or ()}
    for key in dict.fromkeys(key for of in settings.values() for key in of):  # agents can set their own
        values = group_by(settings, lambda label: str(settings[label].get(key)))  # noqa: B023
        if len(values) > 1 and key not in varied and varied.isdisjoint(("model", "fork.arm")):
            whose = "; ".join(f"{value} for {', '.join(labels)}" for value, labels in values.items())
            notes.append(f"not the same in all rows: {key} is {whose}")
    notes += [f"lower is better: {name}" for name in _low_scores(grid)]
    shown = ((_headed(grid, one), one) for one in grid.columns if one.score)
    notes += dict.fromkeys(note_of(name, one.levels) for name, one in shown if name != one.score)
    if len(scores) > 1:
        names = ", ".join(f"{column.label} {column.score or 'nothing'}" for column in grid.columns)
        notes.append(f"scores, which are not averaged, as they differ: {names}")
    places = [(label, name, one) for label, of in grid.metrics.items() for name, one in of.items() if name != MEAN]
    if unscored := [f"{label} {name} {one.unscored:,}" for label, name, one in places if one.unscored]:
        notes.append("unscored episodes, left out: " + ", ".join(unscored))
    return Sheet(scores[0] if len(scores) == 1 else "headline scores", heads, rows, notes)


def _headed(grid: Grid, column: DatasetColumn) -> str:
    """The name that the values of a column have in the tables of single runs."""
    tables = [table for (_, label), table in grid.cells.items() if label == column.label]
    is_total = any(used_levels(table, column.levels) for table in tables)
    return f"total/{column.score}" if is_total else column.score or "no score"


def _low_scores(grid: Grid) -> list[str]:
    """The headline scores that are better low."""
    return list(dict.fromkeys(column.score or "" for column in grid.columns if column.direction == "lower"))


def _improvements(grid: Grid, found: Improvements, baselines: Sequence[str]) -> Sheet:
    """Each method less its baseline, on each dataset and in the mean; two that have each other are listed once. Named
    baselines are compared with the best of them in the mean only; the file has all."""
    named = present_among(grid, baselines)
    among = {row.label for row in grid.rows if is_named(row, named)}
    rows: list[list[Cell]] = []
    unpaired = []
    for name, of in found.items():
        listed = set()
        for label, one in of.items():
            if (pair := frozenset((label, one.against))) in listed:
                continue
            listed.add(pair)
            if MEAN not in found or name == MEAN or label not in among:
                p = one.difference.p, one.difference.p_holm
                rows.append([name, label, one.against, *_count_pairs(one.difference), *map(p_text, p)])
            if one.unpaired and name != MEAN:
                unpaired.append(f"{label} {name} {one.unpaired:,}")
    whom = f"the best of {', '.join(named)}" if len(named) > 1 else named[0] if named else "the best other method"
    missing = [name for name in baselines if name not in named]
    notes = [f"compare.baselines: no method here is {' or '.join(missing)}"] if missing else []
    notes += [f"lower is better: a gain is a decrease of {name}" for name in _low_scores(grid)]
    notes += [_TESTS, *([_CHOSEN] if len(named) > 1 else [] if named else [_BEST_OTHER])]
    if unpaired:
        notes.append("episodes without a scored partner, left out: " + ", ".join(unpaired))
    gain = Column("gain", "", "higher", signed=True)
    heads = columns("dataset", "method", "less", gain, "pairs", "clusters", "won:tied:lost", "p", "Holm p")
    return Sheet(f"Paired differences to {whom}", heads, rows, notes, keys=2)


def _count_pairs(one: Difference) -> list[Cell]:
    return [Value.of(one.metric), one.metric.n, one.clusters, one.counts]


def comparisons(runs: Sequence[Run]) -> Section | None:
    """Paired comparisons by the headline scores, with the baselines that the config names; None where none can be."""
    grid = grid_of(runs)
    if len(grid.rows) < 2:
        return None
    try:
        found = compare_rows(grid, baselines=present_among(grid, _configured_baselines(runs)))
    except ConfigError:  # nothing can be paired
        return None
    return comparison_section(found, all_effects(runs))


def comparison_section(found: Compared, effects: Sequence[Effects]) -> Section:
    """A table per metric and dataset of these comparisons, and one of each's effects."""
    sheets = []
    for (metric, dataset), of in group_by(found.comparisons, lambda one: (one.shown, one.dataset)).items():
        heads = columns("method", "less", *_heads(of[0].direction), "detectable", ("more samples", "n"))
        rows: list[list[Cell]] = []
        unpaired: dict[str, list[str]] = {}  # by reason; pairs of methods that lack the same ones are named once
        for one in of:
            power = one.difference.least_detectable(one.reach), one.difference.more_samples()
            rows.append([one.mine, one.theirs, *_cells(one.difference), *power])
            for reason, names in one.unpaired.items():
                first = ", ".join(names[:3]) + (f" and {len(names) - 3:,} more" if len(names) > 3 else "")
                line = f"{len(names):,} left out, {reason}: {first}"
                unpaired.setdefault(line, []).append(f"{one.mine} - {one.theirs}")
        notes = [f"{line} ({'; '.join(who[:3])}{'' if len(who) <= 3 else '; ...'})" for line, who in unpaired.items()]
        sheets.append(Sheet(_title(metric, dataset, of[0].direction, of[0].levels), heads, rows, notes, keys=2))
    if sheets:
        filled = {
            column.name
            for sheet in sheets
            for n, column in enumerate(sheet.columns)
            if any(row[n] not in ("", None) for row in sheet.rows)
        }
        legend = [line for line in _LEGEND if line.partition(":")[0] in filled]
        sheets[-1] = replace(sheets[-1], notes=[*sheets[-1].notes, *found.notes, *legend])
    for part in effects:
        rows = [
            [of.name, " x ".join(map(short, of.fields)) if len(of.fields) > 1 else "main", *_cells(of.difference)]
            for of in part.effects
        ]
        counted = f"{part.samples:,} episodes scored in every cell; {part.left_out:,} left out, which some cell lacks"
        shown = f"total/{part.metric}" if part.levels else part.metric
        title = f"main effects and interactions, {_title(shown, part.dataset, part.direction, part.levels)}"
        heads = columns("effect", "kind", *_heads(part.direction))
        sheets.append(Sheet(title, heads, rows, [*part.notes, *([counted] if part.effects else [])]))
    return Section("comparisons", "Paired comparisons", _PAIRED, sheets)


def all_effects(runs: Sequence[Run], metrics: Sequence[str] = ()) -> list[Effects]:
    """Effects per dataset and metric, where the runs on it are a grid over two or more fields."""
    found = []
    for column in grid_of(runs).columns:
        here = [run for run in runs if run.data == column.data]
        if (factors := factors_of(here, column.label)) is None:
            continue
        for metric in metrics or ([column.score] if column.score else []):
            strata = column.levels if metric == column.score else here[0].levels.get(metric, ())
            found.append(effects_of(factors, metric, strata))
    return found


def _title(metric: str, dataset: str, direction: Better, levels: Sequence[str]) -> str:
    text = f"{direction} counts as better" if direction else "neither direction is better; a gain is a higher value"
    return f"{metric} on {dataset}: {text}" + (f"; a mean of {describe(levels)}" if levels else "")


def _heads(direction: Better) -> list[Column]:
    gain = Column("gain", "", "higher" if direction else "", signed=True)
    won = "won:tied:lost" if direction else "higher:same:lower"
    return columns(gain, ("pairs", "n"), ("clusters", "n"), won, "p", "Holm p", "t", "p of t", "test")


def _cells(one: Difference) -> list[Cell]:
    return [*_count_pairs(one), p_text(one.p), p_text(one.p_holm), one.t, p_text(one.t_p), one.test]
