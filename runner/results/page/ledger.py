"""The reproduction ledger as tables: how many cells have which verdict, and every published cell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from runner.results.ledger import WORDS, Entry, ledger
from runner.results.page.parts import Cell, Column, Section, Sheet, Value
from runner.results.published import RELATIONS
from runner.results.runs import Run

_COLUMNS = (
    "article", "table", "model", "method", "part", "relation", "published", "unit", "this run", "verdict", "why",
    "samples", "run", "deviations", "remark",
)  # fmt: skip
READ = (
    "within: the published value lies in our 95 % interval. outside: it does not. untestable: see why. "
    "A run of a simulated model is never a reproduction.",
    "Deviations are listed whether or not they bar a verdict; prompts are the project's own in every comparison.",
)


def section(runs: Sequence[Run]) -> Section | None:
    """The counts and a table per article, with every published cell; None where no cell has a run."""
    entries = ledger(runs)
    if not any(entry.run for entry in entries):
        return None
    articles = dict.fromkeys(entry.article for entry in entries)
    tables = [sheet(f"{name}: every cell", [entry for entry in entries if entry.article == name]) for name in articles]
    return Section("ledger", "Reproduction ledger", " ".join(READ), [counts(entries), *tables])


def counts(entries: Sequence[Entry]) -> Sheet:
    """How many cells have which verdict; of untestable ones why."""
    words = Counter(entry.verdict.word for entry in entries)
    rows: list[list[Cell]] = [[word, "in all", words[word]] for word in WORDS]
    why = Counter(entry.verdict.why for entry in entries if entry.verdict.why)
    rows += [["untestable", text, n] for text, n in why.most_common()]
    return Sheet("Verdicts", [Column("verdict"), Column("why"), Column("cells")], rows)


def sheet(title: str, entries: Sequence[Entry]) -> Sheet:
    """Every cell, one line each."""
    long = f"{len(entries)} cells: report.html and the CSV of this table list them."
    return Sheet(title, [Column(name) for name in _COLUMNS], [_line(entry) for entry in entries], instead=long)


def _line(entry: Entry) -> list[Cell]:
    ours = entry.ours
    value = Value(ours.value, ours.ci_low, ours.ci_high, ours.n if entry.run else None, ours.no_interval or "")
    cell = (entry.article, entry.source, entry.model, entry.method, entry.part)
    published = (RELATIONS[entry.relation].strip(), entry.published, entry.unit)
    judged = (value, entry.verdict.word, entry.verdict.why)
    return [*cell, *published, *judged, entry.samples, entry.run, "; ".join(entry.deviations), entry.remark]
