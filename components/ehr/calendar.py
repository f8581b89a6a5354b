"""Dates from a database's own present time, moved as SQLite moves them.

Source: Shi et al. 2024, EHRAgent, arXiv 2401.07128. Departure: the clock is the database's, where the published tool
takes the engine's time of day.
"""

import re
import sqlite3
from contextlib import closing

from components.ehr.errors import EhrError, quoted

_LENGTH = 300  # characters: fewer modifiers than one call of SQLite takes
_AMOUNT = re.compile(r"([+-]?)(\d{1,9}(?:\.\d{1,9})?)\s*(year|month|day|hour|minute|second)s?", re.ASCII)
_START = re.compile(r"start\s+of\s+(year|month|day)")
_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
_FORM = (
    "write a number and year, month, day, hour, minute or second, such as '-1 year', or 'start of year', 'start of"
    " month', 'start of day'; separate several by commas, as in 'start of month, -1 month'"
)


def calendar(duration: str, clock: str | None) -> str:
    """The clock's time moved by one or more modifiers in turn, as ``YYYY-MM-DD HH:MM:SS``.

    Raises EhrError (bad_duration), also where the database has no clock.
    """
    if not isinstance(duration, str) or len(duration) > _LENGTH:
        raise _bad(duration, _FORM)
    if clock is None:
        raise _bad(duration, "this database has no present time; take times from its tables")
    modifiers = [_modifier(part.strip().lower(), duration) for part in duration.split(",")]
    with closing(sqlite3.connect(":memory:")) as engine:
        marks = ", ?" * len(modifiers)
        (moved,) = engine.execute(f"SELECT datetime(?{marks})", (clock, *modifiers)).fetchone()
    if moved is None or not _TIME.fullmatch(moved):
        raise _bad(duration, "the result is not between the years 0 and 9999")
    return str(moved)


def _modifier(part: str, duration: str) -> str:
    """One modifier as SQLite spells it. Raises EhrError."""
    if start := _START.fullmatch(part):
        return f"start of {start[1]}"
    if amount := _AMOUNT.fullmatch(part):
        return f"{amount[1] or '+'}{amount[2]} {amount[3]}"
    raise _bad(duration, _FORM)


def _bad(duration: object, why: str) -> EhrError:
    return EhrError(f"The duration {quoted(duration)} cannot be used: {why}.", "bad_duration")
