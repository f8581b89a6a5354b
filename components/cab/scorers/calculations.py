"""MedCalc: a decimal within limits, an integer (also weeks and days), or a date.

======================================  ================================================================
official (the reference, quirks too)    strict
======================================  ================================================================
decimal: the whole answer, else the     the whole answer, else the first number after "answer is" (after
last number between white space,        the last = there), else the last number; with sign, thousands
without sign; none at the end           separators, exponent, unit, and at the end of a sentence
integer: gold inside other numbers      equal as numbers; "4 of 9" is 4; weeks and days as days
date: gold as a text                    equal as days, however written (month before day, where it is
                                        not clear)
======================================  ================================================================

Source: Khandekar et al. 2024, arXiv 2406.12036; rules of the reference BlueZeros/ReflecTool at e89ef65.
"""

import re
from contextlib import suppress
from datetime import date, datetime
from math import isclose

from components.cab.scorers.case import Case, Reading, Unscored
from components.cab.scorers.texts import number, numbers
from components.text.answers import announced_answer, conclusion

_BARE = re.compile(r"\d++\.*+\d*+")
_OUT_OF = re.compile(
    r"(?<=\d)\s*+(?:/|(?:out )?of(?: the| a)?(?: possible| maximum)?(?: of)?\b)\s*+\d++", re.IGNORECASE
)
_AGE = re.compile(
    r"(?<!\d)(\d++)\s*+w(?:(?:ee)?ks?)?(?![a-z])'?(?:[\s,]*+(?:and\s++)?'?(\d++)\s*+d(?:ays?)?(?![a-z]))?",
    re.IGNORECASE,
)
_DAY = re.compile(
    r"(?<!\d)(?:\d{4}-\d\d?-\d\d?|\d\d?[/.-]\d\d?[/.-](?:\d{4}|\d\d)|[a-z]{3,9}\.? \d\d?(?:st|nd|rd|th)?,? \d{4}"
    r"|\d\d?(?:st|nd|rd|th)? (?:of )?[a-z]{3,9}\.?,? \d{4})(?!\d)",
    re.IGNORECASE,
)
_ORDINAL = re.compile(r"(?<=\d)(?:st|nd|rd|th)\b|\bof\b|[.,]", re.IGNORECASE)
_FORMATS = ("%Y-%m-%d", "%m/%d/%Y", "%m/%d/%y", "%d/%m/%Y", "%B %d %Y", "%b %d %Y", "%d %B %Y", "%d %b %Y")


def official(case: Case) -> Reading:
    """The reference's accuracy, by the type of the output."""
    reply, right, kind = case.answer.strip(), str(case.value("answer")), _kind(case)
    if kind == "decimal":
        low, high = _limits(case)
        value = _official_number(reply)
        return Reading(float(value is not None and low <= value <= high), value, f"{low:g} to {high:g}")
    wanted = right.replace("'", "") if kind == "integer" else right
    return Reading(float(wanted.strip().lower() in reply.lower()), reply, wanted)


def strict(case: Case) -> Reading:
    """Accuracy on the value that was read."""
    right, kind = str(case.value("answer")), _kind(case)
    if kind == "decimal":
        low, high = sorted(_limits(case))
        value = read_number(case.answer)
        return Reading(float(value is not None and low <= value <= high), value, f"{low:g} to {high:g}")
    if (days := _days(right)) is not None:
        read = _days(conclusion(case.answer))
        return Reading(float(read == days), f"{read} days", f"{days} days")
    if (day := read_date(right)) is not None:
        answered = read_date(conclusion(case.answer)) or read_date(case.answer)
        return Reading(float(answered == day), answered, day)
    if (wanted := number(right)) is None:
        raise Unscored(f"the right answer is neither a number nor a date: {right!r:.80}")
    value = read_number(_OUT_OF.sub("", case.answer))
    return Reading(float(value is not None and isclose(value, wanted, abs_tol=1e-9)), value, right)


def read_number(text: str) -> float | None:
    """The number that an answer gives; None when there is none."""
    if (whole := number(conclusion(text))) is not None:
        return whole
    if reply := announced_answer(text):
        values = numbers(reply.rpartition("=")[2]) or numbers(reply)
        return values[0] if values else None
    values = numbers(text)
    return values[-1] if values else None


def read_date(text: str) -> date | None:
    """The last date of a text; None when there is none."""
    for day in reversed(_DAY.findall(text)):
        if re.fullmatch(r"\d\d?[.-]\d\d?[.-]\d+", day):
            day = re.sub(r"[.-]", "/", day)
        day = " ".join(_ORDINAL.sub(" ", day).split())
        for form in _FORMATS:
            with suppress(ValueError):
                return datetime.strptime(day, form).date()
    return None


def _days(text: str) -> int | None:
    """A duration in weeks and days, the last one of a text, in days; None when there is none."""
    ages = _AGE.findall(text)
    return 7 * int(ages[-1][0]) + int(ages[-1][1] or 0) if ages else None


def _official_number(reply: str) -> float | None:
    """The whole text as Python reads numbers, else the last bare number between white space."""
    last: str | None = None
    after_number = False
    for token in reply.split()[:-1]:  # white space belongs to one number only, so neighbours hide each other
        after_number = not after_number and _BARE.fullmatch(token) is not None
        last = token if after_number else last
    for text in (reply, last or ""):
        with suppress(ValueError):
            return float(text)
    return None


def _limits(case: Case) -> tuple[float, float]:
    low, high = case.value("Low Limit"), case.value("Upper Limit")
    try:
        return float(low), float(high)
    except (TypeError, ValueError):
        raise Unscored(f"the limits must be numbers, found {low!r:.40} and {high!r:.40}") from None


def _kind(case: Case) -> str:
    kind = case.value("Output Type")
    if kind not in ("decimal", "integer", "date"):
        raise Unscored(f"the output type must be decimal, integer or date, found {kind!r:.40}")
    return str(kind)
