"""Persons and their hospital stays, drawn from a seed, and the draws that all three databases share.

Stays of one person never overlap, everything lies before the clock, about every eighth person is still in hospital,
and whoever dies does so after the last discharge. Costs and volumes are multiples of 0.25, so that sums are exact.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Any, TypeVar

T = TypeVar("T")

FIRST_DAY = datetime(2100, 1, 1)
CLOCK = datetime(2105, 12, 31, 23, 59)
_MISSING_RATE = 0.05
_DEATH_RATE = 0.3
_UNEVEN = 1.4  # 1: all items are drawn alike
_VERY_UNEVEN, _LONG = 2.0, 60
_STRIDE = 41  # a prime that divides no number of items
_PRICES: tuple[int, ...] = (4, 5, 6)


class Tables(defaultdict[str, list[dict[str, Any]]]):
    """Rows by table; a row's key is its number."""

    def __init__(self) -> None:
        super().__init__(list)

    def add(self, table: str, key: str, row: dict[str, Any]) -> int:
        """Append a row and return its key."""
        number = len(self[table]) + 1
        self[table].append({key: number, **row})
        return number


@dataclass(frozen=True)
class Span:
    """From when to when; ``end`` None: still going on."""

    start: datetime
    end: datetime | None

    @property
    def until(self) -> datetime:
        """The end, or the clock."""
        return self.end or CLOCK


@dataclass(frozen=True)
class Person:
    """A patient: a number from 0, sex (m, f), birth, death and the hospital stays in the order of time."""

    number: int
    sex: str
    birth: datetime
    death: datetime | None
    stays: tuple[Span, ...]

    def age(self, time: datetime) -> int:
        """Whole years at a time."""
        return time.year - self.birth.year - ((time.month, time.day) < (self.birth.month, self.birth.day))


def person(rng: Random, number: int) -> Person:
    """Draw a person with one to three stays, of which the last may still go on."""
    goes_on, n_stays = number % 8 == 4, rng.choice((1, 2, 2, 3))
    window = (CLOCK - FIRST_DAY - timedelta(days=30)) / n_stays
    spans = [_stay(rng, FIRST_DAY + window * index, window) for index in range(n_stays)]
    if goes_on:
        spans[-1] = Span(between(rng, CLOCK - timedelta(days=28), CLOCK - timedelta(days=3)), None)
    last, death = spans[-1].end, None
    if last is not None and rng.random() < _DEATH_RATE:
        drawn = last + timedelta(minutes=rng.randint(60, 86_400))
        death = drawn if drawn < CLOCK else None
    birth = datetime(spans[0].start.year - rng.randint(19, 89), rng.randint(1, 12), rng.randint(1, 28))
    return Person(number, rng.choice("mf"), birth, death, tuple(spans))


def _stay(rng: Random, first: datetime, window: timedelta) -> Span:
    """A finished stay of one to 40 days in its window, which never lasts an exact number of days."""
    start = between(rng, first, first + window - timedelta(days=42))
    end = start + timedelta(minutes=int(rng.triangular(1, 40, 4) * 1440))
    return Span(start, end + timedelta(minutes=7) if (end - start).seconds == 0 else end)


def between(rng: Random, start: datetime, end: datetime) -> datetime:
    """A whole minute from start to end, both included."""
    first = start.replace(second=0, microsecond=0)
    return first + timedelta(minutes=rng.randint(0, int((end - first).total_seconds()) // 60))


def within(rng: Random, span: Span, first_hours: float | None = None) -> datetime:
    """A minute of a span, or of its first hours."""
    until = span.until if first_hours is None else min(span.until, span.start + timedelta(hours=first_hours))
    return between(rng, span.start, until)


def part_of(rng: Random, span: Span) -> Span:
    """What begins in the first hours of a span and ends before it, or goes on when the span does."""
    start = span.start + timedelta(minutes=rng.randint(30, 600))
    if span.end is None:
        return Span(start, None)
    return Span(start, between(rng, start + (span.end - start) / 2, span.end))


def written(time: datetime | None) -> str | None:
    """A time as the databases write it."""
    return None if time is None else f"{time:%Y-%m-%d %H:%M:%S}"


def maybe(rng: Random, value: T) -> T | None:
    """The value, or in one case of twenty nothing."""
    return None if rng.random() < _MISSING_RATE else value


def common(rng: Random, items: Sequence[T]) -> T:
    """One of the items; some, and the more so the longer the list, are drawn more often."""
    place = int(len(items) * rng.random() ** (_VERY_UNEVEN if len(items) > _LONG else _UNEVEN))
    return items[place * _STRIDE % len(items)]


def several(rng: Random, items: Sequence[T], least: int, most: int) -> list[T]:
    """From ``least`` to ``most`` different items, common ones more often."""
    wanted, found = rng.randint(least, most), dict[T, None]()
    while len(found) < wanted:
        found[common(rng, items)] = None
    return list(found)


def measured(rng: Random, low: float, high: float, digits: int) -> float:
    """A number of a range with so many decimals."""
    return round(rng.uniform(low, high), digits)


def volume(rng: Random) -> float:
    """Millilitres, a multiple of 0.25."""
    return rng.randint(4, 2400) / 4


def price(rng: Random, kind: str, key: str) -> float:
    """What something costs: one of three prices of its own, multiples of 0.25."""
    return Random(f"{kind}/{key}").randint(4, 480) * rng.choice(_PRICES) / 4
