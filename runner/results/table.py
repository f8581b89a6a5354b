"""What a report is made of before a format is chosen, sections of sheets (tables) and plots; how numbers are written in
every format; and tables on the terminal.

A section is made by a file in ``runner.results.sections``; ``runner.results.render`` writes it as Markdown, CSV, LaTeX
and HTML.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from shutil import get_terminal_size
from textwrap import fill
from typing import Any, TypeAlias

from runner.results.intervals import Metric, MetricJSON
from runner.results.kinds import Better

_WIDE, _TEXT = 140, 110  # characters of a line where no terminal is there to ask; of a line of text
_GAP = 3  # characters between columns
ARROWS: dict[Better, str] = {"higher": "\N{UPWARDS ARROW}", "lower": "\N{DOWNWARDS ARROW}", "": ""}
PERCENT, USD = "%", "USD"
_FORMATS = {USD: ",.4g", "calls": ",.2f", "tokens": ",.0f"}


@dataclass(frozen=True)
class Column:
    """A column. ``better``: in which direction its numbers improve, empty where neither is better; ``signed``: its
    numbers are differences and have a sign."""

    name: str
    unit: str = ""
    better: Better = ""
    signed: bool = False


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
    """A number with its 95 % interval and n, as far as they are known; ``no_interval``: why it has none."""

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    no_interval: str = ""

    @classmethod
    def of(cls, metric: Metric, scale: float = 1.0) -> "Value | None":
        """A metric in another unit; None where it has no value."""
        if metric.value is None:
            return None
        low, high = (None if end is None else end * scale for end in (metric.ci_low, metric.ci_high))
        return cls(metric.value * scale, low, high, metric.n, metric.no_interval or "")

    @classmethod
    def stored(cls, metric: MetricJSON | None) -> "Value | None":
        """A metric as ``metrics.json`` has it; None for one without a value."""
        if metric is None or (value := metric.get("value")) is None:
            return None
        ends = metric.get("ci_low"), metric.get("ci_high"), metric.get("n")
        return cls(value, *ends, metric.get("no_interval") or "")


Cell: TypeAlias = str | int | float | Value | None


@dataclass(frozen=True)
class Sheet:
    """A table: a row has a cell per column. ``notes`` are lines below it; ``keys``: the number of first columns that
    identify a row; ``instead``: what Markdown has in place of a table that is too long for it."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = field(default=())
    keys: int = 1
    instead: str = ""

    @property
    def numeric(self) -> list[bool]:
        """Which columns have no texts: they are aligned on the right."""
        return [all(not isinstance(row[n], str) for row in self.rows) for n in range(len(self.columns))]


@dataclass(frozen=True)
class Plot:
    """A plot as Plotly's JSON: ``data`` and ``layout``. Axes name what they show, with its unit and direction."""

    title: str
    figure: Mapping[str, Any]
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


def number(value: float | int | None) -> str:
    """Four decimals for shares and means, whole counts as they are, - for what is not known."""
    if value is None:
        return "-"
    if isinstance(value, int) or (value == int(value) and abs(value) >= 1000):
        return f"{int(value):,}"
    return f"{value:.4f}" if abs(value) < 100 else f"{value:,.1f}"


def figure(value: float | None, unit: str = "", signed: bool = False) -> str:
    """A number in its unit: percentages and calls with two decimals, dollars with four significant digits."""
    if value is None:
        return "-"
    if unit == PERCENT:
        text = f"{value + 1e-9:.2f}"  # a five in the third place is rounded up, as publications do
    elif unit in _FORMATS and isinstance(value, float) and abs(value) < 1e6:
        text = format(value, _FORMATS[unit])
    else:
        text = number(round(value, 4) + 0.0 if signed else value)
    return f"+{text}" if signed and not text.startswith("-") else text


def ends(value: Value, unit: str = "") -> str:
    """``low to high``, or why there is no interval; percentages with one decimal, others with three."""
    if value.low is None or value.high is None:
        return value.no_interval
    digits = 1 if unit == PERCENT else 3
    return " to ".join(f"{round(end, digits) + 0.0:,.{digits}f}" for end in (value.low, value.high))  # no minus zero


def interval(metric: Mapping[str, Any]) -> str:
    """``low to high``, or why a metric has no interval; empty for a total."""
    return ends(Value(None, metric.get("ci_low"), metric.get("ci_high"), None, metric.get("no_interval") or ""))


def p_text(p: float | None) -> str:
    """A p value with three decimals."""
    return "-" if p is None else "<0.001" if p < 0.001 else f"{p:.3f}"


