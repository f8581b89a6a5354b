"""What was missing against what the agent named: refusals by what a condition took away.

The facts of a record say what its condition did: ``kind`` whether anything is missing, a field such as ``ability`` what
a right refusal says there; ``accepted`` are the categories that will do, ``withheld`` the tools that were taken away.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runner.results.render.figures import shades
from runner.results.run_metrics import read_metrics
from runner.results.runs import Run
from runner.results.sheets import Cell, Column, Plot, Section, Sheet

_LACKING = ("insufficient", "withhold")  # kinds of conditions that take away what is needed
_FACT = {"category": "accepted"}  # field of a refusal -> the fact that says what is right, where it has another name
_STOPS = ("answered", "limit", "failed")
NOTHING, SILENT = "nothing", "no refusal"
_ROWS, _NAMED = 40, 16  # of the plotted field


@dataclass(frozen=True)
class Ending:
    """An episode: what was missing (None: nothing), what the agent refused with (None: it did not), how it ended."""

    label: str
    facts: Mapping[str, Any] | None
    grounds: Mapping[str, Any] | None
    stop: str

    def right(self, field: str) -> list[str]:
        """What a right refusal says in this field; empty where nothing is missing or the facts do not say."""
        value = (self.facts or {}).get(_FACT.get(field, field))
        return [] if value is None else [str(one) for one in value] if isinstance(value, list) else [str(value)]

    def missing(self, field: str) -> str:
        """The same in words."""
        return NOTHING if self.facts is None else " or ".join(self.right(field))

    def named(self, field: str) -> str:
        """What the agent named there."""
        return SILENT if self.grounds is None else str(self.grounds.get(field) or "-")

    @property
    def withheld(self) -> str:
        """What the condition did, in a word or two."""
        if self.facts is None:
            return NOTHING
        names = self.facts.get("withheld")
        return ", ".join(map(str, names)) if names else str(self.facts.get("condition", "something"))


def section(runs: Sequence[Run]) -> Section | None:
    """Tables of endings and of each field of refusals; None where nothing was missing and nothing refused."""
    found = [ending for one in read_metrics(runs) for ending in _endings(one.run, one.label)]
    if all(one.facts is None and one.grounds is None for one in found):
        return None
    parts: list[Sheet | Plot] = [_stops(found)]
    fields = _fields(found)
    for n, field in enumerate(fields):
        sheet = _confusion(found, field)
        parts += [_plot(sheet, field), sheet] if n == 0 and len(sheet.rows) <= _ROWS else [sheet]
    intro = (
        "Rows say what was missing, columns what the agent named. Where nothing was missing, every refusal is wrong; a "
        "scorer may also count a doubt that is not a refusal."
    )
    return Section("refusals", "Refusals", intro, parts)


def _endings(run: Run, label: str) -> Iterator[Ending]:
    """The episodes of a run that did not error."""
    for record in run.whole():
        if record["stop"] != "error":
            facts = record.get("facts") or {}
            lacking = facts if facts.get("kind") in _LACKING else None
            yield Ending(label, lacking, record.get("refusal"), record["stop"])


def _fields(found: Sequence[Ending]) -> list[str]:
    """The fields of refusals of which facts say what is right, of few values first, of a single one last."""
    names = dict.fromkeys(name for one in found for name in one.grounds or ())
    sizes = {name: len({one.missing(name) for one in found if one.right(name)}) for name in names}
    return sorted((name for name, n in sizes.items() if n), key=lambda name: (sizes[name] == 1, sizes[name]))


def _stops(found: Sequence[Ending]) -> Sheet:
    """A line per run and what was missing: how the episodes ended."""
    fields = _fields(found)
    groups: dict[tuple[str, str], list[Ending]] = {}
    for one in found:
        groups.setdefault((one.label, one.withheld), []).append(one)
    rows: list[list[Cell]] = []
    for (label, missing), of in groups.items():
        refused = [one for one in of if one.grounds is not None]
        grounded = sum(all(one.named(field) in one.right(field) for field in fields) for one in refused)
        lacking = missing != NOTHING
        rows.append([
            label, missing, len(of), len(refused) / len(of), grounded / len(of) if lacking and fields else None,
            *(sum(one.stop == stop for one in of) / len(of) for stop in _STOPS),
        ])  # fmt: skip
    columns = [Column("run"), Column("missing"), Column("episodes", "n"), Column("refused", "share")]
    columns += [Column("refused, every field right", "share", "higher"), *(Column(stop, "share") for stop in _STOPS)]
    return Sheet("How episodes ended", columns, rows, keys=2)


def _confusion(found: Sequence[Ending], field: str) -> Sheet:
    """Counts of what was named, for every run and what was missing."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    right: Counter[tuple[str, str]] = Counter()
    there = [one for one in found if one.facts is None or one.right(field)]
    for one in there:
        key = one.label, one.missing(field)
        counts.setdefault(key, Counter())[one.named(field)] += 1
        right[key] += one.grounds is not None and one.named(field) in one.right(field)
    named = sorted({value for of in counts.values() for value in of} - {SILENT})
    rows: list[list[Cell]] = []
    for key, of in counts.items():
        share = None if key[1] == NOTHING else right[key] / of.total()
        rows.append([*key, of.total(), share, *(of[name] for name in (SILENT, *named))])
    columns = [Column("run"), Column("missing"), Column("episodes", "n"), Column("right", "share", "higher")]
    return Sheet(
        f"{field}: missing against named", [*columns, *(Column(name, "n") for name in (SILENT, *named))], rows, keys=2
    )


def _plot(sheet: Sheet, field: str) -> Plot:
    """The same as shades: shares of a line's episodes; of very many values the most frequent."""
    names = [column.name for column in sheet.columns[4:]]
    sums = [sum(_number(row[4 + n]) for row in sheet.rows) for n in range(len(names))]
    shown = sorted(sorted(range(len(names)), key=lambda n: -sums[n])[:_NAMED])
    labels = [f"{row[0]}: {row[1]}" for row in sheet.rows]
    z = [[_number(row[4 + n]) / max(1, _number(row[2])) for n in shown] for row in sheet.rows]
    figure = shades(labels, [names[n] for n in shown], z)
    return Plot(f"{field}: what was missing (left), and the shares of what was named (below)", figure)


def _number(cell: Cell) -> float:
    return float(cell) if isinstance(cell, int | float) else 0.0
