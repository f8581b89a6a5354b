"""The same sections as Markdown, CSV (a file per table) and LaTeX (booktabs, a file per table)."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence

from runner.results.directions import ARROWS
from runner.results.page.parts import Cell, Column, Markup, Section, Sheet, Value
from runner.results.page.shell import ends, figure
from runner.results.table import markdown as table
from runner.results.table import plain

_FORMULA = ("=", "+", "-", "@")  # a spreadsheet would work out a text that begins so
_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "%": r"\%", "#": r"\#", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "[": "{[}", "*": "{*}",  # after a line's end they would belong to it
    "|": r"\textbar{}", '"': "''", "↑": r"$\uparrow$", "↓": r"$\downarrow$",
}  # fmt: skip
_WAYS = {"higher": r" $\uparrow$", "lower": r" $\downarrow$", "": ""}


def markdown(title: str, about: str, warnings: Sequence[str], sections: Sequence[Section]) -> str:
    """All tables, with what is said above and below them; plots are on the page only."""
    lines = [f"# {_md(title)}", _md(about), *(f"**{_md(text)}**" for text in warnings)]
    for section in sections:
        lines += [f"## {_md(section.title)}", _md(section.intro)]
        for part in section.parts:
            if isinstance(part, Markup):
                lines += [_md(part.instead)] if part.instead else []
            elif isinstance(part, Sheet):
                lines += [
                    f"### {_md(part.title)}",
                    _md(part.instead) or _table(part),
                    *(_md(line) for line in part.below),
                ]
    return "\n\n".join(lines) + "\n"


def sheets(sections: Sequence[Section]) -> Iterator[tuple[str, Sheet]]:
    """Every table with the name of its files: the section's key and the table's title, each name once."""
    seen: set[str] = set()
    for section in sections:
        for part in section.parts:
            if isinstance(part, Sheet):
                slug = re.sub(r"[^a-z0-9]+", "-", part.title.lower()).strip("-")[:60].rstrip("-")
                base = name = f"{section.key}-{slug or 'table'}"
                n = 1
                while name in seen:
                    n += 1
                    name = f"{base}-{n}"
                seen.add(name)
                yield name, part


def comma(sheet: Sheet) -> str:
    """A table as CSV, numbers in full; an interval and the samples behind it have columns of their own."""
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


def latex(sheet: Sheet) -> str:
    """A table as LaTeX, for a document to take in; it needs the package booktabs and no other."""
    right = [all(not isinstance(row[n], str) for row in sheet.rows) for n in range(len(sheet.columns))]
    shape = "".join("r" if one else "l" for one in right)
    lines = [
        f"% {plain(sheet.title)}", f"\\begin{{tabular}}{{{shape}}}", r"\toprule",
        " & ".join(map(_head, sheet.columns)) + r" \\", r"\midrule",
        *(" & ".join(map(_tex_cell, row, _units(sheet))) + r" \\" for row in sheet.rows),
        r"\bottomrule", r"\end{tabular}", *(f"% {plain(line)}" for line in sheet.below),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def tex(text: str) -> str:
    """A text that LaTeX prints as it is."""
    return "".join(_LATEX.get(character, character) for character in plain(text))


def _md(text: str) -> str:
    """A text of one line that Markdown takes for nothing else."""
    return re.sub(r"([\\`*_\[\]<>])", r"\\\1", plain(text))


def _table(sheet: Sheet) -> str:
    head = [_md(_named(column)) for column in sheet.columns]
    return table(head, [list(map(_read, row, _units(sheet))) for row in sheet.rows])


def _named(column: Column) -> str:
    """Name, unit and arrow of a column."""
    unit = f" ({column.unit})" if column.unit else ""
    return f"{column.name}{unit} {ARROWS[column.better]}".strip()


def _units(sheet: Sheet) -> list[str]:
    return [column.unit for column in sheet.columns]


def _read(cell: Cell, unit: str) -> str:
    """A text, or a number with its interval where there is one."""
    if isinstance(cell, str):
        return _md(cell)
    if not isinstance(cell, Value):
        return figure(cell, unit)
    told = figure(cell.value, unit)
    if cell.low is None or cell.high is None:
        return f"{told} ({_md(cell.no_interval)})" if cell.no_interval else told
    return f"{told} ({' to '.join(ends(cell, unit))})"


def _inert(text: str) -> str:
    """A text that no spreadsheet takes for a formula."""
    text = plain(text)
    return f"'{text}" if text.startswith(_FORMULA) and text != "-" else text


def _exact(cell: Cell, wide: bool) -> list[str | int | float | None]:
    """A cell in full; with interval and n where its column has them."""
    if isinstance(cell, Value):
        ends = (cell.no_interval,) * 2 if cell.no_interval else (cell.low, cell.high)
        return [cell.value, *ends, cell.n]
    told = _inert(cell) if isinstance(cell, str) else cell
    return [told, None, None, None] if wide else [told]


def _head(column: Column) -> str:
    unit = f" ({tex(column.unit)})" if column.unit else ""
    return f"{tex(column.name)}{unit}{_WAYS[column.better]}"


def _tex_cell(cell: Cell, unit: str) -> str:
    """A text, or a number with its interval as a subscript."""
    if isinstance(cell, str):
        return tex(cell)
    value = cell.value if isinstance(cell, Value) else cell
    if value is None:
        return "--"
    told = figure(value, unit).replace(",", "{,}")
    if isinstance(cell, Value) and cell.low is not None and cell.high is not None:
        low, high = (end.replace(",", "{,}") for end in ends(cell, unit))
        return f"${told}_{{\\,{low}\\,\\mathrm{{to}}\\,{high}}}$"
    if isinstance(cell, Value) and cell.no_interval:
        return f"${told}_{{\\,\\mbox{{\\scriptsize {tex(cell.no_interval)}}}}}$"
    return f"${told}$"
