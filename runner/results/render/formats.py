"""Sections as one HTML page and as Markdown; tables as CSV and LaTeX (booktabs), a file each.

The page opens from disk, and no request leaves it. Texts come from data and models: the templates escape all of them,
JSON has no ``<``, and the page's own policy allows only the scripts whose digests it names.
"""

import base64
import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files

import orjson
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup as Html

from runner.results.cells import markdown as table
from runner.results.cells import markdown_text as _md
from runner.results.cells import plain, spreadsheet_text, texts_of
from runner.results.sheets import ARROWS, Cell, Column, Markup, Plot, Section, Sheet, Value

_TEMPLATES = files("runner.results.render").joinpath("templates")
_LONG = 48  # characters from which on a text in a cell is broken into lines
_ESCAPED = {ord(one): f"\\u{ord(one):04x}" for one in "<>&\u2028\u2029"}  # ends or begins something in HTML or a script
_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "%": r"\%", "#": r"\#", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "[": "{[}", "*": "{*}",  # after a line's end they would belong to it
    "|": r"\textbar{}", '"': "''", "↑": r"$\uparrow$", "↓": r"$\downarrow$",
}  # fmt: skip
_TO = r"\,\mathrm{to}\,"


def page(title: str, about: str, warnings: Sequence[str], sections: Sequence[Section]) -> str:
    """The page. ``about`` describes in a line what is reported on, ``warnings`` are above everything else."""
    parts = [part for section in sections for part in section.parts]
    own = [part for part in parts if isinstance(part, Markup)]
    scripts = [asset("page.js"), *dict.fromkeys(part.script for part in own if part.script)]
    if any(isinstance(part, Plot) for part in parts):  # the only bundle of the Python package (4.8 MB)
        scripts.insert(0, files("plotly").joinpath("package_data", "plotly.min.js").read_text(encoding="utf-8"))
    # As a browser reads a script, which no text in it can end.
    scripts = [script.replace("\r\n", "\n").replace("</script", "<\\/script") for script in scripts]
    return _environment().get_template("page.html.jinja").render(
        title=title, about=about, warnings=warnings, sections=sections, scripts=[Html(one) for one in scripts],
        digests=[digest(one) for one in scripts],
        style=Html("\n".join([asset("page.css"), *dict.fromkeys(part.style for part in own if part.style)])),
    )  # fmt: skip


def render(template: str, **values: object) -> str:
    """One of the templates."""
    return _environment().get_template(template).render(**values)


def asset(name: str) -> str:
    """A script or a style of the page."""
    return _TEMPLATES.joinpath(name).read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def _environment() -> Environment:
    made = Environment(
        autoescape=True, loader=FileSystemLoader(str(_TEMPLATES)), undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip

    def json(value: Mapping[str, object]) -> Html:
        return Html(orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY).decode().translate(_ESCAPED))

    made.filters |= {"plain": plain, "json": json}
    made.globals |= {"arrows": ARROWS, "cell": _cell, "kind": lambda part: type(part).__name__}
    return made


def digest(script: str) -> str:
    """The SHA-256 of a script as a content security policy names it."""
    return base64.b64encode(sha256(script.encode()).digest()).decode()


@dataclass(frozen=True)
class _Shown:
    """What the template writes of a cell; it is sorted by ``value``."""

    text: str
    interval: str = ""
    css: str = ""
    value: str = ""
    n: int | None = None


def _cell(cell: Cell, column: Column, right: bool) -> _Shown:
    if isinstance(cell, str):
        return _Shown(plain(cell), css="long" if len(cell) > _LONG else "")
    value = cell if isinstance(cell, Value) else Value(cell)
    if value.value is None:
        return _Shown("-", css=f"{'n ' * right}none")
    return _Shown(*texts_of(value, column), "n" * right, repr(value.value), value.n)


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
    body: list[list[str]] = []
    for row in sheet.rows:
        texts = [texts_of(cell, column) for cell, column in zip(row, sheet.columns, strict=True)]
        body.append([f"{text} ({interval})" if interval else text for text, interval in texts])
    return table([_head(column) for column in sheet.columns], body)


def _head(column: Column) -> str:
    unit = f" ({column.unit})" if column.unit else ""
    return f"{column.name}{unit} {ARROWS[column.better]}".strip()


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
        name = spreadsheet_text(plain(f"{column.name} [{column.unit}]" if column.unit else column.name))
        names += [name, f"{name} low", f"{name} high", f"{name} n"] if values else [name]
    writer.writerow(names)
    for row in sheet.rows:
        line: list[str | int | float | None] = []
        for cell, values in zip(row, wide, strict=True):
            if isinstance(cell, Value):
                ends = (cell.no_interval,) * 2 if cell.no_interval else (cell.low, cell.high)
                line += [cell.value, *ends, cell.n]
            else:
                line += [
                    spreadsheet_text(plain(cell)) if isinstance(cell, str) else cell,
                    *([None] * 3 if values else []),
                ]
        writer.writerow(line)
    return out.getvalue()


def latex(sheet: Sheet) -> str:
    """A table as LaTeX, to be included by a document; it needs the package booktabs and no other."""
    shape = "".join("r" if numeric else "l" for numeric in sheet.numeric)
    lines = [
        f"% {plain(sheet.title)}", f"\\begin{{tabular}}{{{shape}}}", r"\toprule",
        " & ".join(tex(_head(column)) for column in sheet.columns) + r" \\", r"\midrule",
        *(" & ".join(map(_tex_cell, row, sheet.columns)) + r" \\" for row in sheet.rows),
        r"\bottomrule", r"\end{tabular}", *(f"% {plain(line)}" for line in sheet.notes),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def tex(text: str) -> str:
    """A text that LaTeX prints as it is."""
    return "".join(_LATEX.get(character, character) for character in plain(text))


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
