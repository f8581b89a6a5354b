"""What a report is made of before a format is chosen: sections of sheets (tables) and plots.

A section is made by a file in ``runner.results.sections``; ``runner.results.render`` writes it on the terminal and as
Markdown, CSV, LaTeX and HTML.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from runner.results.intervals import TOO_SMALL, Metric, MetricJSON
from runner.results.kinds import Better

ARROWS: dict[Better, str] = {"higher": "\N{UPWARDS ARROW}", "lower": "\N{DOWNWARDS ARROW}", "": ""}
PERCENT, USD = "%", "USD"
_FEWEST = 4  # samples; an interval of fewer spans more than half of the values, whatever the samples say
_LEGEND = (
    f"{TOO_SMALL}: fewer samples or patients than the interval needs: at least {_FEWEST} samples of 2 patients, for "
    "some scores more"
)


@dataclass(frozen=True)
class Column:
    """A column. ``better``: in which direction its numbers improve, empty where neither is better; ``signed``: its
    numbers are differences and have a sign."""

    name: str
    unit: str = ""
    better: Better = ""
    signed: bool = False

    @property
    def named_unit(self) -> str:
        """The unit, empty where it is the name."""
        return "" if self.unit == self.name else self.unit


def columns(*heads: Column | str | tuple[str, str] | tuple[str, str, Better]) -> list[Column]:
    """Columns by their names, or by name and unit, or by name, unit and direction."""
    made = []
    for head in heads:
        if isinstance(head, tuple):
            head = Column(head[0], head[1], head[2] if len(head) == 3 else "")
        made.append(Column(head) if isinstance(head, str) else head)
    return made


@dataclass(frozen=True)
class Value:
    """A number with its 95 % interval and n, as far as they are known; ``no_interval``: why it has none; ``link``: the
    episode on the page that it is about."""

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    no_interval: str = ""
    link: str = ""

    @property
    def without(self) -> str:
        """Why tables and plots show no interval: there is none, or it is of fewer than four samples."""
        few = self.low is not None and self.n is not None and self.n < _FEWEST
        return TOO_SMALL if few else self.no_interval

    @classmethod
    def of(cls, metric: Metric, scale: float = 1.0) -> "Value | None":
        """A metric in another unit; None where it has no value."""
        if metric.value is None:
            return None
        low, high = (None if end is None else end * scale for end in (metric.ci_low, metric.ci_high))
        return cls(metric.value * scale, low, high, metric.n, metric.no_interval or "")

    @classmethod
    def from_json(cls, metric: MetricJSON | None) -> "Value | None":
        """A metric as ``metrics.json`` has it; None for one without a value."""
        if metric is None or (value := metric.get("value")) is None:
            return None
        ends = metric.get("ci_low"), metric.get("ci_high"), metric.get("n")
        return cls(value, *ends, metric.get("no_interval") or "")


Cell: TypeAlias = str | int | float | Value | None


def longer_down(
    lines: Mapping[str, Sequence[Cell]], across: Sequence[str], named: tuple[str, str], better: Better = ""
) -> tuple[list[Column], list[list[Cell]]]:
    """Columns and rows of a table of ``lines`` (name -> cells) with the more numerous names downwards, as a page is
    longer than wide; lines without any cell are left out. ``named``: what the names of lines are, and those
    ``across``; ``better``: of the cells."""
    filled = {name: cells for name, cells in lines.items() if any(cell is not None for cell in cells)}
    rows: list[list[Cell]] = [[name, *cells] for name, cells in filled.items()]
    first, heads = named[0], list(across)
    if len(across) >= len(lines):
        rows = [[name, *cells] for name, *cells in zip(across, *filled.values(), strict=True)]
        first, heads = named[1], list(filled)
    return [Column(first), *(Column(name, "", better) for name in heads)], rows


@dataclass(frozen=True)
class Sheet:
    """A table: a row has a cell per column. ``notes`` are lines below it; ``keys``: the number of first columns that
    identify a row; ``instead``: what Markdown has in place of a table that is too long for it; ``shaded``: from this
    column on the page colours the numbers, as in a heat map, each score of its own scale."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = field(default=())
    keys: int = 1
    instead: str = ""
    shaded: int | None = None

    @property
    def lines(self) -> list[str]:
        """The notes, and what an interval that is missing means."""
        cells = (cell.without if isinstance(cell, Value) else cell for row in self.rows for cell in row)
        return [*self.notes, *([_LEGEND] if TOO_SMALL in cells else [])]

    @property
    def numeric(self) -> list[bool]:
        """Which columns have no texts: they are aligned on the right."""
        return [all(not isinstance(row[n], str) for row in self.rows) for n in range(len(self.columns))]


@dataclass(frozen=True)
class Plot:
    """A plot as SVG (``runner.results.render.figures``). Axes name what they show, with its unit and direction."""

    title: str
    svg: str
    notes: Sequence[str] = field(default=())


@dataclass(frozen=True)
class Markup:
    """HTML, its texts escaped already, with script and style. Only the page has it: other formats have ``instead``."""

    html: str
    script: str = ""
    style: str = ""
    instead: str = ""


@dataclass(frozen=True)
class Section:
    """A part of the report. ``key`` is a short name of letters and dashes: its anchor, command and the prefix of its
    files. ``intro``: sentences that explain its tables."""

    key: str
    title: str
    intro: str
    parts: Sequence[Sheet | Plot | Markup]

    @property
    def sheets(self) -> list[Sheet]:
        """Its tables."""
        return [part for part in self.parts if isinstance(part, Sheet)]
