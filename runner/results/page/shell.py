"""Sections as one HTML page that stands alone: no request leaves it, and it opens from disk.

Texts come from data and models: markupsafe escapes all of them, JSON has no ``<``, and the page's own policy lets the
scripts run whose digests it names, and no other.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from hashlib import sha256
from importlib.resources import files

import orjson
from markupsafe import Markup as Html
from markupsafe import escape

from runner.results.directions import ARROWS
from runner.results.page.parts import Cell, Column, Markup, Plot, Section, Sheet, Value
from runner.results.table import number, plain

_HERE = "runner.results.page"
PERCENT = "%"
_LONG = 48  # characters from which on a text in a cell is broken into lines
_POLICY = (
    "default-src 'none'; script-src {}; style-src 'unsafe-inline'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'"
)
_ESCAPED = {ord(one): f"\\u{ord(one):04x}" for one in "<>&\u2028\u2029"}  # ends or begins something in HTML or a script
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<nav><strong>{title}</strong>{links}<button type="button" id="theme">Light or dark</button></nav>
<main>
<h1>{title}</h1>
<p class="about">{about}</p>
{warnings}
{sections}
</main>
{scripts}
</body>
</html>
"""


def page(title: str, about: str, warnings: Sequence[str], sections: Sequence[Section]) -> str:
    """The page. ``about`` says in a line what is reported on, ``warnings`` stand above everything else."""
    title = plain(title)
    parts = [part for section in sections for part in section.parts]
    own = [part for part in parts if isinstance(part, Markup)]
    scripts = [_asset("page.js"), *dict.fromkeys(part.script for part in own if part.script)]
    if any(isinstance(part, Plot) for part in parts):
        scripts.insert(0, plotly())
    scripts = [_closed(script) for script in scripts]
    style = "\n".join([_asset("page.css"), *dict.fromkeys(part.style for part in own if part.style)])
    links = Html("").join(Html('<a href="#{}">{}</a>').format(one.key, plain(one.title)) for one in sections)
    return _PAGE.format(  # of megabytes: joined as plain texts, since markup copies what it joins several times
        policy=_POLICY.format(" ".join(f"'sha256-{_digest(script)}'" for script in scripts)),
        title=escape(title),
        about=escape(plain(about)),
        style=style,
        links=links,
        warnings="".join(Html('<p class="warning">{}</p>').format(plain(text)) for text in warnings),
        sections="\n".join(_section(one) for one in sections),
        scripts="\n".join(f"<script>{script}</script>" for script in scripts),
    )


def plotly() -> str:
    """Plotly's script as the Python package brings it, the only bundle in it (4.8 MB)."""
    return files("plotly").joinpath("package_data", "plotly.min.js").read_text(encoding="utf-8")


def _asset(name: str) -> str:
    return files(_HERE).joinpath(name).read_text(encoding="utf-8")


def _closed(script: str) -> str:
    """A script as a browser reads it, which no text in it can end."""
    return script.replace("\r\n", "\n").replace("</script", "<\\/script")


def _digest(script: str) -> str:
    return base64.b64encode(sha256(script.encode()).digest()).decode()


def _section(section: Section) -> Html:
    parts = Html("\n").join(_part(part, f"{section.key}-{n}") for n, part in enumerate(section.parts, 1))
    return Html('<section id="{}"><h2>{}</h2><p class="intro">{}</p>\n{}</section>').format(
        section.key, plain(section.title), plain(section.intro), parts
    )


def _part(part: Sheet | Plot | Markup, key: str) -> Html:
    if isinstance(part, Markup):
        return Html(part.html)
    body = _table(part) if isinstance(part, Sheet) else _drawn(part, key)
    below = Html("").join(Html('<p class="below">{}</p>').format(plain(line)) for line in part.below)
    return Html("<figure><figcaption>{}</figcaption>{}{}</figure>").format(plain(part.title), body, below)


def _table(sheet: Sheet) -> Html:
    """A table that sorts by a click on a head; it scrolls in itself where it is wide."""
    numeric = [all(not isinstance(row[n], str) for row in sheet.rows) for n in range(len(sheet.columns))]
    head = Html("").join(_head(column, right) for column, right in zip(sheet.columns, numeric, strict=True))
    units = [column.unit for column in sheet.columns]
    rows = "\n".join(f"<tr>{''.join(map(_cell, row, units, numeric))}</tr>" for row in sheet.rows)
    return Html('<div class="wide"><table><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>').format(
        head, Html(rows)
    )


def _head(column: Column, right: bool) -> Html:
    """A column's head: name, arrow of the better direction, unit."""
    way = Html("")
    if column.better:
        way = Html('&nbsp;<span class="way" title="{0} is better" aria-label="{0} is better">{1}</span>')
        way = way.format(column.better, ARROWS[column.better])
    unit = Html("<small>{}</small>").format(plain(column.unit)) if column.unit else Html("")
    kind = Html(' class="n"') if right else Html("")
    return Html('<th scope="col"{}><button type="button">{}{}{}</button></th>').format(
        kind, plain(column.name), way, unit
    )


def _cell(cell: Cell, unit: str, right: bool = True) -> str:
    """A cell; what it is sorted by stands beside what is read. Of texts there are only escaped ones and numbers; those
    of a column that has texts, too, stand on its left."""
    if isinstance(cell, str):
        kind = ' class="long"' if len(cell) > _LONG else ""
        return f"<td{kind}>{escape(plain(cell))}</td>"
    value = cell.value if isinstance(cell, Value) else cell
    if value is None:
        return f'<td class="{"n " * right}none">-</td>'
    told = tip = ""
    if isinstance(cell, Value):
        if cell.low is not None and cell.high is not None:
            told = f" <small>{' to '.join(ends(cell, unit))}</small>"
        elif cell.no_interval:
            told = f" <small>{escape(cell.no_interval)}</small>"
        if cell.n is not None:
            tip = f' title="n = {cell.n:,}"'
    return f'<td class="{"n" * right}" data-v="{value!r}"{tip}>{figure(value, unit)}{told}</td>'


def figure(value: float | None, unit: str) -> str:
    """A number as it is read: percents to two places, others as everywhere."""
    return f"{value:.2f}" if value is not None and unit == PERCENT else number(value)


def ends(value: Value, unit: str) -> tuple[str, str]:
    """Both ends of an interval: percents to one place, others to three."""
    digits = 1 if unit == PERCENT else 3
    low, high = (f"{round(end or 0.0, digits) + 0.0:,.{digits}f}" for end in (value.low, value.high))  # no minus zero
    return low, high


def _drawn(plot: Plot, key: str) -> Html:
    """A plot's place, which the script fills when it comes into view, and its JSON."""
    told = orjson.dumps(plot.figure, option=orjson.OPT_SERIALIZE_NUMPY).decode().translate(_ESCAPED)
    height = int(plot.figure.get("layout", {}).get("height", 420))
    place = Html('<div class="plot" data-of="{0}" style="height:{1}px"></div>').format(f"plot-{key}", height)
    return place + Html('<script type="application/json" id="{}">{}</script>').format(f"plot-{key}", Html(told))
