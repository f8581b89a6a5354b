"""Runs against samples: where runs disagree, and where they all fail. A cell opens the episode on the page."""

from collections.abc import Sequence
from math import isnan
from statistics import fmean, pstdev

from runner.results.kinds import group_by
from runner.results.rows import RunMetrics, better, headlines, read_metrics
from runner.results.runs import Run
from runner.results.sections.episode_data import link_keys, link_of
from runner.results.sheets import Cell, Column, Section, Sheet, Value

_LIMIT, _READ = 1_000, 40  # rows of the table; of one that Markdown has


def section(runs: Sequence[Run]) -> Section | None:
    """A heat map of the deciding score, the samples on which runs differ most first; None for fewer than two runs."""
    found = read_metrics(*runs)
    if len(found) < 2 or not (names := headlines(found, 1)):
        return None
    columns = [_values(one, names[0], key) for one, key in zip(found, link_keys(runs), strict=True)]
    lines = []
    for sample in dict.fromkeys(name for of in columns for name in of):
        cells = [of.get(sample) for of in columns]
        values = [one.value for one in cells if one is not None and one.value is not None]
        lines.append((pstdev(values) if len(values) > 1 else None, sample, cells))
    lines.sort(key=lambda line: (0 if line[0] is None else -line[0], line[1]))
    rows: list[list[Cell]] = [[sample, spread, *cells] for spread, sample, cells in lines[:_LIMIT]]
    heads = [Column("sample"), Column("spread"), *(Column(one.label, "", better(found, names[0])) for one in found)]
    notes = ["spread: standard deviation between the runs. A question mark is an episode without a score."]
    notes += (
        [f"{len(lines) - _LIMIT:,} samples on which the runs differ less are left out"] if len(lines) > _LIMIT else []
    )
    instead = f"{len(lines):,} samples: on the page, and in the table's own file." if len(lines) > _READ else ""
    intro = "Which samples the runs solve. Those on which they disagree are first; a number opens its episode."
    sheet = Sheet(f"{names[0]} of every sample", heads, rows, notes, instead=instead, shaded=2)
    return Section("samples", "Where runs disagree", intro, [sheet])


def _values(one: RunMetrics, score: str, key: str) -> dict[str, Value]:
    """Sample -> its mean over epochs, with the link of its first episode; without a value where no episode has one."""
    table = one.run.table
    rows = zip(table.keys, table.values(score).tolist(), strict=True)
    cells = {}
    for sample, of in group_by(sorted(rows), lambda row: row[0][0]).items():
        scored = [value for _, value in of if not isnan(value)]
        link = link_of(key, sample, of[0][0][1])
        mean = fmean(scored) if scored else None
        cells[sample] = Value(int(mean) if mean in (0, 1) else mean, n=len(of), link=link)
    return cells
