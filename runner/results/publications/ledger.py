"""The reproduction ledger: every published cell, its published value, ours where runs are given, what differs, and
whether the published value lies in our interval.

A verdict needs a real model that is the published one, the published data and task, a score, and an interval. What is
done in another way (prompts, sampling, memory, demonstrations, profile, dates) is listed and bars no verdict.
"""

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from runner.config.catalogue import CONF
from runner.results.intervals import Metric
from runner.results.kinds import group_by
from runner.results.publications.comparison import PublishedComparison, of_runs
from runner.results.publications.gains import Gains, gains_of, load_gains
from runner.results.publications.paper import RELATIONS, TOTAL, Article, Line, Paper, PublishedCell, load
from runner.results.rows import rows_of
from runner.results.runs import Run
from runner.results.sheets import Cell, Section, Sheet, Value, columns

Word = Literal["within", "outside", "untestable"]
WORDS: Sequence[Word] = ("within", "outside", "untestable")
NO_RUN, NO_VALUE, NO_SCORE = "no run given", "no number published", "no sample was scored"
TASKS_MISSING = "not all of its tasks were run"
INEXACT = {"<": "published as a bound only", ">": "published as a bound only", "about": "published approximately only"}
FILE = "ledger.csv"
_HUNDRED = 100.0
_KEYS = 3  # columns that a table always has
_NOTHING = Metric(None)
_COLUMNS = (
    "article", "table", "model", "method", "part", "relation", "published", "unit", "this run", "verdict", "why",
    "samples", "run", "deviations", "remark",
)  # fmt: skip
_INTRO = (
    "within: the published value lies in our 95 % interval. outside: it does not. untestable: see why. "
    "A run of a simulated model is never a reproduction. "
    "Deviations are listed whether or not they bar a verdict; prompts are the project's own in every comparison."
)


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
    why = [*([INEXACT[relation]] if relation in INEXACT else []), *bars]
    if not why and published is not None and ours.ci_low is not None and ours.ci_high is not None:
        return Verdict("within" if ours.ci_low <= published <= ours.ci_high else "outside")
    no_interval = f"no interval: {ours.no_interval or 'it is unknown'} (n = {ours.n})"
    why = why or [NO_VALUE if published is None else NO_SCORE if ours.value is None else no_interval]
    return Verdict("untestable", ", ".join(dict.fromkeys(why)))


def ledger(runs: Sequence[Run], folder: Path = CONF / "papers") -> list[Entry]:
    """Every published cell of a folder of publications, those of one article together."""
    papers = [load(folder, str(path)) for path in sorted(folder.glob("*.yaml"))]
    found = [entry for paper in papers for entry in entries_of(paper, runs)]
    for path in sorted((folder / "gains").glob("*.yaml")):
        mine = [run for run in runs if run.compare.get("gains") == path.stem]
        found += of_gains(load_gains(path.stem, folder), mine, folder)
    if (stated := folder / "statements.csv").is_file():  # in the articles' texts; no run can be compared with them
        with stated.open(encoding="utf-8", newline="") as file:
            for line in csv.DictReader(file):
                why, place = Verdict("untestable", line["why"]), (line["article"], line["source"], line["model"])
                value = float(line["value"])
                found.append(Entry(*place, line["what"], "", value, why, line["unit"], line["relation"]))
    return sorted(found, key=lambda entry: entry.article)


def rescale(metric: Metric, scale: float) -> Metric:
    """A metric in another unit."""
    value, low, high = (None if one is None else one * scale for one in (metric.value, metric.ci_low, metric.ci_high))
    return replace(metric, value=value, ci_low=low, ci_high=high)


def entries_of(paper: Paper, runs: Sequence[Run]) -> Iterator[Entry]:
    """The cells of a publication, each once for every row of runs that it can be compared with, or once without."""
    matching = [run for run in runs if paper.line(run) is not None]
    rows = [PublishedComparison.of(paper, row) for row in rows_of(matching, by_dataset=paper.by_dataset)]
    for cell in paper.cells:
        here = [one for one in rows if one.line and one.line.method == cell.method and cell.backbone in one.backbones]
        here = [one for one in here if (cell.path in one.leaves if len(cell.path) > 1 else one.leaves)]
        yield from [_fill_cell(paper, cell, one) for one in here] or [_entry(paper, cell, [NO_RUN])]


