"""The reproduction ledger as tables: how many cells have which verdict, and every published cell."""

from collections import Counter
from collections.abc import Sequence

from runner.results.publications.ledger import WORDS, Entry, ledger
from runner.results.publications.published import RELATIONS
from runner.results.runs import Run
from runner.results.sheets import Cell, Column, Section, Sheet, Value

FILE = "ledger.csv"
_COLUMNS = (
    "article", "table", "model", "method", "part", "relation", "published", "unit", "this run", "verdict", "why",
    "samples", "run", "deviations", "remark",
)  # fmt: skip
_INTRO = (
    "within: the published value lies in our 95 % interval. outside: it does not. untestable: see why. "
    "A run of a simulated model is never a reproduction. "
    "Deviations are listed whether or not they bar a verdict; prompts are the project's own in every comparison."
)


def section(runs: Sequence[Run]) -> Section | None:
    """The counts and a table per published table, with every cell; None where no cell has a run."""
    entries = ledger(runs)
    return section_of(entries) if any(entry.run for entry in entries) else None


def section_of(entries: Sequence[Entry]) -> Section:
    """The same of any entries."""
    tables: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        tables.setdefault((entry.article, entry.source), []).append(entry)
    sheets = [_table(f"{article}: {source}", of) for (article, source), of in tables.items()]
    return Section("ledger", "Reproduction ledger", _INTRO, [_counts(entries), *sheets])


def flat(entries: Sequence[Entry]) -> Sheet:
    """Every cell with all that is known of it, for ``ledger.csv``."""
    rows = [[one.article, one.source, *_line(one, "; ".join(one.deviations), one.run)] for one in entries]
    return Sheet("Reproduction ledger", [Column(name) for name in _COLUMNS], rows)


def _counts(entries: Sequence[Entry]) -> Sheet:
    """How many cells have which verdict; of untestable ones why."""
    words = Counter(entry.verdict.word for entry in entries)
    rows: list[list[Cell]] = [[word, "in all", words[word]] for word in WORDS]
    why = Counter(entry.verdict.why for entry in entries if entry.verdict.why)
    rows += [["untestable", text, n] for text, n in why.most_common()]
    return Sheet("Verdicts", [Column("verdict"), Column("why"), Column("cells")], rows, keys=3)


def _table(title: str, entries: Sequence[Entry]) -> Sheet:
    """One published table. Runs and deviations are numbered, and listed below it."""
    texts = dict.fromkeys(text for one in entries if one.run for text in (f"run: {one.run}", *one.deviations))
    known = {text: str(n) for n, text in enumerate(texts, 1)}
    rows = [
        _line(
            one, " ".join(known[text] for text in one.deviations) if one.run else "", known.get(f"run: {one.run}", "")
        )
        for one in entries
    ]
    units = {one.unit for one in entries}
    columns = [Column(name) for name in _COLUMNS[2:]]
    if len(units) == 1:  # the heads have it
        unit = units.pop()
        columns = [Column(one.name, unit if one.name in ("published", "this run") else "") for one in columns]
        rows = [[*row[:5], "", *row[6:]] for row in rows]
    instead = f"{len(entries)} cells: report.html and the CSV of this table list them."
    notes = [f"{n}: {text}" for text, n in known.items()]
    return Sheet(title, columns, rows, notes, keys=3, instead=instead)


def _line(entry: Entry, deviations: str, run: str) -> list[Cell]:
    ours = entry.ours
    value = Value(ours.value, ours.ci_low, ours.ci_high, ours.n, ours.no_interval or "") if entry.run else None
    published = (RELATIONS[entry.relation].strip(), entry.published, entry.unit)
    verdict = (value, entry.verdict.word, entry.verdict.why)
    place = (entry.model, entry.method, entry.part)
    return [*place, *published, *verdict, entry.samples, run, deviations, entry.remark]
