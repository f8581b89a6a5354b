"""The reproduction ledger: every published cell, its published value, ours where runs are given, what differs, and
whether the published value lies in our interval.

A verdict needs a real model that is the published one, the published data and task, a score, and an interval. What is
done in another way (prompts, sampling, memory, demonstrations, profile, dates) is listed and bars no verdict: prompts
are the project's own in every comparison.
"""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from runner.config.catalogue import CONF
from runner.results.intervals import Metric
from runner.results.publications.comparison import PublishedComparison
from runner.results.publications.deviations import of_runs
from runner.results.publications.gains import Gains, gains_of, load_gains
from runner.results.publications.paper import Paper, load
from runner.results.publications.published import TOTAL, Cell
from runner.results.rows import rows_of
from runner.results.runs import Run

Word = Literal["within", "outside", "untestable"]
WORDS: Sequence[Word] = ("within", "outside", "untestable")
NO_RUN, NO_VALUE, NO_SCORE = "no run given", "no number published", "no sample was scored"
TASKS_MISSING = "not all of its tasks were run"
INEXACT = {"<": "published as a bound only", ">": "published as a bound only", "about": "published approximately only"}
_HUNDRED = 100.0
_NOTHING = Metric(None)


@dataclass(frozen=True)
class Verdict:
    """``within``: the published value lies in our interval. ``why`` says what makes a cell untestable."""

    word: Word
    why: str = ""


@dataclass(frozen=True)
class Entry:
    """A published cell, and a row of runs next to it, if there is one (``run`` is empty otherwise). ``published`` and
    ``ours`` are in ``unit``; ``remark``: what the publication's copy says of the cell, such as a misprint."""

    article: str
    source: str
    model: str
    method: str
    part: str
    published: float | None
    verdict: Verdict
    unit: str = ""
    relation: str = "="
    remark: str = ""
    run: str = ""
    ours: Metric = _NOTHING
    samples: str = ""
    deviations: Sequence[str] = ()


def verdict(published: float | None, relation: str, ours: Metric, bars: Sequence[str]) -> Verdict:
    """The verdict on one cell, values in one unit; ``bars``: why its runs cannot test it."""
    why = [INEXACT[relation]] if relation in INEXACT else []
    why += bars
    if not why and published is None:
        why.append(NO_VALUE)
    elif not why and ours.value is None:
        why.append(NO_SCORE)
    elif not why and (ours.ci_low is None or ours.ci_high is None):
        why.append(f"no interval: {ours.no_interval or 'it is unknown'} (n = {ours.n})")
    if why or published is None or ours.ci_low is None or ours.ci_high is None:
        return Verdict("untestable", ", ".join(dict.fromkeys(why)))
    return Verdict("within" if ours.ci_low <= published <= ours.ci_high else "outside")


def ledger(runs: Sequence[Run], folder: Path = CONF / "papers") -> list[Entry]:
    """Every published cell of a folder of publications, those of one article together."""
    papers = [load(folder, str(path)) for path in sorted(folder.glob("*.yaml"))]
    found = [entry for paper in papers for entry in entries_of(paper, runs)]
    for path in sorted((folder / "gains").glob("*.yaml")):
        mine = [run for run in runs if run.compare.get("gains") == path.stem]
        found += of_gains(load_gains(path.stem, folder), mine, folder)
    found += _statements(folder / "statements.csv")
    return sorted(found, key=lambda entry: entry.article)


def scaled(metric: Metric, scale: float) -> Metric:
    """A metric in another unit."""
    value, low, high = (None if one is None else one * scale for one in (metric.value, metric.ci_low, metric.ci_high))
    return replace(metric, value=value, ci_low=low, ci_high=high)


def entries_of(paper: Paper, runs: Sequence[Run]) -> Iterator[Entry]:
    """The cells of a publication, each once for every row of runs that it can be compared with, or once without."""
    matching = [run for run in runs if paper.line(run) is not None]
    rows = (
        [PublishedComparison.of(paper, row) for row in rows_of(matching, by_dataset=paper.by_dataset)]
        if matching
        else []
    )
    for cell in paper.cells:
        here = [one for one in rows if one.line and one.line.method == cell.method and cell.backbone in one.backbones]
        here = [one for one in here if (cell.path in one.leaves if len(cell.path) > 1 else one.leaves)]
        yield from [_next_to(paper, cell, one) for one in here] or [_entry(paper, cell, [NO_RUN])]


