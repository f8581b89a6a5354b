"""All runs next to each other: headline scores with intervals, their cost, and how they ended."""

from collections.abc import Sequence

from runner.results.metrics import OVERFLOWS
from runner.results.render.figures import intervals
from runner.results.run_metrics import RunMetrics, axis, better, column, headlines, read_metrics
from runner.results.runs import Run
from runner.results.sections.report import status_line
from runner.results.sheets import Cell, Column, Plot, Section, Sheet

_COSTS = ("errors/rate", OVERFLOWS, "calls/per_sample", "tokens/input", "tokens/output", "cost/usd", "time/seconds_p50")
_PLOTTED = 2


def section(runs: Sequence[Run]) -> Section | None:
    """Tables of scores and of costs, a line per run, and plots of the first scores with their intervals."""
    found = read_metrics(runs)
    names = headlines(found)
    if not found:
        return None
    plots = [_plot(found, name) for name in names[:_PLOTTED]]
    intro = "One line per run. Small numbers are 95 % intervals; an arrow shows in which direction a column improves."
    return Section("leaderboard", "Leaderboard", intro, [_scores(found, names), *plots, _costs(found)])


def _scores(found: Sequence[RunMetrics], names: Sequence[str]) -> Sheet:
    """The headline scores; runs that are not complete are named below."""
    several = len({one.dataset for one in found}) > 1
    columns = [Column("run"), *([Column("dataset")] if several else []), Column("episodes", "n")]
    rows: list[list[Cell]] = [
        [one.label, *([one.dataset] if several else []), _episodes(one), *(one.value(name) for name in names)]
        for one in found
    ]
    notes = [f"{one.label}: {status_line(one.run.notes)}" for one in found if one.run.notes.get("status") != "complete"]
    return Sheet("Scores", [*columns, *(column(found, name) for name in names)], rows, notes)


def _episodes(one: RunMetrics) -> int | None:
    """How many episodes ended without an error."""
    counts = one.run.notes.get("counts") or {}
    return None if "finished" not in counts else int(counts["finished"])


def _costs(found: Sequence[RunMetrics]) -> Sheet:
    """What was spent, and how long an episode took."""
    names = [name for name in _COSTS if any(one.value(name) is not None for one in found)]
    rows: list[list[Cell]] = [[one.label, *(one.value(name) for name in names)] for one in found]
    notes = ["cost/usd, tokens/input and tokens/output are totals of a run; unknown costs are left empty."]
    return Sheet("Cost, tokens, time", [Column("run"), *(column(found, name) for name in names)], rows, notes)


def _plot(found: Sequence[RunMetrics], name: str) -> Plot:
    """A score of every run, the best at the top."""
    there = [(one, value) for one in found if (value := one.value(name)) is not None]
    there.sort(key=lambda pair: pair[1].value or 0.0, reverse=better(found, name) == "lower")
    figure = intervals([one.label for one, _ in there], [value for _, value in there], axis(found, name))
    return Plot(f"{name} of every run", figure)
