"""Dates of FHIR as ranges of time, and how a search compares them (R4, 3.1.1.4.5 and 3.1.1.5.6)."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

_FORM = re.compile(
    r"([1-9]\d{3})(?:-(\d\d)(?:-(\d\d)(?:T(\d\d:\d\d)(?::(\d\d)(?:\.\d{1,9})?)?(Z|[+ -]\d\d:\d\d)?)?)?)?", re.ASCII
)
_FIRST, _LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


class Range(NamedTuple):
    """From ``low`` to before ``high``, both with a time zone."""

    low: datetime
    high: datetime

    def covers(self, other: "Range") -> bool:
        """Whether all of another range is in this one."""
        return self.low <= other.low and other.high <= self.high


def read_range(text: str) -> Range:
    """The time that a date, dateTime or instant covers: all of 2023-11, or one second. Years are 1000 to 9999, of which
    the last has no end. Without a zone it is UTC, and a space in place of its plus is one, as forms send it. Raises
    ValueError."""
    if (found := _FORM.fullmatch(text)) is None:
        raise ValueError(f"{text!r:.60} is not a date like 2023, 2023-11, 2023-11-13 or 2023-11-13T10:15:00+00:00")
    year, month, day, minute, second, zone = found.groups()
    time = f"{minute or '00:00'}:{second or '00'}{(zone or 'Z').replace(' ', '+')}"
    try:
        low = datetime.fromisoformat(f"{year}-{month or '01'}-{day or '01'}T{time}")
    except ValueError as error:
        raise ValueError(f"{text!r:.60} is not a date: {error}") from None
    if year == "9999":
        return Range(low, _LAST)
    if month is None:
        return Range(low, low.replace(year=low.year + 1))
    if day is None:
        return Range(low, (low + timedelta(days=31)).replace(day=1))
    return Range(low, low + timedelta(**({"seconds": 1} if second else {"minutes": 1} if minute else {"days": 1})))


def ranges_in(value: Any) -> list[Range]:
    """The range of a date or a Period, whose missing end is open; none of what cannot be read."""
    period = value if isinstance(value, Mapping) else {"start": value, "end": value}
    low, high = period.get("start"), period.get("end")
    try:
        first = _FIRST if low is None else read_range(str(low)).low
        return [] if low is high is None else [Range(first, _LAST if high is None else read_range(str(high)).high)]
    except ValueError:
        return []


_COMPARES: Mapping[str, Callable[[Range, Range], bool]] = {
    "eq": lambda asked, found: asked.covers(found),
    "ne": lambda asked, found: not asked.covers(found),
    "gt": lambda asked, found: found.high > asked.high,
    "lt": lambda asked, found: found.low < asked.low,
    "ge": lambda asked, found: found.high > asked.high or asked.covers(found),
    "le": lambda asked, found: found.low < asked.low or asked.covers(found),
    "sa": lambda asked, found: found.low >= asked.high,
    "eb": lambda asked, found: found.high <= asked.low,
}


def date_test(text: str) -> Callable[[Sequence[Any]], bool]:
    """Whether one of some dates or Periods is as a parameter says, such as ``ge2023-11-12``. Raises ValueError."""
    prefix = text[:2] if text[:2].isalpha() and text[2:3].isdigit() else "eq"
    if prefix not in _COMPARES:
        raise ValueError(f"the prefix {prefix!r} is not supported; there are {', '.join(_COMPARES)}")
    asked, compare = read_range(text.removeprefix(prefix)), _COMPARES[prefix]
    return lambda found: any(compare(asked, one) for value in found for one in ranges_in(value))