def _entry(paper: Paper, cell: Cell, bars: Sequence[str], ours: Metric = _NOTHING, run: str = "", samples: str = "",
           deviations: Sequence[str] = ()) -> Entry:  # fmt: skip
    """A cell with its verdict; one that no run can be compared with says so, and not that there is no run."""
    aside = paper.states.why_aside(cell) if paper.states else ""
    inherent = bool(aside) or cell.value is None or cell.relation in INEXACT
    bars = [*([aside] if aside else []), *(bar for bar in bars if bar != NO_RUN or not inherent)]
    part = "/".join(dict.fromkeys(cell.path)) if len(cell.path) > 1 else "/".join([*cell.path, "mean"])
    return Entry(
        paper.file.removesuffix(".csv"), cell.table, cell.backbone, cell.method, part if cell.path else TOTAL,
        cell.value, verdict(cell.value, cell.relation, ours, bars), paper.unit(cell.table),
        cell.relation, cell.note.replace("_", " "), run, ours, samples, deviations,
    )  # fmt: skip


def _next_to(paper: Paper, cell: Cell, one: PublishedComparison) -> Entry:
    """A cell and the row of runs that is compared with it."""
    assert one.line is not None, "it was chosen by its method"
    runs = one.runs(cell.path)
    found = of_runs(paper, one.line, [cell.backbone], runs)
    bars, texts = [deviation.bars for deviation in found if deviation.bars], [deviation.text for deviation in found]
    if len(cell.path) > 1:
        ours, samples = one.measured(cell.path), f"{one.count(cell.path)} samples"
        size = paper.tables[cell.table].sizes.get(cell.path[-1]) if cell.table in paper.tables else None
        texts += ["size: not the published number of samples"] if size and size != one.n_scored(cell.path) else []
    else:
        ours, samples, other = _mean(cell, one)
        bars += other
    ours = scaled(ours, paper.scale)
    texts += [f"unscored: {ours.unscored:,} episodes are left out of the mean"] if ours.unscored else []
    return _entry(paper, cell, bars, ours, one.row.label, samples, list(dict.fromkeys([*texts, *one.line.notes])))


def _mean(cell: Cell, one: PublishedComparison) -> tuple[Metric, str, list[str]]:
    """Our mean over the tasks of a published mean, of how many of them it is, and why there is none: a mean over other
    tasks is another one."""
    values = (other.values for other in one.published if other.backbone == cell.backbone)
    wanted = {path for of in values for path, value in of.items() if value is not None and _within(path, cell)}
    groups = {path[0] for path in wanted}
    mine = {path for path, part in one.leaves.items() if part.value is not None and _within(path, cell)}
    mine = {path for path in mine if path[0] in groups}
    samples = f"{len(mine & wanted)} of {len(wanted)} tasks"
    if mine == wanted:
        return one.over(sorted(groups)), samples, []
    return _NOTHING, samples, [TASKS_MISSING if wanted - mine else "more than its tasks were run"]


def _within(path: Sequence[str], cell: Cell) -> bool:
    return tuple(path[: len(cell.path)]) == cell.path


def of_gains(of: Gains, runs: Sequence[Run], folder: Path) -> Iterator[Entry]:
    """The published differences of methods to a baseline, with those of the runs of a sweep."""
    paper = load(folder, of.paper)
    for gain in gains_of(of, runs):
        found = of_runs(paper, gain.line(paper), [gain.of.backbone], gain.runs) if gain.runs else []
        bars = [NO_RUN] if not gain.runs else [deviation.bars for deviation in found if deviation.bars]
        inexact = gain.published is None or gain.printed.relation in INEXACT
        bars = [*gain.bars, *(bar for bar in bars if bar != NO_RUN or not (inexact or gain.bars))]
        shares = all(run.scale(gain.printed.metric).bounded for run in gain.runs)
        scale, unit = (1.0, "") if not shares else (_HUNDRED, "points" if gain.what == "gain" else "%")
        relation, ours = gain.printed.relation, scaled(gain.ours, scale)
        published = None if gain.published is None else round(gain.published * scale, 6)
        yield Entry(
            paper.file.removesuffix(".csv"), f"{gain.what}, {gain.printed.metric}", gain.of.backbone,
            gain.method, gain.printed.part, published, verdict(published, relation, ours, bars), unit, relation,
            gain.remark, gain.label, ours, "", [deviation.text for deviation in found],
        )  # fmt: skip


def _statements(path: Path) -> Iterator[Entry]:
    """What articles state in their text and no run can be compared with; nothing where there is no such file."""
    if path.is_file():
        with path.open(encoding="utf-8", newline="") as file:
            for line in csv.DictReader(file):
                why, value = Verdict("untestable", line["why"]), float(line["value"])
                yield Entry(line["article"], line["source"], line["model"], line["what"], "", value, why, line["unit"],
                            line["relation"])  # fmt: skip
