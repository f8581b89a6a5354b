"""Sections as one HTML page and as Markdown; tables as CSV and LaTeX (booktabs), a file each.

The page opens from disk, and no request leaves it. Texts come from data and models: the templates escape all of them,
JSON has no ``<``, and the page's own policy allows only the scripts whose digests it names.
"""

import base64
import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from hashlib import sha256
from importlib import resources

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup as Html
from markupsafe import escape

from runner.results.cells import markdown as table
from runner.results.cells import markdown_text as _md
from runner.results.cells import plain, spreadsheet_text, texts_of
from runner.results.sheets import ARROWS, Cell, Column, Markup, Section, Sheet, Value

_TEMPLATES = resources.files("runner.results.render").joinpath("templates")
TABLES = "tables"  # the folder of their files, next to the page
_LONG = 32  # characters from which on a text in a cell is broken into lines
_ROWS = 200  # of a table on the page
_SHADES = 11
_LATEX = str.maketrans({
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "%": r"\%", "#": r"\#", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "[": "{[}", "*": "{*}",  # after a line's end they would belong to it
    "|": r"\textbar{}", '"': "''", "↑": r"$\uparrow$", "↓": r"$\downarrow$",
})  # fmt: skip
_JOINT = re.compile(r"(?<=[A-Za-z0-9][/_=+:.])(?=[A-Za-z])")
_ENDLESS = re.compile(r"(\w{20})(?=\w{6})")
Scale = tuple[float, float]
_TO = r"\,\mathrm{to}\,"


