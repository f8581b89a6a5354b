"""Figures, the table they make, and its place in README.md."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.processes import run_job

README = Path(__file__).parent / "README.md"
_START, _END = "<!-- table: written by python -m benchmarks --write -->", "<!-- end of table -->"
_FOLDED = (
    "coverage", "coverage_few", "coverage_confidence", "coverage_claims", "coverage_drift", "coverage_forks",
    "coverage_harm",
)  # fmt: skip
_HEAD = "| row | what | measured | target | met | details | day |"


@dataclass(frozen=True)
class Figure:
    """One measured number. ``value`` None: not measured, ``detail`` says why; ``target`` None: reported, not judged.

    ``at_least``: larger is better.
    """

    row: str
    what: str
    value: float | None
    unit: str
    target: float | None = None
    at_least: bool = False
    detail: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the target is reached; None without one or without a value."""
        if self.target is None or self.value is None:
            return None
        return self.value >= self.target if self.at_least else self.value <= self.target

    def line(self, day: str) -> str:
        """A line of the table."""
        sign = ">=" if self.at_least else "<="
        target = "" if self.target is None else f"{sign} {number(self.target)} {self.unit}".rstrip()
        met = {True: "yes", False: "NO", None: ""}[self.met]
        value = "" if self.value is None else f"{number(self.value)} {self.unit}".rstrip()
        return f"| {self.row} | {self.what} | {value} | {target} | {met} | {self.detail} | {day} |"


@dataclass(frozen=True)
class Settings:
    """``scale`` shrinks what is long, ``repeat`` is how often a figure is measured for its median.

    ``run`` runs a job: in a process of its own, or, for tests that want numbers and no measurement, here.
    """

    scale: float = 1.0
    repeat: int = 3
    run: Callable[..., dict[str, Any]] = run_job

    def count(self, full: int, least: int = 1) -> int:
        """A number of things at this scale."""
        return max(least, round(full * self.scale))


Row = Callable[[Settings], Sequence[Figure]]


def number(value: float) -> str:
    """Three digits, thousands set apart."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def span(values: Iterable[float], unit: str = "") -> str:
    """The smallest and the largest of several measurements."""
    known = list(values)
    return f"{number(min(known))}-{number(max(known))}{unit}" if len(known) > 1 else f"{number(known[0])}{unit}"


def middle(values: Iterable[float]) -> float:
    """The median."""
    return float(median(values))


def machine() -> str:
    """Size of this machine, without its name."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{cores} cores, {memory:.0f} GB, Python {platform.python_version()}, {platform.system()}"


def table(lines: Iterable[str]) -> str:
    """Lines under their head."""
    return "\n".join([_HEAD, "|" + "---|" * (_HEAD.count("|") - 1), *lines])


def shown(figures: Iterable[Figure]) -> str:
    """The table of one run and the machine's size."""
    return f"{table(figure.line(date.today().isoformat()) for figure in figures)}\n\n{machine()}"


def write(figures: Sequence[Figure], order: Sequence[str], path: Path = README) -> None:
    """Put the lines of these figures' rows in place of the old ones, all in this order of rows.

    Rows not measured, or not in full, keep their lines.
    """
    text = path.read_text(encoding="utf-8")
    before, _, rest = text.partition(_START)
    old, _, after = rest.partition(_END)
    measured = {figure.row for figure in figures} - {figure.row for figure in figures if figure.value is None}
    kept = [line for line in old.splitlines() if line.startswith("| ") and line != _HEAD and _row(line) not in measured]
    today = date.today().isoformat()
    lines = [*(figure.line(today) for figure in figures if figure.row in measured), *kept]
    lines.sort(key=lambda line: order.index(_row(line)) if _row(line) in order else len(order))
    shown, folded = ([line for line in lines if (_row(line) in _FOLDED) is wanted] for wanted in (False, True))
    tables = table(shown)
    if folded:
        tables += f"\n\n<details><summary>How often intervals hold the truth</summary>\n\n{table(folded)}\n\n</details>"
    path.write_text(f"{before}{_START}\n{tables}\n\n{today}, {machine()}\n{_END}{after}", encoding="utf-8")


def _row(line: str) -> str:
    """The row that a line of the table belongs to."""
    return line.split("|")[1].strip()