def _entry(
    paper: Paper, cell: PublishedCell, bars: Sequence[str], ours: Metric = _NOTHING, run: str = "", samples: str = "",
    deviations: Sequence[str] = (),
) -> Entry:  # fmt: skip
    """A cell with its verdict; a cell that no run can be compared with has that reason, not the lack of a run."""
    aside = why_aside(paper.states, cell) if paper.states else ""
    inherent = bool(aside) or cell.value is None or cell.relation in INEXACT
    bars = [*([aside] if aside else []), *(bar for bar in bars if bar != NO_RUN or not inherent)]
    part = "/".join(dict.fromkeys(cell.path)) if len(cell.path) > 1 else "/".join([*cell.path, "mean"])
    return Entry(
        paper.article, cell.table, cell.backbone, cell.method, part if cell.path else TOTAL,
        cell.value, verdict(cell.value, cell.relation, ours, bars), paper.unit(cell.table),
        cell.relation, cell.note.replace("_", " "), run, ours, samples, deviations,
    )  # fmt: skip


def why_aside(states: Article, cell: PublishedCell) -> str:
    """Why no run can be compared with a cell; empty where one can."""
    name = f"{cell.table}/{cell.method}"
    return next((why for pattern, why in states.aside.items() if re.fullmatch(pattern, name)), "")


def _fill_cell(paper: Paper, cell: PublishedCell, one: PublishedComparison) -> Entry:
    """A cell with our value; a mean over other tasks than those of the published one is another mean."""
    assert one.line is not None, "it was chosen by its method"
    found = of_runs(paper, one.line, [cell.backbone], one.runs(cell.path))
    bars, texts = [deviation.bars for deviation in found if deviation.bars], [deviation.text for deviation in found]
    if len(cell.path) > 1:
        ours, samples = one.mean_of_part(cell.path), f"{one.count(cell.path)} samples"
        size = paper.tables[cell.table].sizes.get(cell.path[-1]) if cell.table in paper.tables else None
        texts += ["size: not the published number of samples"] if size and size != one.n_scored(cell.path) else []
    else:
        values = (other.values for other in one.published if other.backbone == cell.backbone)
        known = [path for of in values for path, value in of.items() if value is not None]
        wanted = {path for path in known if path[: len(cell.path)] == cell.path}
        groups = {path[0] for path in wanted}
        mine = {path for path, mean in one.leaves.items() if mean.value is not None and path[0] in groups}
        mine = {path for path in mine if path[: len(cell.path)] == cell.path}
        ours, samples = _NOTHING, f"{len(mine & wanted)} of {len(wanted)} tasks"
        if mine == wanted:
            ours = one.over(sorted(groups))
        else:
            bars.append(TASKS_MISSING if wanted - mine else "more than its tasks were run")
    ours = rescale(ours, paper.scale)
    texts += [f"unscored: {ours.unscored:,} episodes are left out of the mean"] if ours.unscored else []
    return _entry(paper, cell, bars, ours, one.row.label, samples, list(dict.fromkeys([*texts, *one.line.notes])))


def of_gains(published: Gains, runs: Sequence[Run], folder: Path) -> Iterator[Entry]:
    """The published differences of methods to a baseline, with those of the runs of a sweep."""
    paper = load(folder, published.paper)
    for number in gains_of(published, runs):
        gain, what = number.gain, f"{number.what}, {number.gain.metric}"
        found = []
        if number.runs:
            settings = {key: [number.runs[0].setting(key)] for key in gain.where} | dict(gain.settings)
            line = Line(number.method, {}, next(iter(paper.tables)), settings)  # the runs have its settings
            found = of_runs(paper, line, [published.backbone], number.runs)
        bars = [*number.bars, *(deviation.bars for deviation in found if deviation.bars)]
        if not number.runs and number.published is not None and gain.relation not in INEXACT and not number.bars:
            bars.append(NO_RUN)
        shares = all(run.scale(gain.metric).bounded for run in number.runs)
        scale, unit = (1.0, "") if not shares else (_HUNDRED, "points" if number.what == "gain" else "%")
        ours, value = rescale(number.ours, scale), number.published
        value, remark = value and round(value * scale, 6), ", ".join(filter(None, (gain.won, gain.note)))
        yield Entry(
            paper.article, what, published.backbone, number.method, gain.part, value,
            verdict(value, gain.relation, ours, bars), unit, gain.relation, remark, number.label, ours, "",
            [deviation.text for deviation in found],
        )  # fmt: skip