def page(
    title: str, about: str, warnings: Sequence[str], sections: Sequence[Section], scores: Sequence[str] = ()
) -> str:
    """The page. ``about`` describes in a line what is reported on, ``warnings`` are above everything else, ``scores``
    can be hidden. Of a long table it has the beginning and names the file of the whole."""
    parts = [part for section in sections for part in section.parts]
    own = [part for part in parts if isinstance(part, Markup)]
    scripts = [asset("page.js"), *dict.fromkeys(part.script for part in own if part.script)]
    # As a browser reads a script, which no text in it can end.
    scripts = [script.replace("\r\n", "\n").replace("</script", "<\\/script") for script in scripts]
    files = {id(sheet): f"{TABLES}/{name}.csv" for name, sheet in sheets(sections)}
    return _environment().get_template("page.html.jinja").render(
        title=title, about=about, warnings=warnings, sections=sections, scripts=[Html(one) for one in scripts],
        digests=[digest(one) for one in scripts], files=files,
        scores=[name for name in scores if len(scores) > 1], score_of=partial(_score_of, scores), most=_ROWS,
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

    made.filters |= {"plain": plain, "id": id, "breakable": _breakable}
    made.globals |= {"arrows": ARROWS, "cell": _cell, "kind": lambda part: type(part).__name__, "shades": _shades}
    made.globals["steps"] = range(_SHADES)
    return made


def _breakable(text: str, endless: bool = False) -> Html:
    """A text of one line that may be broken after the marks that join the words of a name, and, as a column would be as
    wide, within ``endless`` words."""
    found = _JOINT.sub("<wbr>", escape(plain(text)))
    return Html(_ENDLESS.sub(r"\1<wbr>", found) if endless else found)


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
    link: str = ""


def _cell(cell: Cell, column: Column, right: bool, scale: Scale | None) -> _Shown:
    """A cell; with a ``scale`` it has the colour of its value there."""
    if isinstance(cell, str):
        return _Shown(plain(cell), css="long" if len(cell) > _LONG else "")
    value = cell if isinstance(cell, Value) else Value(cell)
    if value.value is None:
        return _Shown("?" if value.link else "-", css=f"{'n ' * right}{'gone' if scale else 'none'}", link=value.link)
    css = "n" * right
    if scale:
        low, high = scale
        css += f" h{round((value.value - low) / (high - low) * (_SHADES - 1)) if high > low else _SHADES // 2}"
    text, interval = texts_of(value, column)
    return _Shown(text, interval.replace(" = ", "\xa0=\xa0"), css.strip(), repr(value.value), value.n, value.link)


def _shades(sheet: Sheet) -> list[Scale | None]:
    """Of each row the ends of its colours: those of the score in its first cell, of a table without scores in rows of
    all; 0 and 1 where no value is beyond them."""
    if sheet.shaded is None:
        return [None] * len(sheet.rows)
    names = [str(row[0]) if sheet.keys > 1 else "" for row in sheet.rows]
    values: dict[str, list[float]] = {name: [] for name in names}
    for name, row in zip(names, sheet.rows, strict=True):
        numbers = [one.value if isinstance(one, Value) else one for one in row[sheet.shaded :]]
        values[name] += [one for one in numbers if isinstance(one, int | float)]
    ends = {
        name: (min([0.0, *of]), max([1.0, *of])) if max(of, default=0.0) <= 1.0 else (min(of), max(of))
        for name, of in values.items()
    }
    return [ends[name] for name in names]


def _score_of(scores: Sequence[str], text: object) -> str:
    """The score that a head, a title or the first cell of a row names; empty for others."""
    name = plain(str(text))
    return max((one for one in scores if name == one or name.startswith(f"{one} ")), key=len, default="")


def markdown(title: str, about: str, warnings: Sequence[str], sections: Sequence[Section]) -> str:
    """All tables with their sentences and notes; plots are on the page only."""
    lines = [f"# {_md(title)}", _md(about), *(f"**{_md(text)}**" for text in warnings)]
    for section in sections:
        lines += [f"## {_md(section.title)}", _md(section.intro)]
        for part in section.parts:
            if isinstance(part, Markup):
                lines.append(_md(part.instead))
            elif isinstance(part, Sheet):
                lines += [f"### {_md(part.title)}", _md(part.instead) or markdown_of(part), *map(_md, part.lines)]
    return "\n\n".join(filter(None, lines)) + "\n"


def markdown_of(sheet: Sheet) -> str:
    """A table as Markdown."""
    body: list[list[str]] = []
    for row in sheet.rows:
        texts = [texts_of(cell, column) for cell, column in zip(row, sheet.columns, strict=True)]
        body.append([f"{text} ({interval})" if interval else text for text, interval in texts])
    return table([_head(column) for column in sheet.columns], body)


def _head(column: Column) -> str:
    unit = f" ({column.named_unit})" if column.named_unit else ""
    return f"{column.name}{unit} {ARROWS[column.better]}".strip()


def sheets(sections: Iterable[Section]) -> Iterator[tuple[str, Sheet]]:
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
    texts = [_tex_column([row[n] for row in sheet.rows], column) for n, column in enumerate(sheet.columns)]
    lines = [
        f"% {plain(sheet.title)}", f"\\begin{{tabular}}{{{shape}}}", r"\toprule",
        " & ".join(tex(_head(column)) for column in sheet.columns) + r" \\", r"\midrule",
        *(" & ".join(line) + r" \\" for line in zip(*texts, strict=True)),
        r"\bottomrule", r"\end{tabular}", *(f"% {plain(line)}" for line in sheet.lines),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def tex(text: str) -> str:
    """A text that LaTeX prints as it is."""
    return plain(text).translate(_LATEX)


def _tex_column(cells: Sequence[Cell], column: Column) -> list[str]:
    """The texts of a column; a cell that many rows share is written once."""
    texts = {place: _tex_cell(cell, column) for place, cell in {id(cell): cell for cell in cells}.items()}
    return [texts[id(cell)] for cell in cells]


def _tex_cell(cell: Cell, column: Column) -> str:
    """A text, or a number with its interval as a subscript."""
    if isinstance(cell, str):
        return tex(cell)
    if cell is None or (isinstance(cell, Value) and cell.value is None):
        return "--"
    number, interval = (text.replace(",", "{,}") for text in texts_of(cell, column))
    if not interval:
        return f"${number}$"
    if isinstance(cell, Value) and cell.without:
        return f"${number}_{{\\,\\mbox{{\\scriptsize {tex(cell.without)}}}}}$"
    return f"${number}_{{\\,{interval.replace(' to ', _TO)}}}$"
