"""Numbers in what a model wrote: with sign, thousands separators, exponent, and at the end of a sentence."""

import re

_DATE = re.compile(r"\d{1,4}[-/]\d{1,2}[-/]\d{1,4}(?:[ T]\d\d?:\d\d(?::\d\d)?)?|\d\d?:\d\d(?::\d\d)?")
# Not part of a word (kg/m2, CHA2DS2), an exponent (m^2), a unit (min/1.73 m2) or another number; a unit may follow
# at once.
_NUMBER = re.compile(
    r"(?<![\w.^])(?<![a-z]/)(?:(?<![)\]])[-+−])?(?:\d{1,3}+(?:,\d{3}(?!\d))++|\d++)(?:\.\d++)?(?:e[-+]?\d{1,3}(?!\w))?"
    r"|(?<![\w.^])(?<![a-z]/)(?:(?<![)\]])[-+−])?\.\d++",
    re.IGNORECASE,
)


def number(text: str) -> float | None:
    """The number that a whole text is; None for any other text."""
    text = text.strip()
    found = _NUMBER.fullmatch(text)
    return _value(text) if found else None


def numbers(text: str) -> list[float]:
    """All numbers in a text in their order; dates and times are none."""
    return [_value(found[0]) for found in _NUMBER.finditer(_DATE.sub(" ", text))]


def _value(text: str) -> float:
    return float(text.replace(",", "").replace("−", "-"))