def plain(text: str) -> str:
    """A text of the data on one line, without characters that a terminal would obey."""
    text = text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)
    return " ".join(text.split())


def times(n: int) -> str:
    """How often, in words."""
    return "once" if n == 1 else f"{n} times"


def markdown(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """A Markdown table; pipes in cells are escaped, control characters and line breaks are blanks."""
    lines = [[plain(cell) for cell in line] for line in (head, ["---"] * len(head), *body)]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def show_section(section: Section) -> None:
    """Print the tables of a section, then the sentences that explain them."""
    for sheet in section.sheets:
        show_sheet(sheet)
    if section.intro:
        show_text(section.intro)


def show_sheet(sheet: Sheet) -> None:
    """Print a table and its notes; columns without any content are left out."""
    if sheet.rows:
        places = range(len(sheet.columns))
        kept = [n for n in places if n < sheet.keys or any(row[n] not in ("", None) for row in sheet.rows)]
        heads = [f"{one.name} {ARROWS[one.better]}".strip() + f"\n{one.unit}" * bool(one.unit) for one in sheet.columns]
        body = [["\n".join(filter(None, texts_of(row[n], sheet.columns[n]))) for n in kept] for row in sheet.rows]
        show([heads[n] for n in kept], body, sheet.title, sheet.keys)
    else:
        print(plain(sheet.title))  # noqa: T201
    for line in sheet.notes:
        show_text(line)


def show_text(text: str) -> None:
    """Print a text in lines of a readable length."""
    room = min(_TEXT, get_terminal_size((_TEXT, 0)).columns)
    print(fill(plain(text), room, break_long_words=False, break_on_hyphens=False))  # noqa: T201


def texts_of(cell: Cell, column: Column) -> tuple[str, str]:
    """A cell, and its interval or why it has none; empty for a cell without."""
    if isinstance(cell, str):
        return cell, ""
    if not isinstance(cell, Value):
        return figure(cell, column.unit, column.signed), ""
    return figure(cell.value, column.unit, column.signed), ends(cell, column.unit)


def show(head: Sequence[str], body: Sequence[Sequence[str]], title: str, keys: int = 1) -> None:
    """Print a table, as several where it is too wide, each with the first ``keys`` columns: nothing is cut. Rows are
    grouped by what is before the first slash of their name."""
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console()
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _WIDE
    with console.capture() as output:  # rich takes a closed pipe for a failure
        if title:  # may be wider than its table
            console.print(plain(title), style="italic", markup=False, highlight=False, soft_wrap=True)
        for places in fitting(head, body, console.width, keys):
            table = Table(*(escape(_printable(head[place])) for place in places), box=box.SIMPLE_HEAD)
            for place, column, width in zip(places, table.columns, _widths(head, body, places), strict=True):
                most = _most(place, console.width, keys)
                column.overflow, column.no_wrap, column.max_width = "fold", width <= most, most
            for column in table.columns[keys:]:
                column.justify = "right"
            group = ""
            for row in body:
                if group and "/" in row[0] and row[0].partition("/")[0] != group:
                    table.add_section()
                group = row[0].partition("/")[0]
                table.add_row(*(escape(_printable(row[place])) for place in places))
            console.print(table)
    print(output.get(), end="")  # noqa: T201


def _printable(cell: str) -> str:
    """A cell without characters that a terminal would obey; its line breaks stay."""
    return cell if cell.isprintable() else "\n".join(plain(line) for line in cell.split("\n"))


def fitting(head: Sequence[str], body: Sequence[Sequence[str]], room: int, keys: int = 1) -> list[list[int]]:
    """The columns of each table that a table has to be split into, the first ``keys`` in all; what is wider than half
    of the room, and of several keys what is wider than its share, is folded."""
    widths = _widths(head, body, range(len(head)))
    widths = [min(width, _most(place, room, keys)) + _GAP for place, width in enumerate(widths)]
    parts: list[list[int]] = []
    for place in range(keys, len(head)):
        if not parts or sum(widths[other] for other in (*parts[-1], place)) >= room:
            parts.append(list(range(keys)))
        parts[-1].append(place)
    return parts or [list(range(keys))]


def _most(place: int, room: int, keys: int) -> int:
    return room // (keys + 1) if place < keys else room // 2


def _widths(head: Sequence[str], body: Sequence[Sequence[str]], places: Sequence[int]) -> list[int]:
    from rich.cells import cell_len

    return [max(cell_len(part) for row in (head, *body) for part in row[place].split("\n")) for place in places]
