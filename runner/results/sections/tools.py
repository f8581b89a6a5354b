"""Which tools were used: shares per part of a benchmark and tool, from the committed actions of the records.

Source: Liao et al. 2024, arXiv 2410.17657, figure 5; counted by ``components.acting.tool_names``.
"""

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

from components.acting.tool_names import MIXED, distribution
from runner.results.cells import spreadsheet_text
from runner.results.kinds import group_by, natural_order
from runner.results.rows import Row, rows
from runner.results.runs import Run
from runner.results.sheets import Cell, Section, Sheet, columns
from runner.results.steps import Episode

TABLE = "tools.csv"
ALL = "all"
_SHOWN = 24  # tools in the heat map; the table below it has all


@dataclass(frozen=True)
class Share:
    """One line of ``tools.csv``: a tool in one part of the benchmark, or (``tool`` empty) all actions there. Tools of a
    category are one, by its name: their names in an episode may be random. Shares are 0 to 1, None where they are not
    defined. ``matching``: tools of the part's own dimension, None for the one whose tasks overlap the others;
    ``misuse``: tools whose input the problem lacks."""

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
    """The actions of one part. ``dimensions``: of the tools offered anywhere in it; ``misused``: tool -> actions whose
    input the problem lacked, None where the records lack it; ``sizes``: tools offered to each episode."""

    names: Counter[str] = field(default_factory=Counter)
    dimensions: dict[str, str] = field(default_factory=dict)
    misused: Counter[str] | None = field(default_factory=Counter)
    sizes: list[int] = field(default_factory=list)

    @property
    def kinds(self) -> Counter[str]:
        """Actions by tool or category."""
        return Counter({name: n for name, n in self.names.items() if name in self.dimensions})

    def add(self, episode: Episode) -> None:
        """Count an episode and those like it."""
        for name in episode.actions:
            self.names[name] = self.names.get(name, 0) + episode.count
        self.dimensions |= episode.dimensions
        self.sizes.append(episode.tools)
        if episode.misused is None:
            self.misused = None
        elif self.misused is not None:
            for name in episode.misused:
                self.misused[name] = self.misused.get(name, 0) + episode.count

    def shares(self, run: str, part: str) -> Iterator[Share]:
        """All tools together, then each that was used, those of one dimension next to each other."""
        counts, dimensions = self.names, self.dimensions
        pooled = distribution([counts.elements()], dimensions)
        used = sorted(pooled.shares, key=lambda name: (dimensions[name], -counts[name], name))
        n = sum(counts[name] for name in used)
        own = part if part in dimensions.values() and part != MIXED else None
        matching = sum(counts[name] for name in used if dimensions[name] == own)
        misused = None if self.misused is None else self.misused.total()
        height = pooled.height if pooled.total_actions else None
        yield Share(
            run, part, "", "", pooled.total_actions, height, 1.0 if n else None, _rate(matching if own else None, n),
            _rate(misused, n), pooled.malformed_rate if counts else None,
        )  # fmt: skip
        for name in used:
            matches = None if own is None else float(dimensions[name] == own)
            misuse = _rate(None if self.misused is None else self.misused[name], counts[name])
            shares = pooled.segments[name], pooled.shares[name]
            yield Share(run, part, name, dimensions[name], counts[name], *shares, matches, misuse)


def section(runs: Sequence[Run]) -> Section | None:
    """Actions per run and part, then their shares by tool; None where no tool was used."""
    used = {(row.label, part): one for row in rows(*runs) for part, one in used_of(row).items()}
    if not any(one.kinds for one in used.values()):
        return None
    whole, tools = [], []
    for (label, part), of in used.items():
        first, *by_tool = of.shares(label, part)
        cells = (first.actions, first.of_actions, first.matching, first.misuse, first.malformed)
        whole.append([label, part, *cells, min(of.sizes), max(of.sizes)])
        tools += by_tool
    heads = columns(
        "run", "part", ("actions", "n"), ("tools of all actions", "share"), ("matching", "share", "higher"),
        ("misuse", "share", "lower"), ("malformed", "share", "lower"), ("tools offered", "n, least"),
        ("tools offered", "n, most"),
    )  # fmt: skip
    actions = Sheet("Actions", heads, whole, keys=2)
    heads = columns(
        "run", "part", "tool or category", "dimension", ("actions", "n"), ("of all actions", "share"),
        ("of tool actions", "share"), ("misuse", "share", "lower"),
    )  # fmt: skip
    lines = [
        [one.run, one.part, one.tool, one.dimension, one.actions, one.of_actions, one.of_tool_actions, one.misuse]
        for one in tools
    ]
    intro = (
        "The committed actions are counted. Tools of a category are grouped, others are listed by name; "
        "matching: of the part's own dimension; misuse: the input that the tool takes was missing; malformed: not a "
        "tool that was offered."
    )
    parts = [actions, _map(tools), Sheet("Shares by tool", heads, lines, keys=3)]
    return Section("tools", "Tools", intro, parts)


def write_shares(runs: Sequence[Run], home: Path) -> Path:
    """Write every share into ``tools.csv``. Returns its path."""
    with (home / TABLE).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [one.name for one in fields(Share)], lineterminator="\n")
        writer.writeheader()
        for share in (share for row in rows(*runs) for share in shares_of(row)):
            writer.writerow({k: spreadsheet_text(v) if isinstance(v, str) else v for k, v in asdict(share).items()})
    return home / TABLE


def _map(shares: Sequence[Share]) -> Sheet:
    """Runs and parts against tools: shares of all committed actions; of very many tools the most used."""
    counts = {tool: sum(one.actions for one in of) for tool, of in group_by(shares, lambda one: one.tool).items()}
    tools = sorted(counts, key=lambda tool: -counts[tool])[:_SHOWN]
    rows: list[list[Cell]] = []
    for (run, part), of in group_by(shares, lambda one: (one.run, one.part)).items():
        known = {one.tool: one.of_actions for one in of}
        rows.append([run, part, *(known.get(tool, 0.0) for tool in tools)])
    others = len(counts) - len(tools)
    notes = [f"{others} tools that were used less are in the table below only"] if others else []
    return Sheet("Tools among committed actions", columns("run", "part", *tools), rows, notes, keys=2, shaded=2)


def shares_of(row: Row) -> list[Share]:
    """The shares of a row, per value of its outermost stratum; of all episodes together where it has none."""
    return [share for part, used in used_of(row).items() for share in used.shares(row.label, part)]


def used_of(row: Row) -> dict[str, Used]:
    """The actions of a row per value of its outermost stratum, sorted; without episodes that ended in an error."""
    levels = next(iter(row.first.levels.values()), ())
    parts: dict[str, Used] = {}
    for episode in (episode for run in row.runs for episode in run.steps.episodes):
        part = str(episode.strata.get(levels[-1], ALL)) if levels else ALL
        parts.setdefault(part, Used()).add(episode)
    return {part: parts[part] for part in sorted(parts, key=natural_order)}


def _rate(count: int | None, n: int) -> float | None:
    return None if count is None or not n else count / n
