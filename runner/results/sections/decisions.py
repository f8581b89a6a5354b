"""Refusals: what was missing against what the agent named. Verifiers: which proposal was chosen where every step is
checked, and what fewer proposals would have led to.

The facts of a record say what its condition did: ``kind`` whether anything is missing, a field such as ``ability`` what
a right refusal says there; ``accepted`` are the categories that will do, ``withheld`` the tools that were taken away.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from components.core.types import Verdict
from runner.results.kinds import grouped
from runner.results.metrics import APART
from runner.results.render.figures import bars, heatmap
from runner.results.rows import read_metrics, rows
from runner.results.runs import Run
from runner.results.table import Cell, Plot, Section, Sheet, Value, columns
from runner.storage.stored import Unpacker

_LACKING = ("insufficient", "withhold")  # kinds of conditions that take away what is needed
_FACT = {"category": "accepted"}  # field of a refusal -> the fact that says what is right, where it has another name
_STOPS = ("answered", "limit", "failed")
NOTHING, SILENT = "nothing", "no refusal"
_ROWS, _NAMED = 40, 16  # of the heat map
# Records written before verdicts were data have them as texts: ``select: candidate 2 of 3, picked; curve 1=1, 2=2``.
_OLD = re.compile(
    r"(?P<verifier>\w+): (?P<kind>candidate|version) (?P<k>\d+) of (?P<most>at most )?(?P<m>\d+), (?P<why>[^;]+?)"
    r"(?:, n=(?P<n>\d+) \(\w+\))?"
    r"(?:; curve (?P<curve>\d+=\d+(?:, \d+=\d+)*))?"
)


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


def refusals(runs: Sequence[Run]) -> Section | None:
    """Tables of endings and of each field of refusals; None where nothing was missing and nothing refused."""
    found = []
    for one in read_metrics(*runs):
        for record in one.run.whole():
            if record["stop"] != "error":
                facts = record.get("facts") or {}
                lacking = facts if facts.get("kind") in _LACKING else None
                found.append(Ending(one.label, lacking, record.get("refusal"), record["stop"]))
    if all(one.facts is None and one.grounds is None for one in found):
        return None
    # The fields of refusals of which facts say what is right, of few values first, of a single one last.
    names = dict.fromkeys(name for one in found for name in one.grounds or ())
    sizes = {name: len({one.missing(name) for one in found if one.right(name)}) for name in names}
    fields = sorted((name for name, n in sizes.items() if n), key=lambda name: (sizes[name] == 1, sizes[name]))
    parts = [_confusion(found, field) for field in fields]
    plots = [parts[0][1]] if parts and len(parts[0][0].rows) <= _ROWS else []
    intro = (
        "Rows say what was missing, columns what the agent named. Where nothing was missing, every refusal is wrong; a "
        "scorer may also count a doubt that is not a refusal."
    )
    return Section("refusals", "Refusals", intro, [_stops(found, fields), *plots, *(sheet for sheet, _ in parts)])


def _confusion(found: Sequence[Ending], field: str) -> tuple[Sheet, Plot]:
    """Counts of what was named, for every run and what was missing; the same as a heat map: shares of a line's
    episodes, of very many values the most frequent."""
    relevant = [one for one in found if one.facts is None or one.right(field)]
    named = [SILENT, *sorted({one.named(field) for one in relevant} - {SILENT})]
    rows: list[list[Cell]] = []
    shares = {}
    for (label, missing), of in grouped(relevant, lambda one: (one.label, one.missing(field))).items():
        counts = Counter(one.named(field) for one in of)
        right = sum(one.grounds is not None and one.named(field) in one.right(field) for one in of)
        share = None if missing == NOTHING else right / len(of)
        rows.append([label, missing, len(of), share, *(counts[name] for name in named)])
        shares[f"{label}: {missing}"] = {name: counts[name] / len(of) for name in named}
    heads = columns("run", "missing", ("episodes", "n"), ("right", "share", "higher"), *((name, "n") for name in named))
    total = Counter(one.named(field) for one in relevant)
    most = sorted(named, key=lambda name: -total[name])[:_NAMED]
    labels = [name for name in named if name in most]
    figure = heatmap(list(shares), labels, [[of[name] for name in labels] for of in shares.values()])
    plot = Plot(f"{field}: what was missing (left), and the shares of what was named (below)", figure)
    return Sheet(f"{field}: missing against named", heads, rows, keys=2), plot


def _stops(found: Sequence[Ending], fields: Sequence[str]) -> Sheet:
    """A line per run and what was missing: how the episodes ended."""
    rows: list[list[Cell]] = []
    for (label, missing), of in grouped(found, lambda one: (one.label, one.withheld)).items():
        refused = [one for one in of if one.grounds is not None]
        grounded = sum(all(one.named(field) in one.right(field) for field in fields) for one in refused)
        right = grounded / len(of) if missing != NOTHING and fields else None
        stops = (sum(one.stop == stop for one in of) / len(of) for stop in _STOPS)
        rows.append([label, missing, len(of), len(refused) / len(of), right, *stops])
    heads = columns(
        "run", "missing", ("episodes", "n"), ("refused", "share"), ("refused, every field right", "share", "higher"),
        *((stop, "share") for stop in _STOPS),
    )  # fmt: skip
    return Sheet("How episodes ended", heads, rows, keys=2)


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
    for row in found:
        counts: Counter[str] = Counter()
        for record in row.records:
            counts.update({purpose: used["calls"] for purpose, used in record["usage"]["purposes"].items()})
        named = ", ".join(f"{purpose} {n:,}" for purpose, n in counts.items() if purpose != APART)
        notes.append(f"{row.label}: calls: {named}; apart, of purpose {APART}: {counts[APART]:,}")
    steps = {row.label: dict(sorted(grouped(of, lambda one: one.step).items())) for row, of in found.items()}
    numbers = sorted({step for of in steps.values() for step in of})
    series = {label: [Value(_changed(of[n])) if n in of else None for n in numbers] for label, of in steps.items()}
    figure = bars([str(step) for step in numbers], series, "first proposal not kept [share of checks]", "step")
    plot = Plot("How often the first proposal was not kept", figure)
    ends: list[list[Cell]] = []
    for row, of in found.items():
        endings = grouped(of, lambda one: (one.verdict.verifier, one.verdict.why))
        for (verifier, why), part in sorted(endings.items(), key=lambda pair: -len(pair[1])):
            ends.append([row.label, verifier, why, len(part), len(part) / len(of), _changed(part)])
    heads = columns(
        "run", "verifier", "the check ended", ("steps", "n"), ("of all checks", "share"), ("first not kept", "share")
    )
    sheets = [_steps(steps), Sheet("How checks ended", heads, ends, notes, keys=3)]
    return Section("verifier", "What the verifier chose", intro, [plot, *sheets])


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
            lines.append([label, step, len(part), _changed(part)])
            for n in numbers:  # a verdict without that number is left out
                choices = [one.verdict.picks[n] != one.verdict.chosen for one in part if n in one.verdict.picks]
                lines[-1].append(sum(choices) / len(choices) if choices else None)
    notes = ["unlike with n: how often n proposals would have led to another choice than all of them did"]
    return Sheet("Choices by step", heads, lines, notes if numbers else (), keys=2)


def verdicts_of(run: Run) -> Iterator[Checked | str]:
    """The verdicts of a run's committed actions; those of verifiers that do not choose as their texts."""
    unpacker = Unpacker(run.texts())
    for record in run.whole():
        counts: Counter[str] = Counter()
        for step in record["steps"]:
            if step.get("action") is None or not step.get("committed", True):
                continue
            counts[step["branch"]] += 1
            if "verdict" in step:
                verdict = unpacker.verdict(step["verdict"])
                read = read_old(verdict) if isinstance(verdict, str) else verdict
                yield str(verdict) if read is None else Checked(counts[step["branch"]], read)


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


def _changed(checks: Sequence[Checked]) -> float:
    return sum(one.verdict.chosen > 1 for one in checks) / len(checks)
