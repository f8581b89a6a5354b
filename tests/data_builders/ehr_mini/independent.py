"""An independent computation of the gold answers of ehr_mini: plain Python over the CSV files, without SQL.

One function for each template, with its slots as arguments; a missing value is an empty text.
"""

import csv
from calendar import monthrange
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

Row = dict[str, str]
ANSWERS: dict[str, Callable[..., Iterable[Any]]] = {}


class Tables:
    """The CSV files of one database, read when they are needed."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.read = folder, dict[str, list[Row]]()

    def __getattr__(self, name: str) -> list[Row]:
        if name not in self.read:
            with (self.folder / f"{name}.csv").open(newline="", encoding="utf-8") as file:
                self.read[name] = list(csv.DictReader(file))
        return self.read[name]


def answers(name: str) -> Callable[[Callable[..., Iterable[Any]]], Callable[..., Iterable[Any]]]:
    def register(function: Callable[..., Iterable[Any]]) -> Callable[..., Iterable[Any]]:
        ANSWERS[name] = function
        return function

    return register


def texts(values: Iterable[Any]) -> list[str]:
    """Distinct values as texts, sorted: numbers to six decimals, integers without any, booleans as 1 and 0."""
    return sorted({text(value) for value in values if value is not None and value != ""})


def text(value: Any) -> str:
    if isinstance(value, str):
        return value
    number = Fraction(value)
    if number.denominator == 1:
        return str(number.numerator)
    return f"{float(number):.6f}".rstrip("0").rstrip(".")


def number(value: str) -> Fraction | None:
    """A cell as an exact number."""
    return Fraction(value) if value else None


def present(values: Iterable[str]) -> list[Fraction]:
    return [found for value in values if (found := number(value)) is not None]


def total(values: Iterable[str]) -> list[Fraction]:
    found = present(values)
    return [sum(found, Fraction(0))] if found else []


def greatest(values: Iterable[Any]) -> list[Any]:
    found = list(values)
    return [max(found)] if found else []


def months_before(time: datetime, months: int) -> datetime:
    """As SQLite does it: a day missing in the month overflows into the next one."""
    year, month = divmod(time.year * 12 + time.month - 1 - months, 12)
    length = monthrange(year, month + 1)[1]
    return time.replace(year=year, month=month + 1, day=min(time.day, length)) + timedelta(
        days=max(0, time.day - length)
    )
