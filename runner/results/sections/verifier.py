"""Verifiers: which proposal was chosen where every step is checked, and what fewer proposals would have led to."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from components.core.types import Verdict
from runner.results.kinds import group_by
from runner.results.metrics import APART, by_purpose
from runner.results.render.figures import bars
from runner.results.rows import Row, rows
from runner.results.runs import Run
from runner.results.sheets import Cell, Plot, Section, Sheet, Value, columns

# Records written before verdicts were data have them as texts: ``select: candidate 2 of 3, picked; curve 1=1, 2=2``.
_OLD = re.compile(
    r"(?P<verifier>\w+): (?P<kind>candidate|version) (?P<k>\d+) of (?P<most>at most )?(?P<m>\d+), (?P<why>[^;]+?)"
    r"(?:, n=(?P<n>\d+) \(\w+\))?"
    r"(?:; curve (?P<curve>\d+=\d+(?:, \d+=\d+)*))?"
)


@dataclass(frozen=True)
class Checked:
    """A verdict and its step, which counts the checked actions of a branch from 1."""

    step: int
    verdict: Verdict


def verifier(runs: Sequence[Run]) -> Section | None:
    """Choices step by step and how the checks ended; None where there was nothing to choose from."""
    read = {row: [one for run in row.runs for one in verdicts_of(run)] for row in rows(*runs)}
    checked = {row: [one for one in of if isinstance(one, Checked)] for row, of in read.items()}
    verdicts = {row: [one.verdict for one in of] for row, of in checked.items()}
    found = {
        row: checked[row] for row, of in verdicts.items() if any(len(one.picks) > 1 or one.chosen > 1 for one in of)
    }
    if not found:
        return None
    intro = (
        "Proposals are candidates for an action, or versions of one. A step counts the checked actions of an episode "
        "from 1; the last line of a run is over all steps."
    )
    others = sum(not isinstance(one, Checked) for of in read.values() for one in of)
    notes = [f"verdicts in another form, left out: {others:,}"] if others else []
    notes += [_call_note(row) for row in found]
    steps = {row.label: dict(sorted(group_by(of, lambda one: one.step).items())) for row, of in found.items()}
    return Section("verifier", "What the verifier chose", intro, [_plot(steps), _steps(steps), _endings(found, notes)])


def _call_note(row: Row) -> str:
    """How many calls the runs of a row made, by purpose."""
    sums = {
        name.partition("/")[2]: one.value for name, one in by_purpose(row.table).items() if name.startswith("calls")
    }
    named = ", ".join(f"{purpose} {n:,}" for purpose, n in sums.items() if purpose != APART)
    return f"{row.label}: calls: {named}; apart, of purpose {APART}: {sums.get(APART) or 0:,}"


def _plot(steps: Mapping[str, Mapping[int, Sequence[Checked]]]) -> Plot:
    numbers = sorted({step for of in steps.values() for step in of})
    series = {
        label: [Value(_changed_share(of[n])) if n in of else None for n in numbers] for label, of in steps.items()
    }
    figure = bars([str(step) for step in numbers], series, "first proposal not kept [share of checks]", "step")
    return Plot("How often the first proposal was not kept", figure)


def _endings(found: Mapping[Row, Sequence[Checked]], notes: Sequence[str]) -> Sheet:
    """A line per run, verifier and reason for which its checks ended, the most frequent first."""
    lines: list[list[Cell]] = []
    for row, of in found.items():
        endings = group_by(of, lambda one: (one.verdict.verifier, one.verdict.why))
        for (verifier, why), part in sorted(endings.items(), key=lambda pair: -len(pair[1])):
            lines.append([row.label, verifier, why, len(part), len(part) / len(of), _changed_share(part)])
    heads = columns(
        "run", "verifier", "the check ended", ("steps", "n"), ("of all checks", "share"), ("first not kept", "share")
    )
    return Sheet("How checks ended", heads, lines, notes, keys=3)


def _steps(found: Mapping[str, Mapping[int, Sequence[Checked]]]) -> Sheet:
    """A line per run and step: how often the first proposal was not kept, and fewer would have led elsewhere."""
    verdicts = [one.verdict for of in found.values() for part in of.values() for one in part]
    numbers = sorted({n for one in verdicts for n in one.picks if n < max(one.picks)})
    unlike = ((f"unlike with {n}", "share") for n in numbers)
    heads = columns("run", "step", ("checked", "n"), ("first not kept", "share"), *unlike)
    lines: list[list[Cell]] = []
    for label, of in found.items():
        every = {"all": [one for part in of.values() for one in part]}
        for step, part in ({str(step): part for step, part in of.items()} | every).items():
            lines.append([label, step, len(part), _changed_share(part)])
            for n in numbers:  # a verdict without that number is left out
                choices = [one.verdict.picks[n] != one.verdict.chosen for one in part if n in one.verdict.picks]
                lines[-1].append(sum(choices) / len(choices) if choices else None)
    notes = ["unlike with n: how often n proposals would have led to another choice than all of them did"]
    return Sheet("Choices by step", heads, lines, notes if numbers else (), keys=2)


def verdicts_of(run: Run) -> Iterator[Checked | str]:
    """The verdicts of a run's committed actions; those of verifiers that do not choose as their texts."""
    for number, verdict in run.steps.verdicts:
        read = read_old(verdict) if isinstance(verdict, str) else verdict
        yield str(verdict) if read is None else Checked(number, read)


def read_old(text: str) -> Verdict | None:
    """A verdict of an older record; None for a text in another form."""
    found = _OLD.fullmatch(text)
    if found is None:
        return None
    chosen, of, picks = int(found["k"]), int(found["m"]), {1: 1}
    if found["curve"]:
        picks = {int(n): int(pick) for n, pick in (pair.split("=") for pair in found["curve"].split(", "))}
    elif found["most"]:  # version v is what comes of n = v, or of n = v - 1 where refinements are counted
        first = of - int(found["n"] or of)
        picks = {v - first: min(v, chosen) for v in range(1, of + 1)}
    kind: Literal["candidate", "version"] = "candidate" if found["kind"] == "candidate" else "version"
    return Verdict(found["verifier"], kind, chosen, of, found["why"], picks)


def _changed_share(checks: Sequence[Checked]) -> float:
    return sum(one.verdict.chosen > 1 for one in checks) / len(checks)
