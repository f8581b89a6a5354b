"""What the methods of several runs gain over each other, and what the fields of a sweep do."""

from __future__ import annotations

from collections.abc import Sequence

from components.core.errors import ConfigError
from runner.results.grid import grid_of
from runner.results.page.parts import Section
from runner.results.paired import played
from runner.results.runs import Run
from runner.results.statistics.sheets import effects_of, section_of
from runner.results.statistics.versus import compared


def section(runs: Sequence[Run]) -> Section | None:
    """Paired comparisons by the headline scores, with the baselines that the config names; None where none can be."""
    grid = grid_of(runs)
    if len(grid.rows) < 2:
        return None
    baselines = played(grid, runs[0].compare.get("baselines") or ())
    try:
        found = compared(grid, baselines=baselines)
    except ConfigError:  # nothing can be paired
        return None
    return section_of(found, effects_of(runs))
