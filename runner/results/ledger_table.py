"""The reproduction ledger on the terminal and as ``ledger.csv``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from runner.results.ledger import Entry, ledger
from runner.results.page.ledger import READ, counts, sheet
from runner.results.page.written import comma
from runner.results.published import RELATIONS
from runner.results.runs import Run
from runner.results.table import show

FILE = "ledger.csv"


def show_ledger(runs: Sequence[Run], home: Path) -> Path:
    """Print how many cells have which verdict, then every cell by article and table. Returns the CSV that it wrote."""
    entries = ledger(runs)
    total = counts(entries)
    show(
        ("verdict", "cells", "why"),
        [(str(word), str(n), str(why)) for word, why, n in total.rows],
        "reproduction ledger",
        keys=3,
    )
    print(*READ, sep="\n")  # noqa: T201
    for article, source in dict.fromkeys((entry.article, entry.source) for entry in entries):
        _show(f"{article}: {source}", [one for one in entries if (one.article, one.source) == (article, source)])
    home.mkdir(parents=True, exist_ok=True)
    (home / FILE).write_text(comma(sheet("ledger", entries)), encoding="utf-8", newline="")
    return home / FILE


def _show(title: str, entries: Sequence[Entry]) -> None:
    """One published table. Reasons, runs and deviations are numbered, and listed below it."""
    texts = [*(one.verdict.why for one in entries), *(text for one in entries for text in _notes(one))]
    known = {text: str(n) for n, text in enumerate(dict.fromkeys(filter(None, texts)), 1)}
    head = ("method", "part", "published", "this run", "verdict", "run, deviations")
    body = [_cells(one, known) for one in entries]
    kept = [n for n, name in enumerate(head) if name == "part" or any(line[n] for line in body)]
    show([head[n] for n in kept], [[line[n] for n in kept] for line in body], title, keys=2)
    for text, n in known.items():
        print(f"  {n}: {text}")  # noqa: T201


def _cells(one: Entry, known: Mapping[str, str]) -> tuple[str, ...]:
    """A cell: what is published; our value, its interval and samples; the verdict."""
    published = "-" if one.published is None else f"{RELATIONS[one.relation]}{one.published:g} {one.unit}"
    value, low, high = one.ours.value, one.ours.ci_low, one.ours.ci_high
    ours = "" if value is None else f"{value:.2f}"
    ours += "" if low is None or high is None else f" ({low:.1f} to {high:.1f})"
    return (
        " ".join(filter(None, (one.model, one.method))), one.part, _lines(published.strip(), one.remark),
        _lines(ours, one.samples), f"{one.verdict.word} {known.get(one.verdict.why, '')}".strip(),
        " ".join(known[text] for text in _notes(one)),
    )  # fmt: skip


def _notes(one: Entry) -> list[str]:
    return [f"run: {one.run}", *one.deviations] if one.run else []


def _lines(*texts: str) -> str:
    return "\n".join(filter(None, texts))
