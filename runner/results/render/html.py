"""Sections as one HTML page that opens from disk: no request leaves it.

Texts come from data and models: the templates escape all of them, JSON has no ``<``, and the page's own policy allows
only the scripts whose digests it names.
"""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files

import orjson
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup as Html

from runner.results.table import ARROWS, Cell, Column, Markup, Plot, Section, Value, plain, texts_of

_TEMPLATES = files("runner.results.render").joinpath("templates")
_LONG = 48  # characters from which on a text in a cell is broken into lines
_ESCAPED = {ord(one): f"\\u{ord(one):04x}" for one in "<>&\u2028\u2029"}  # ends or begins something in HTML or a script


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
    made.filters |= {"plain": plain, "json": _json}
    made.globals |= {"arrows": ARROWS, "cell": _cell, "kind": lambda part: type(part).__name__}
    return made


def digest(script: str) -> str:
    """The SHA-256 of a script as a content security policy names it."""
    return base64.b64encode(sha256(script.encode()).digest()).decode()


def _json(value: Mapping[str, object]) -> Html:
    return Html(orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY).decode().translate(_ESCAPED))


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
