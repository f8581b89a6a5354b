"""Which tools were used: shares per part of a benchmark and tool, from the committed actions of the records.

Source: Liao et al. 2024, arXiv 2410.17657, figure 5; counted by ``components.acting.tool_distribution``.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from components.acting.tool_distribution import INNER, MALFORMED, MIXED, action_names, distribution, is_misuse
from components.core.messages import Message, ToolCall, Usage
from components.core.types import Action, Refusal, Step, Trajectory
from runner.results.rows import Row
from runner.results.runs import Run
from runner.results.table import show
from runner.storage.stored import Unpacker

TABLE = "tools.csv"
ALL = "all"
OWN = "inner"  # the dimension of tools that do nothing outside the agent: to plan, to think
_SAID = Message("assistant")
Facts = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Share:
    """One line of ``tools.csv``: a tool in one part of the benchmark, or (``tool`` empty) all actions there. Tools of a
    category are one, by its name: what each is called in an episode may be drawn.

    Shares are 0 to 1, None where they are not defined. ``matching``: tools of the part's own dimension, not told for
    the one whose tasks overlap the others; ``misuse``: tools whose input the problem lacks.
    """

    run: str
    part: str
    tool: str
    dimension: str
    actions: int
    of_actions: float | None
    of_tool_actions: float | None
    matching: float | None
    misuse: float | None
    malformed: float | None = None


@dataclass
class Used:
    """The actions of one part. ``names``: per episode, of a tool its category, its own where it has none; ``facts``:
    those of the tools offered anywhere in it, under these names; ``misused``: name -> actions whose input the problem
    lacked, None where the records do not tell; ``sizes``: tools offered to each."""

    names: list[list[str]] = field(default_factory=list)
    facts: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    misused: Counter[str] | None = field(default_factory=Counter)
    sizes: list[int] = field(default_factory=list)

    @property
    def kinds(self) -> Counter[str]:
        """Actions by tool or category."""
        return Counter(name for names in self.names for name in names if name in self.facts)

    def add(self, names: Sequence[str], offered: Facts, kinds: Sequence[str] | None) -> None:
        """Count an episode; a tool that it was not offered is malformed."""
        tools = {name: facts for name, facts in offered.items() if facts.get("dimension") != OWN}
        told = {name: str(facts.get("category") or name) for name, facts in tools.items()}
        self.names.append([told.get(name, name if name in INNER else MALFORMED) for name in names])
        self.facts |= {told[name]: facts for name, facts in tools.items()}
        self.sizes.append(len(tools))
        if kinds is None:
            self.misused = None
        elif self.misused is not None:
            self.misused.update(told[name] for name in names if name in tools and is_misuse(tools[name], kinds))

    def shares(self, run: str, part: str) -> Iterator[Share]:
        """All tools together, then each that was used, those of one dimension beside each other."""
        counts = Counter(name for names in self.names for name in names)
        pooled = distribution(self.names, self.facts)
        used = sorted(pooled.shares, key=lambda name: (self._dimension(name), -counts[name], name))
        n = sum(counts[name] for name in used)
        known = {self._dimension(name) for name in self.facts}
        own = part if part in known and part != MIXED else None
        fits = sum(counts[name] for name in used if self._dimension(name) == own)
        lost = None if self.misused is None else sum(self.misused.values())
        height = pooled.height if pooled.total_actions else None
        yield Share(
            run, part, "", "", pooled.total_actions, height, 1.0 if n else None, _rate(fits if own else None, n),
            _rate(lost, n), pooled.malformed_rate if counts else None,
        )  # fmt: skip
        for name in used:
            fit = None if own is None else float(self._dimension(name) == own)
            lost = None if self.misused is None else self.misused[name]
            whole, part_of = pooled.segments[name], pooled.shares[name]
            yield Share(
                run, part, name, self._dimension(name), counts[name], whole, part_of, fit, _rate(lost, counts[name])
            )

    def _dimension(self, name: str) -> str:
        return str(self.facts[name].get("dimension", ""))


def show_tools(rows: Sequence[Row], home: Path) -> list[str]:
    """Print the shares and write them as a table. Returns its path; the page plots them."""
    found = [share for row in rows for share in shares_of(row)]
    names = [one.name for one in fields(Share)]
    with (home / TABLE).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(share) for share in found)
    for row in rows:
        lines = [_line(share) for share in found if share.run == row.label]
        head = ("", "of dimension", "actions", "of all actions", "of tool actions", "matching", "misuse", "malformed")
        show(head, lines, f"{row.label}: committed actions")
    return [str(home / TABLE)]


def shares_of(row: Row) -> list[Share]:
    """The shares of a row, per value of its outermost stratum; of all episodes together where it has none."""
    return [share for part, used in used_of(row).items() for share in used.shares(row.label, part)]


def used_of(row: Row) -> dict[str, Used]:
    """The actions of a row per value of its outermost stratum, in the order of their names."""
    levels = next(iter(row.first.levels.values()), ())
    parts: dict[str, Used] = {}
    for run in row.runs:
        for record, names, offered in _episodes(run):
            part = str(record["strata"].get(levels[-1], ALL)) if levels else ALL
            parts.setdefault(part, Used()).add(names, offered, record.get("inputs"))
    return {part: parts[part] for part in sorted(parts)}


def _episodes(run: Run) -> Iterator[tuple[Mapping[str, Any], list[str], Facts]]:
    """Records that did not error, the names of their actions, the facts of the tools they were offered."""
    unpacker = Unpacker(run.texts())
    known: dict[str, Facts] = {}
    for record in run.whole():
        if record["stop"] == "error":
            continue
        offer = record.get("offered") or ""
        if offer not in known:
            known[offer] = unpacker.tools(record)
        yield record, action_names(Trajectory([_acted(step) for step in record["steps"]])), known[offer]


def _acted(stored: Mapping[str, Any]) -> Step:
    """A stored step as far as actions are counted: no texts are read."""
    told = stored.get("action")
    action = None
    if told is not None:
        calls = tuple(ToolCall(*call) for call in told.get("calls", ()))
        refusal = Refusal(told["refusal"]) if "refusal" in told else None
        action = Action(_SAID, calls, told.get("answer"), refusal, error=told.get("error"))
    committed = stored.get("committed", True)
    return Step(
        stored["purpose"], stored["role"], stored["branch"], stored["n"], 0, (), _SAID, Usage(), action=action,
        committed=committed,
    )  # fmt: skip


def _line(share: Share) -> tuple[str, ...]:
    values = (share.of_actions, share.of_tool_actions, share.matching, share.misuse, share.malformed)
    name = f"{share.part}/{share.tool or 'all actions'}"
    return (
        name,
        share.dimension,
        f"{share.actions:,}",
        *("-" if value is None else f"{value:.3f}" for value in values),
    )


def _rate(count: int | None, n: int) -> float | None:
    return None if count is None or not n else count / n
