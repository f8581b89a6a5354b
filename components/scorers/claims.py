"""What texts say: their numbers and terms, and whether a text says a value."""

import math
import re
from collections.abc import Iterable

_NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:,\d{3})*(?:\.\d+)?")
_WORD = re.compile(r"[^\W\d_]+")
_EMPTY = frozenset({"none", "null", "nan", "nat", "no", "results", "result"})
_SHORTEST = 4  # letters of a word that a term is known by
_SHARE = 2 / 3  # of these words that a text must have


def numbers_in(text: str) -> list[float]:
    """The numbers of a text, in their order; those inside words are left out."""
    return [float(one.replace(",", "")) for one in _NUMBER.findall(text)]


def has_words(text: str) -> bool:
    """Whether a text has words other than those for nothing."""
    return any(one.casefold() not in _EMPTY for one in _WORD.findall(text))


def factor(found: float, right: float) -> float:
    """How many times too large or too small a number is, 1 or more; infinite where only one of them is zero, or their
    signs differ."""
    if found == right:
        return 1.0
    if found * right <= 0:
        return math.inf
    return max(found / right, right / found)


def has_number(number: float, numbers: Iterable[float], tolerance: float) -> bool:
    """Whether one of the numbers agrees with this one within a relative tolerance."""
    return any(factor(one, number) <= 1 + tolerance for one in numbers)


def says(text: str, value: str, tolerance: float) -> bool:
    """Whether a text says a value: all its numbers within the tolerance, or, of a value without numbers, two thirds of
    its words of four letters or more (all of its words where none is so long)."""
    if numbers := numbers_in(value):
        known = numbers_in(text)
        return all(has_number(one, known, tolerance) for one in numbers)
    words = {one.casefold() for one in _WORD.findall(value)}
    words = {one for one in words if len(one) >= _SHORTEST} or words
    said = {one.casefold() for one in _WORD.findall(text)}
    return bool(words) and len(words & said) >= _SHARE * len(words)
