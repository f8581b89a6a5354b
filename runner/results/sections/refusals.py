"""Refusals: the missing tool against the one that the agent named. The facts of a record describe its condition:
``kind`` whether anything is missing, a field such as ``ability`` what a right refusal says there; ``accepted`` are the
categories that will do, ``withheld`` the tools that were taken away."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from components.core.tools import LACKING
from runner.results.kinds import group_by
from runner.results.rows import read_metrics
from runner.results.runs import Run
from runner.results.sheets import Cell, Section, Sheet, columns
from runner.results.steps import Episode

_FACT = {"category": "accepted"}  # field of a refusal -> the fact that says what is right, where it has another name
_STOPS = ("answered", "limit", "failed")
NOTHING, SILENT = "nothing", "no refusal"
_ROWS, _NAMED = 40, 16  # of the heat map


@dataclass(frozen=True)
class Ending:
    """An episode: what was missing (None: nothing), what the agent refused with (None: it did not), how it ended."""

    label: str
    facts: Mapping[str, Any] | None
    grounds: Mapping[str, Any] | None
    stop: str

    def right_values(self, field: str) -> list[str]:
        """What a right refusal says in this field; empty where nothing is missing or the facts do not say."""
        value = (self.facts or {}).get(_FACT.get(field, field))
        return [] if value is None else [str(one) for one in value] if isinstance(value, list) else [str(value)]

    def describe_missing(self, field: str) -> str:
        """The same in words."""
        return NOTHING if self.facts is None else " or ".join(self.right_values(field))

    def describe_grounds(self, field: str) -> str:
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
    endings = [(_ending(one.label, of), of.count) for one in read_metrics(*runs) for of in one.run.steps.episodes]
    if all(one.facts is None and one.grounds is None for one, _ in endings):
        return None
    found = [one for one, n in endings for _ in range(n)]
    # The fields of refusals of which facts say what is right, of few values first, of a single one last.
    names = dict.fromkeys(name for one in found for name in one.grounds or ())
    sizes = {name: len({one.describe_missing(name) for one in found if one.right_values(name)}) for name in names}
    fields = sorted((name for name, n in sizes.items() if n), key=lambda name: (sizes[name] == 1, sizes[name]))
    parts = [_confusion(found, field) for field in fields]
    shares = [parts[0][1]] if parts and len(parts[0][0].rows) <= _ROWS else []
    intro = (
        "Rows say what was missing, columns what the agent named. Where nothing was missing, every refusal is wrong; a "
        "scorer may also count a doubt that is not a refusal."
    )
    return Section("refusals", "Refusals", intro, [_stops(found, fields), *shares, *(sheet for sheet, _ in parts)])


def _ending(label: str, episode: Episode) -> Ending:
    lacking = episode.facts if episode.facts.get("kind") in LACKING else None
    return Ending(label, lacking, episode.grounds, episode.stop)


def _confusion(found: Sequence[Ending], field: str) -> tuple[Sheet, Sheet]:
    """Counts of what was named, for every run and what was missing; the same as a heat map: shares of a line's
    episodes, of very many values the most frequent."""
    relevant = [one for one in found if one.facts is None or one.right_values(field)]
    named = [SILENT, *sorted({one.describe_grounds(field) for one in relevant} - {SILENT})]
    rows, shares = list[list[Cell]](), {}
    for (label, missing), of in group_by(relevant, lambda one: (one.label, one.describe_missing(field))).items():
        counts = Counter(one.describe_grounds(field) for one in of)
        right = sum(one.grounds is not None and one.describe_grounds(field) in one.right_values(field) for one in of)
        share = None if missing == NOTHING else right / len(of)
        rows.append([label, missing, len(of), share, *(counts[name] for name in named)])
        shares[label, missing] = {name: counts[name] / len(of) for name in named}
    heads = columns("run", "missing", ("episodes", "n"), ("right", "share", "higher"), *((name, "n") for name in named))
    total = Counter(one.describe_grounds(field) for one in relevant)
    most = sorted(named, key=lambda name: -total[name])[:_NAMED]
    labels = [name for name in named if name in most]
    lines: list[list[Cell]] = [[*pair, *(of[name] for name in labels)] for pair, of in shares.items()]
    title = f"{field}: what was missing, and the shares of what was named"
    shaded = Sheet(title, columns("run", "missing", *labels), lines, keys=2, shaded=2)
    return Sheet(f"{field}: missing against named", heads, rows, keys=2), shaded


def _stops(found: Sequence[Ending], fields: Sequence[str]) -> Sheet:
    """A line per run and what was missing: how the episodes ended."""
    rows: list[list[Cell]] = []
    for (label, missing), of in group_by(found, lambda one: (one.label, one.withheld)).items():
        refused = [one for one in of if one.grounds is not None]
        grounded = sum(
            all(one.describe_grounds(field) in one.right_values(field) for field in fields) for one in refused
        )
        right = grounded / len(of) if missing != NOTHING and fields else None
        stops = (sum(one.stop == stop for one in of) / len(of) for stop in _STOPS)
        rows.append([label, missing, len(of), len(refused) / len(of), right, *stops])
    heads = columns(
        "run", "missing", ("episodes", "n"), ("refused", "share"), ("refused, every field right", "share", "higher"),
        *((stop, "share") for stop in _STOPS),
    )  # fmt: skip
    return Sheet("How episodes ended", heads, rows, keys=2)
