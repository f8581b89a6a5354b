"""What a report is made of, before it is known in which format it is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Better = Literal["higher", "lower", ""]


@dataclass(frozen=True)
class Column:
    """A column. ``better``: in which direction its numbers improve, empty where none does."""

    name: str
    unit: str = ""
    better: Better = ""


@dataclass(frozen=True)
class Value:
    """A number with its 95 % interval and the samples behind it, as far as they are known; ``no_interval``: why
    it has none."""

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    no_interval: str = ""


Cell: TypeAlias = str | int | float | Value | None


@dataclass(frozen=True)
class Sheet:
    """A table: a row has a cell per column. ``below`` is said under it, a line each; ``instead``: what Markdown says in
    the place of a table that is too long for it."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    below: Sequence[str] = field(default=())
    instead: str = ""


@dataclass(frozen=True)
class Plot:
    """A plot as Plotly's JSON: ``data`` and ``layout``. Axes name what they show, with its unit and direction."""

    title: str
    figure: Mapping[str, Any]
    below: Sequence[str] = field(default=())


@dataclass(frozen=True)
class Markup:
    """HTML of ours, with the script and style it needs; texts of data in it are escaped already. It stands on the page
    only: other formats say ``instead``."""

    html: str
    script: str = ""
    style: str = ""
    instead: str = ""


@dataclass(frozen=True)
class Section:
    """A part of the report. ``key`` is a short name of letters and dashes: its anchor, and the name of its files."""

    key: str
    title: str
    intro: str
    parts: Sequence[Sheet | Plot | Markup]
