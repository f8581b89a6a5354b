"""What checking every step changed, read from the verdicts in the records.

A verdict says ``<verifier>: <what> <k> of <m>, <why>``, and where it was asked for ``; curve 1=1, 2=1, ...``: which
of the candidates each smaller number of them would have led to. ``of at most m`` speaks of versions that follow one
another: there a smaller number would have ended with an earlier one; ``, n=2 (extra)`` tells how n counts them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from components.core.errors import ConfigError
from runner.results.rows import Row
from runner.results.runs import Run
from runner.results.table import show
from runner.results.usage import APART
from runner.storage.stored import Unpacker

_VERDICT = re.compile(
    r"(?P<verifier>\w+): (?P<what>\w+) (?P<k>\d+) of (?P<most>at most )?(?P<m>\d+), (?P<why>[^;]+?)"
    r"(?:, n=(?P<n>\d+) \((?P<counting>\w+)\))?"
    r"(?:; curve (?P<curve>\d+=\d+(?:, \d+=\d+)*))?"
)


@dataclass(frozen=True)
class Verdict:
    """``step`` counts the checked actions of a branch from 1. ``picks``: number of proposals -> which of them it would
    have led to; the last is what was chosen."""

    step: int
    verifier: str
    what: str
    chosen: int
    why: str
    picks: Mapping[int, int]


def read_verdict(text: str, step: int) -> Verdict | None:
    """A verdict's text; None for one in another form."""
    found = _VERDICT.fullmatch(text)
    if found is None:
        return None
    chosen, most = int(found["k"]), int(found["m"])
    if found["curve"]:
        pairs = (pair.split("=") for pair in found["curve"].split(", "))
        picks = {int(n): int(pick) for n, pick in pairs}
    elif found["most"]:  # version v is what comes of n = v, or of n = v - 1 where refinements are counted
        first = most - int(found["n"] or most)
        picks = {v - first: min(v, chosen) for v in range(1, most + 1)}
    else:
        picks = {1: 1}  # without a choice the first one is taken
    return Verdict(step, found["verifier"], found["what"], chosen, found["why"], picks)


def verdicts_of(run: Run) -> Iterator[Verdict | None]:
    """The verdicts of a run's records; None for one in another form."""
    unpacker = Unpacker(run.texts())
    for record in run.whole():
        counts: Counter[str] = Counter()
        for step in record["steps"]:
            if step.get("action") is None or not step.get("committed", True):
                continue
            counts[step["branch"]] += 1
            if "verdict" in step:
                yield read_verdict(unpacker.text(step["verdict"]), counts[step["branch"]])


def show_verdicts(row: Row) -> None:
    """Print, per step, how often fewer proposals would have led elsewhere; how the checks ended; calls by purpose.

    Raises ConfigError where no step has a verdict that can be read.
    """
    told = [verdict for run in row.runs for verdict in verdicts_of(run)]
    found = [verdict for verdict in told if verdict is not None]
    if not found:
        kind = "in the form that is read here " if told else ""
        raise ConfigError(f"{row.label}: no step has a verdict {kind}(verifier: {row.first.choices.get('verifier')})")
    most = max(max(one.picks) for one in found)
    ns = sorted({n for one in found for n in one.picks if n < most} or {1})
    steps = sorted({one.step for one in found})
    body = [_line(str(step), [one for one in found if one.step == step], ns) for step in steps]
    head = ("step", "checked", *(f"unlike n'={n}" for n in ns))
    show(head, [*body, _line("all", found, ns)], f"{row.label}: what is chosen, and what n' would have chosen")
    show(("how the check ended", "steps", "with a change"), _endings(found), "")
    if lost := len(told) - len(found):
        print(f"verdicts in another form, left out: {lost:,}")  # noqa: T201
    print(_calls(row.records))  # noqa: T201


def _endings(found: Sequence[Verdict]) -> list[tuple[str, ...]]:
    """Reasons with their shares of all checks, and how often the first proposal was changed then."""
    reasons = Counter((one.verifier, one.why) for one in found)
    changed = Counter((one.verifier, one.why) for one in found if one.chosen > 1)
    body = [
        (f"{verifier}: {why}", _share(n, len(found)), _share(changed[verifier, why], n))
        for (verifier, why), n in reasons.most_common()
    ]
    return [*body, ("all", _share(len(found), len(found)), _share(changed.total(), len(found)))]


def _line(name: str, verdicts: Sequence[Verdict], ns: Sequence[int]) -> tuple[str, ...]:
    """One step's row; a verdict without a pick for n' is left out there."""
    cells = []
    for n in ns:
        told = [one for one in verdicts if n in one.picks]
        cells.append(_share(sum(one.picks[n] != one.chosen for one in told), len(told)))
    return (name, f"{len(verdicts):,}", *cells)


def _share(n: int, of: int) -> str:
    return f"{n / of:.3f} ({n:,})" if of else "-"


def _calls(records: Sequence[Mapping[str, Any]]) -> str:
    """Calls of the episodes by purpose, those that only ask about the agent apart."""
    counts: Counter[str] = Counter()
    for record in records:
        counts.update({purpose: used["calls"] for purpose, used in record["usage"]["purposes"].items()})
    told = ", ".join(f"{purpose} {n:,}" for purpose, n in counts.items() if purpose != APART)
    return f"calls: {told}; apart, of purpose {APART}: {counts[APART]:,}"
