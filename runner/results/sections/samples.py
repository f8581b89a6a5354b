"""Runs against samples: where runs disagree, and where they all fail. A cell opens the episode on the page."""

from collections.abc import Sequence
from functools import lru_cache
from math import isnan
from statistics import fmean, pstdev

from runner.results.rows import RunMetrics, better, headlines, read_metrics
from runner.results.runs import Run
from runner.results.sections.episode_data import link_keys, link_of
from runner.results.sheets import Cell, Column, Section, Sheet, Value

Episode = tuple[int, float]  # its epoch and score, NaN without one
_LINKED, _READ = 1_000, 40  # rows whose numbers open an episode, more than a page shows; rows of a table in Markdown


def section(runs: Sequence[Run]) -> Section | None:
    """A heat map of the deciding score, the samples on which runs differ most first; None for fewer than two runs."""
    found = read_metrics(*runs)
    if len(found) < 2 or not (names := headlines(found, 1)):
        return None
    columns, keys = [_episodes(one, names[0]) for one in found], link_keys(runs)
    spread_of, lines = lru_cache(maxsize=4_096)(pstdev), []  # of values of 0 and 1 there are few
    for sample in dict.fromkeys(name for of in columns for name in of):
        means = [_mean(of[sample]) if sample in of else None for of in columns]
        values = tuple(mean for mean in means if mean is not None)
        lines.append((spread_of(values) if len(values) > 1 else None, sample, means))
    lines.sort(key=lambda line: (0 if line[0] is None else -line[0], line[1]))
    rows: list[list[Cell]] = []
    for n, (spread, sample, means) in enumerate(lines):
        each = zip(columns, means, keys if n < _LINKED else [""] * len(keys), strict=True)
        rows.append([sample, spread, *(_cell(of.get(sample), mean, key, sample) for of, mean, key in each)])
    heads = [Column("sample"), Column("spread"), *(Column(one.label, "", better(found, names[0])) for one in found)]
    notes = ["spread: standard deviation between the runs. A question mark is an episode without a score."]
    instead = f"{len(lines):,} samples: on the page, and in the table's own file." if len(lines) > _READ else ""
    intro = "Which samples the runs solve. Those on which they disagree are first; a number opens its episode."
    sheet = Sheet(f"{names[0]} of every sample", heads, rows, notes, instead=instead, shaded=2)
    return Section("samples", "Where runs disagree", intro, [sheet])


def _episodes(one: RunMetrics, score: str) -> dict[str, list[Episode]]:
    """Sample -> its episodes in order."""
    table, found = one.run.table, dict[str, list[Episode]]()
    keys, values, order = table.keys, table.values(score).tolist(), table.in_order().tolist()
    for row in order:
        sample, epoch = keys[row]
        found.setdefault(sample, []).append((epoch, values[row]))
    return found


def _mean(of: Sequence[Episode]) -> float | None:
    """The mean over epochs; None where no episode has a score."""
    scored = [value for _, value in of if not isnan(value)]
    return fmean(scored) if len(scored) > 1 else (scored[0] if scored else None)


def _cell(of: Sequence[Episode] | None, mean: float | None, key: str, sample: str) -> Value | None:
    """The mean with the link of the first episode, where the run has a ``key``."""
    if of is None:
        return None
    link = link_of(key, sample, of[0][0]) if key else ""
    return Value(int(mean) if mean in (0, 1) else mean, n=len(of), link=link)
