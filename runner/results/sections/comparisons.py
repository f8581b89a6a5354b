"""Paired comparisons of methods and effects of a sweep's fields as tables."""

from collections.abc import Sequence
from dataclasses import replace

from components.core.errors import ConfigError
from runner.results.best_baseline import present_among
from runner.results.effects import Effect, Effects, factors_of, short
from runner.results.effects import effects_of as _effects
from runner.results.grid import grid_of
from runner.results.pairs import Gain
from runner.results.runs import Run
from runner.results.sheets import Better, Cell, Column, Section, Sheet, Value
from runner.results.table import p_text
from runner.results.versus import Compared, Versus, compared

_EXPLAINED = (
    "Gain: the mean difference over pairs (same sample, same epoch), positive where the first is better. Its 95 % "
    "interval and p resample or change whole patients, or samples where there are none.",
    "Won:tied:lost are patients or samples. Test: McNemar's exact one for scores of 0 and 1 on independent samples, "
    "else signs of whole clusters changed (permutation). t: paired t-test over the clusters' means.",
    "Detectable: the smallest true gain that these pairs find with a power of 80 % at 5 %. More samples: how many "
    "more than these find the observed gain so; a dash where there is none.",
    "p below 0.05 is seen once in twenty comparisons of methods that are alike; Holm p allows for their number.",
)


def section(runs: Sequence[Run]) -> Section | None:
    """Paired comparisons by the headline scores, with the baselines that the config names; None where none can be."""
    grid = grid_of(runs)
    if len(grid.rows) < 2:
        return None
    baselines = present_among(grid, runs[0].compare.get("baselines") or ())
    try:
        found = compared(grid, baselines=baselines)
    except ConfigError:  # nothing can be paired
        return None
    return section_of(found, effects_of(runs))


def section_of(found: Compared, effects: Sequence[Effects]) -> Section:
    """The tables of these comparisons and effects."""
    sheets = [*_versus(found), *(_effects_sheet(one) for one in effects)]
    return Section("comparisons", "Paired comparisons", " ".join(_EXPLAINED), sheets)


def effects_of(runs: Sequence[Run], metrics: Sequence[str] = ()) -> list[Effects]:
    """Effects per dataset and metric, where the runs on it are a grid over two or more fields."""
    found = []
    for column in grid_of(runs).columns:
        here = [run for run in runs if run.data == column.data]
        if (factors := factors_of(here, column.label)) is None:
            continue
        for metric in metrics or ([column.score] if column.score else []):
            strata = column.levels if metric == column.score else here[0].levels.get(metric, ())
            found.append(_effects(factors, metric, strata))
    return found


def _versus(found: Compared) -> list[Sheet]:
    """A table per metric and dataset."""
    groups: dict[tuple[str, str], list[Versus]] = {}
    for one in found.found:
        groups.setdefault((one.metric, one.dataset), []).append(one)
    sheets = []
    for (metric, dataset), of in groups.items():
        columns = [
            Column("method"),
            Column("less"),
            *_gain_columns(of[0].direction),
            Column("detectable"),
            Column("more samples", "n"),
        ]
        rows: list[list[Cell]] = [
            [one.mine, one.theirs, *_cells(one.gain), one.detectable, one.more_samples] for one in of
        ]
        sheets.append(Sheet(_title(metric, dataset, of[0].direction), columns, rows, _lost(of), keys=2))
    if sheets and found.notes:
        sheets[-1] = replace(sheets[-1], notes=[*sheets[-1].notes, *found.notes])
    return sheets


def _title(metric: str, dataset: str, direction: str) -> str:
    text = f"{direction} is taken for better" if direction else "neither way is better, a gain is a higher one"
    return f"{metric} on {dataset}: {text}"


def _gain_columns(direction: Better) -> list[Column]:
    won = "won:tied:lost" if direction else "higher:same:lower"
    return [
        Column("gain", "", "higher" if direction else "", signed=True), Column("pairs", "n"), Column("clusters", "n"),
        Column(won), Column("p"), Column("Holm p"), Column("t"), Column("p of t"), Column("test"),
    ]  # fmt: skip


def _cells(gain: Gain) -> list[Cell]:
    metric = gain.metric
    return [
        Value.of(metric), metric.n, gain.clusters,
        f"{gain.wins}:{gain.ties}:{gain.losses}", p_text(gain.p), p_text(gain.p_holm), gain.t, p_text(gain.t_p),
        gain.test,
    ]  # fmt: skip


def _lost(found: Sequence[Versus]) -> list[str]:
    """Episodes without a partner, by reason; pairs of methods that lost the same ones are named once."""
    lines: dict[str, list[str]] = {}
    for one in found:
        for reason, names in one.lost.items():
            shown = ", ".join(names[:3]) + (f" and {len(names) - 3:,} more" if len(names) > 3 else "")
            lines.setdefault(f"{len(names):,} left out, {reason}: {shown}", []).append(f"{one.mine} - {one.theirs}")
    return [f"{line} ({'; '.join(of[:3])}{'' if len(of) <= 3 else '; ...'})" for line, of in lines.items()]


def _effects_sheet(one: Effects) -> Sheet:
    title = f"main effects and interactions, {_title(one.metric, one.dataset, one.direction)}"
    columns = [Column("effect"), Column("kind"), *_gain_columns(one.direction)]
    rows: list[list[Cell]] = [[of.name, _kind(of), *_cells(of.gain)] for of in one.found]
    notes = list(one.notes)
    if one.found:
        notes.append(f"{one.samples:,} episodes scored in every cell; {one.left_out:,} left out, which some cell lacks")
    return Sheet(title, columns, rows, notes)


def _kind(effect: Effect) -> str:
    return " x ".join(map(short, effect.fields)) if len(effect.fields) > 1 else "main"