def section(runs: Sequence[Run]) -> Section | None:
    """The counts and a table per published table of the articles that have a run, with every cell of them."""
    entries = ledger(runs)
    articles = {entry.article for entry in entries if entry.run}
    return section_of([one for one in entries if one.article in articles]) if articles else None


def section_of(entries: Sequence[Entry]) -> Section:
    """How many cells have which verdict, of untestable ones why; then a table per published table, with every cell."""
    words = Counter(entry.verdict.word for entry in entries)
    why = Counter(entry.verdict.why for entry in entries if entry.verdict.why)
    rows: list[list[Cell]] = [[word, "in all", words[word]] for word in WORDS]
    rows += [["untestable", text, n] for text, n in why.most_common()]
    tables = group_by(entries, lambda entry: f"{entry.article}: {entry.source}")
    counts = Sheet("Verdicts", columns("verdict", "why", "cells"), rows, keys=3)
    sheets = [counts, *(_table(title, of) for title, of in tables.items())]
    return Section("ledger", "Reproduction ledger", _INTRO, sheets)


def flatten(entries: Sequence[Entry]) -> Sheet:
    """Every cell with all that is known of it, for ``ledger.csv``."""
    rows = [[one.article, one.source, *_line(one, "; ".join(one.deviations), one.run)] for one in entries]
    return Sheet("Reproduction ledger", columns(*_COLUMNS), rows)


def _table(title: str, entries: Sequence[Entry]) -> Sheet:
    """One published table. Runs and deviations are numbered, and listed below it."""
    texts = dict.fromkeys(text for one in entries if one.run for text in (f"run: {one.run}", *one.deviations))
    numbers = {text: n for n, text in enumerate(texts, 1)}
    rows = []
    for one in entries:
        deviations = _spans([numbers[text] for text in one.deviations]) if one.run else ""
        rows.append(_line(one, deviations, str(numbers.get(f"run: {one.run}", ""))))
    units = {one.unit for one in entries}
    heads = columns(*_COLUMNS[2:])
    if len(units) == 1:  # the heads have it
        unit = units.pop()
        heads = columns(*((name, unit) if name in ("published", "this run") else name for name in _COLUMNS[2:]))
        rows = [[*row[:5], "", *row[6:]] for row in rows]
    used = [n for n in range(len(heads)) if n < _KEYS or any(row[n] not in ("", None) for row in rows)]
    heads, rows = [heads[n] for n in used], [[row[n] for n in used] for row in rows]
    instead = f"{len(entries)} cells: report.html and the CSV of this table list them."
    return Sheet(title, heads, rows, [f"{n}: {text}" for text, n in numbers.items()], keys=_KEYS, instead=instead)


def _spans(numbers: Sequence[int]) -> str:
    """Numbers in order, those that follow each other as their first and last."""
    spans = group_by(enumerate(sorted(numbers)), lambda pair: pair[1] - pair[0]).values()
    return " ".join("-".join(dict.fromkeys(str(of[n][1]) for n in (0, -1))) for of in spans)


def _line(entry: Entry, deviations: str, run: str) -> list[Cell]:
    ours = entry.ours
    value = Value(ours.value, ours.ci_low, ours.ci_high, ours.n, ours.no_interval or "") if entry.run else None
    return [
        entry.model, entry.method, entry.part, RELATIONS[entry.relation].strip(), entry.published, entry.unit, value,
        entry.verdict.word, entry.verdict.why, entry.samples, run, deviations, entry.remark,
    ]  # fmt: skip
