"""Runs against samples: where runs disagree, and where they all fail. A cell opens the episode on the page."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from statistics import fmean, pstdev

from runner.results.arrays import np
from runner.results.rows import better, headlines, read_metrics
from runner.results.runs import Run
from runner.results.sections.episode_data import link_keys, link_of
from runner.results.sheets import Cell, Column, Section, Sheet, Value
from runner.results.table import Table

Episodes = tuple[Value | None, int]  # of a run and a sample: their mean, and the first epoch
_NOT_RUN: Episodes = None, 0
_LINKED, _READ = 1_000, 40  # rows whose numbers open an episode, more than a page shows; rows of a table in Markdown


def section(runs: Sequence[Run]) -> Section | None:
    """A heat map of the deciding score, the samples on which runs differ most first; None for fewer than two runs."""
    found = read_metrics(*runs)
    if len(found) < 2 or not (names := headlines(found, 1)):
        return None
    columns, keys = [_cells(one.run.table, names[0]) for one in found], link_keys(runs)
    spread_of, lines = lru_cache(maxsize=4_096)(pstdev), []  # of values of 0 and 1 there are few
    for sample in dict.fromkeys(name for of in columns for name in of):
        cells = [of.get(sample, _NOT_RUN) for of in columns]
        values = tuple(cell.value for cell, _ in cells if cell and cell.value is not None)
        lines.append((spread_of(values) if len(values) > 1 else None, sample, cells))
    lines.sort(key=lambda line: (0 if line[0] is None else -line[0], line[1]))
    rows: list[list[Cell]] = [[sample, spread, *(cell for cell, _ in cells)] for spread, sample, cells in lines]
    for row, (_, sample, cells) in zip(rows[:_LINKED], lines, strict=False):
        links = (link_of(key, sample, epoch) for key, (_, epoch) in zip(keys, cells, strict=True))
        row[2:] = [cell and replace(cell, link=link) for (cell, _), link in zip(cells, links, strict=True)]
    heads = [Column("sample"), Column("spread"), *(Column(one.label, "", better(found, names[0])) for one in found)]
    notes = [
        "spread: standard deviation between the runs. A question mark is an episode without a score.",
        "An episode in the terminal: python -m runner.report episode SAMPLE FOLDER",
    ]
    instead = f"{len(lines):,} samples: on the page, and in the table's own file." if len(lines) > _READ else ""
    intro = "Which samples the runs solve. Those on which they disagree are first; a number opens its episode."
    sheet = Sheet(f"{names[0]} of every sample", heads, rows, notes, instead=instead, shaded=2)
    return Section("samples", "Where runs disagree", intro, [sheet])


def _cells(table: Table, score: str) -> dict[str, Episodes]:
    """Sample -> the mean over its epochs, without a value where none has a score."""
    order, alike = table.in_order(), lru_cache(maxsize=4_096)(_episodes)  # of values of 0 and 1 there are few
    samples, epochs, values = (column[order] for column in (table["sample_id"], table["epoch"], table.values(score)))
    begins = np.flatnonzero(np.append(True, samples[1:] != samples[:-1])[: len(order)]).tolist()
    numbers = values.tolist()
    return {
        samples[begin]: alike(epochs[begin], end - begin, *(value for value in numbers[begin:end] if value == value))
        for begin, end in pairwise([*begins, len(order)])
    }


def _episodes(epoch: int, n: int, *scored: float) -> Episodes:
    mean = fmean(scored) if len(scored) > 1 else scored[0] if scored else None
    return Value(int(mean) if mean in (0, 1) else mean, n=n), epoch
