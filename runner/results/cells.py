"""How numbers, the cells of a table and texts of the data are written in every format."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from components.text.words import written_out
from runner.results.sheets import PERCENT, USD, Cell, Column, Value

_FORMULA = tuple("=+-@|%") + tuple("\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}"
                                   "\N{FULLWIDTH HYPHEN-MINUS}\N{FULLWIDTH COMMERCIAL AT}")  # fmt: skip
_MARKUP = re.compile(r"([\\`*\[\]<>|]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9]))")
_FEW = 10  # samples: intervals of fewer have their number next to them
_FORMATS = {USD: ",.4g", "calls": ",.2f", "tokens": ",.0f"}


def number(value: float | int | None) -> str:
    """Four decimals for shares and means, integers for counts, - for unknown values."""
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
    if value.low is None or value.high is None or value.without:
        return value.without
    digits = 1 if unit == PERCENT else 3
    return " to ".join(f"{round(end, digits) + 0.0:,.{digits}f}" for end in (value.low, value.high))  # no minus zero


def interval(metric: Mapping[str, Any]) -> str:
    """``low to high``, or why a metric has no interval; empty for a total."""
    found = metric.get("ci_low"), metric.get("ci_high"), metric.get("n")
    return ends(Value(None, *found, metric.get("no_interval") or ""))


def p_text(p: float | None) -> str:
    """A p value with three decimals."""
    return "-" if p is None else "<0.001" if p < 0.001 else f"{p:.3f}"


def plain(text: str) -> str:
    """A text of the data on one line, without characters that a terminal would obey."""
    text = text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)
    return " ".join(text.split())


def markdown_text(text: str) -> str:
    """A text of one line in which Markdown finds no markup, no HTML and no end of a cell."""
    return _MARKUP.sub(r"\\\1", plain(text))


def spreadsheet_text(text: str) -> str:
    """A cell in which a spreadsheet finds no formula and no control character."""
    text = written_out(text)
    return f"'{text}" if text.lstrip().startswith(_FORMULA) and text != "-" else text


def times(n: int) -> str:
    """How often, in words."""
    return "once" if n == 1 else f"{n} times"


def markdown(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """A Markdown table of texts that are not markup."""
    lines = [[markdown_text(cell) for cell in line] for line in (head, ["---"] * len(head), *body)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def texts_of(cell: Cell, column: Column) -> tuple[str, str]:
    """A cell, and its interval or why it has none; empty for a cell without."""
    if isinstance(cell, str):
        return cell, ""
    if not isinstance(cell, Value):
        return figure(cell, column.unit, column.signed), ""
    few = f", n = {cell.n}" if cell.n and cell.n < _FEW and cell.low is not None and not cell.without else ""
    return figure(cell.value, column.unit, column.signed), ends(cell, column.unit) + few
