"""Sections as Markdown; tables as CSV and LaTeX (booktabs), a file each."""

import csv
import io
import re
from collections.abc import Iterator, Sequence

from runner.results.table import ARROWS, Cell, Column, Markup, Section, Sheet, Value, plain, texts_of
from runner.results.table import markdown as table

_FORMULA = ("=", "+", "-", "@")  # a spreadsheet would evaluate a text that begins so
_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "%": r"\%", "#": r"\#", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "[": "{[}", "*": "{*}",  # after a line's end they would belong to it
    "|": r"\textbar{}", '"': "''", "↑": r"$\uparrow$", "↓": r"$\downarrow$",
}  # fmt: skip
_TO = r"\,\mathrm{to}\,"
_WAYS = {"higher": r" $\uparrow$", "lower": r" $\downarrow$", "": ""}


def markdown(title: str, about: str, warnings: Sequence[str], sections: Sequence[Section]) -> str:
    """All tables with their sentences and notes; plots are on the page only."""
    lines = [f"# {_md(title)}", _md(about), *(f"**{_md(text)}**" for text in warnings)]
    for section in sections:
        lines += [f"## {_md(section.title)}", _md(section.intro)]
        for part in section.parts:
            if isinstance(part, Markup):
                lines.append(_md(part.instead))
            elif isinstance(part, Sheet):
                lines += [f"### {_md(part.title)}", _md(part.instead) or markdown_of(part), *map(_md, part.notes)]
    return "\n\n".join(filter(None, lines)) + "\n"


def markdown_of(sheet: Sheet) -> str:
    """A table as Markdown."""
    head = [_md(_head(column)) for column in sheet.columns]
    return table(head, [list(map(_text, row, sheet.columns)) for row in sheet.rows])


def _md(text: str) -> str:
    """A text of one line in which Markdown finds no markup."""
    return re.sub(r"([\\`*\[\]<>]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9]))", r"\\\1", plain(text))


def _head(column: Column) -> str:
    unit = f" ({column.unit})" if column.unit else ""
    return f"{column.name}{unit} {ARROWS[column.better]}".strip()


def _text(cell: Cell, column: Column) -> str:
    text, interval = texts_of(cell, column)
    return (_md(text) if isinstance(cell, str) else text) + (f" ({_md(interval)})" if interval else "")


def sheets(sections: Sequence[Section]) -> Iterator[tuple[str, Sheet]]:
    """Every table with the name of its files: the section's key and the table's title, each name once."""
    seen: set[str] = set()
    for section in sections:
        for sheet in section.sheets:
            slug = re.sub(r"[^a-z0-9]+", "-", sheet.title.lower()).strip("-")[:60].rstrip("-")
            base = name = f"{section.key}-{slug or 'table'}"
            n = 1
            while name in seen:
                n += 1
                name = f"{base}-{n}"
            seen.add(name)
            yield name, sheet


def comma(sheet: Sheet) -> str:
    """A table as CSV, numbers in full; an interval and the number of samples have columns of their own."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    wide = [any(isinstance(row[n], Value) for row in sheet.rows) for n in range(len(sheet.columns))]
    names: list[str] = []
    for column, values in zip(sheet.columns, wide, strict=True):
        name = _inert(f"{column.name} [{column.unit}]" if column.unit else column.name)
        names += [name, f"{name} low", f"{name} high", f"{name} n"] if values else [name]
    writer.writerow(names)
    for row in sheet.rows:
        writer.writerow([part for cell, values in zip(row, wide, strict=True) for part in _exact(cell, values)])
    return out.getvalue()


def _inert(text: str) -> str:
    """A text that a spreadsheet does not take for a formula."""
    text = plain(text)
    return f"'{text}" if text.startswith(_FORMULA) and text != "-" else text


def _exact(cell: Cell, wide: bool) -> list[str | int | float | None]:
    """A cell in full; with interval and n where its column has them."""
    if isinstance(cell, Value):
        both = (cell.no_interval,) * 2 if cell.no_interval else (cell.low, cell.high)
        return [cell.value, *both, cell.n]
    shown = _inert(cell) if isinstance(cell, str) else cell
    return [shown, None, None, None] if wide else [shown]


def latex(sheet: Sheet) -> str:
    """A table as LaTeX, to be included by a document; it needs the package booktabs and no other."""
    shape = "".join("r" if numeric else "l" for numeric in sheet.numeric)
    lines = [
        f"% {plain(sheet.title)}", f"\\begin{{tabular}}{{{shape}}}", r"\toprule",
        " & ".join(map(_tex_head, sheet.columns)) + r" \\", r"\midrule",
        *(" & ".join(map(_tex_cell, row, sheet.columns)) + r" \\" for row in sheet.rows),
        r"\bottomrule", r"\end{tabular}", *(f"% {plain(line)}" for line in sheet.notes),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def tex(text: str) -> str:
    """A text that LaTeX prints as it is."""
    return "".join(_LATEX.get(character, character) for character in plain(text))


def _tex_head(column: Column) -> str:
    unit = f" ({tex(column.unit)})" if column.unit else ""
    return f"{tex(column.name)}{unit}{_WAYS[column.better]}"


def _tex_cell(cell: Cell, column: Column) -> str:
    """A text, or a number with its interval as a subscript."""
    if isinstance(cell, str):
        return tex(cell)
    if cell is None or (isinstance(cell, Value) and cell.value is None):
        return "--"
    number, interval = (text.replace(",", "{,}") for text in texts_of(cell, column))
    if not interval:
        return f"${number}$"
    if isinstance(cell, Value) and cell.no_interval:
        return f"${number}_{{\\,\\mbox{{\\scriptsize {tex(cell.no_interval)}}}}}$"
    return f"${number}_{{\\,{interval.replace(' to ', _TO)}}}$"
