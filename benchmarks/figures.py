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
_HEAD = "| row | what | measured | target | met | details | day |"


@dataclass(frozen=True)
class Figure:
    """One measured number. ``target`` None: reported, not judged; ``at_least``: larger is better."""

    row: str
    what: str
    value: float
    unit: str
    target: float | None = None
    at_least: bool = False
    detail: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the target is reached; None without one."""
        if self.target is None:
            return None
        return self.value >= self.target if self.at_least else self.value <= self.target

    def line(self, day: str) -> str:
        """A line of the table."""
        sign = ">=" if self.at_least else "<="
        target = "" if self.target is None else f"{sign} {number(self.target)} {self.unit}".rstrip()
        met = {True: "yes", False: "NO", None: ""}[self.met]
        value = f"{number(self.value)} {self.unit}".rstrip()
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


def write(figures: Sequence[Figure], path: Path = README) -> None:
    """Put the lines of these figures' rows in place of the old ones; rows not measured keep theirs."""
    text = path.read_text(encoding="utf-8")
    before, _, rest = text.partition(_START)
    old, _, after = rest.partition(_END)
    measured = {figure.row for figure in figures}
    kept = [line for line in old.splitlines() if line.startswith("| ") and line != _HEAD]
    kept = [line for line in kept if line.split("|")[1].strip() not in measured]
    today = date.today().isoformat()
    lines = table([*(figure.line(today) for figure in figures), *kept])
    path.write_text(f"{before}{_START}\n{lines}\n\n{today}, {machine()}\n{_END}{after}", encoding="utf-8")
