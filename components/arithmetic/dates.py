"""Dates in expressions: read from MM/DD/YYYY or YYYY-MM-DD, counted in days."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, timedelta

from components.arithmetic.functions import Function, Value, invalid, number

_FORMS = ("%m/%d/%Y", "%Y-%m-%d", "%m/%d/%y")


def read_date(value: Value) -> date:
    """A date from its text. Raises ToolError, naming the forms."""
    if isinstance(value, date):
        return value
    for form in _FORMS:
        try:
            return datetime.strptime(str(value).strip(), form).date()
        except ValueError:
            continue
    raise invalid(f"{value!r:.60} is not a date; write it in quotes as 'MM/DD/YYYY' or 'YYYY-MM-DD'")


def later(start: date, days: float) -> date:
    """The date so many whole days later. Raises ToolError outside the years 1 to 9999."""
    if not float(days).is_integer():
        raise invalid(f"a date moves by whole days, found {days!r}")
    try:
        return start + timedelta(days=int(days))
    except OverflowError:
        raise invalid(f"{days:g} days from {start} is outside the calendar") from None


def _date(text: Value) -> Value:
    return read_date(text)


def _days_between(start: Value, end: Value) -> Value:
    return (read_date(end) - read_date(start)).days


def _add_days(start: Value, days: Value) -> Value:
    return later(read_date(start), number(days, "add_days"))


FUNCTIONS: Mapping[str, Function] = {"date": _date, "days_between": _days_between, "add_days": _add_days}
