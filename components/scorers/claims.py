"""What texts say: their numbers, dates, codes and words, and whether a text says a value.

Words are compared, not meanings, so a value next to a negation is neither said nor denied.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

_UNITS = {
    "mm": ("millimetre", "millimeter"), "cm": ("centimetre", "centimeter"), "ml": ("millilitre", "milliliter"),
    "dl": (), "l": ("litre", "liter"), "mcg": ("microgram", "µg", "ug"), "mg": ("milligram",), "g": ("gram",),
    "kg": ("kilogram",), "%": ("percent",), "mmhg": (), "hu": (), "iu": (), "unit": (), "minute": (), "hour": (),
    "day": (), "week": (), "month": (), "year": (),
}  # fmt: skip
_NAMES = {name: unit for unit, names in _UNITS.items() for name in (unit, *names)}
_UNIT = rf"(?:[\s-]?(?P<unit>(?:{'|'.join(sorted(map(re.escape, _NAMES), key=len, reverse=True))})s?)(?!\w))"
_DATE = r"(?<!\d)\d{4}-\d\d-\d\d(?!\d)|(?<!\d)\d{1,2}:\d\d(?::\d\d)?(?!\d)"
_CODE = r"(?<![\w.])(?:[^\W\d_]+\d\w*(?:\.\w+)*|\d+[^\W\d_]+\d\w*|0\d[\d.]*)"  # E11.9, 0DJD8ZZ, 0389
_ICD9 = rf"(?<![\w.,+-])\d{{3}}\.?\d{{0,2}}(?![\w,]|\.\d|{_UNIT.replace('?P<unit>', '?:')})"  # 250.00, 25000
_NUMBER = rf"(?P<number>(?<![\w.])[-+]?\d+(?:,\d{{3}})*(?:\.\d+)?){_UNIT}?|(?P<word>[^\W\d_]+)"
_TOKEN = re.compile(rf"(?P<exact>{_DATE}|{_CODE})|{_NUMBER}", re.IGNORECASE)
_CODED = re.compile(rf"(?P<exact>{_DATE}|{_CODE}|{_ICD9})|{_NUMBER}", re.IGNORECASE)
_ABOUT_CODES = re.compile(r"\bicd|\bcod(?:es?|ed|ing)\b", re.IGNORECASE)
_CLAUSE = re.compile(r"[;!?\n]+|:(?!\d)|\.(?=\s|$)|\b(?:but|although|however)\b", re.IGNORECASE)
_NEGATION = re.compile(
    r"\b(?:no|not|without|never|neither|nor|absen\w+|negative|den(?:y|ies|ied)|exclud\w+|unlikely|ruled out|free of"
    r"|cannot|\w+n['’]t)\b",
    re.IGNORECASE,
)
_APART = re.compile(r"[;,\n()\[\]{}'\"]+|\.(?=\s|$)")
_SENTENCE = re.compile(r"[.:!?]\s*$")
_EMPTY = frozenset({"none", "null", "nan", "nat", "no", "results", "result"})
_SHORTEST = 4  # letters of a word that a term is known by
_SHARE = 2 / 3  # of these words that a text must have
_LONGEST = 6  # words of a value; a sentence has more, or three and a stop at its end
_FEWEST = 3


class Number(NamedTuple):
    """A number with its decimals, zeros at their end left out, and the unit that follows; empty for none or another."""

    value: float
    decimals: int = 0
    unit: str = ""

    def is_comparable(self, other: "Number") -> bool:
        """Whether the units do not differ."""
        return self.unit == other.unit or not (self.unit and other.unit)

    def agrees(self, other: "Number", tolerance: float) -> bool:
        """Whether both are the same; within the relative tolerance where one has fewer decimals than the other."""
        if not self.is_comparable(other):
            return False
        allowed = 0.0 if self.decimals == other.decimals else tolerance
        return factor(self.value, other.value) <= 1 + allowed


@dataclass(frozen=True)
class _Clause:
    """What a clause says. ``exact``: dates, times and codes."""

    exact: frozenset[str]
    numbers: Sequence[Number]
    words: frozenset[str]
    negated: bool

    def is_in(self, clauses: Sequence["_Clause"], tolerance: float) -> bool:
        """Whether these clauses together say it, whatever they negate."""
        numbers = [number for one in clauses for number in one.numbers]
        words = {one for one in self.words if len(one) >= _SHORTEST} or (
            self.words if not self.exact and not self.numbers else frozenset()
        )
        return (
            bool(words or self.exact or self.numbers)
            and self.exact <= frozenset().union(*(one.exact for one in clauses))
            and all(any(one.agrees(other, tolerance) for other in numbers) for one in self.numbers)
            and len(words & frozenset().union(*(one.words for one in clauses))) >= _SHARE * len(words)
        )


def about_codes(*texts: str) -> bool:
    """Whether any of these is about codes of a classification, so that 250.00 is one and not a number."""
    return any(_ABOUT_CODES.search(one) for one in texts)


def _tokens(text: str, codes: bool) -> Iterator[re.Match[str]]:
    return (_CODED if codes else _TOKEN).finditer(text)


def _clause(text: str, codes: bool) -> _Clause:
    found = list(_tokens(text, codes))
    exact, words = (frozenset(one[name].casefold() for one in found if one[name]) for name in ("exact", "word"))
    exact = frozenset(one.replace(".", "") for one in exact) if codes else exact
    return _Clause(exact, numbers_in(text, codes), words, _NEGATION.search(text) is not None)


@lru_cache(maxsize=256)
def _clauses(text: str, codes: bool) -> Sequence[_Clause]:
    return [_clause(one, codes) for one in _CLAUSE.split(text) if one.strip()]


def numbers_in(text: str, codes: bool = False) -> list[Number]:
    """The numbers of a text, in their order, without those in dates, times and codes."""
    found = []
    for one in _tokens(text, codes):
        if number := one["number"]:
            unit = (one["unit"] or "").casefold()
            decimals = len(number.partition(".")[2].rstrip("0"))
            found.append(
                Number(float(number.replace(",", "")), decimals, _NAMES.get(unit) or _NAMES.get(unit[:-1], ""))
            )
    return found


def has_words(text: str, codes: bool = False) -> bool:
    """Whether a text has words other than those for nothing, or codes."""
    return any(
        (one["word"] and one["word"].casefold() not in _EMPTY) or (codes and one["exact"])
        for one in _tokens(text, codes)
    )


def factor(found: float, right: float) -> float:
    """How many times too large or too small a number is, 1 or more; infinite where only one of them is zero, or their
    signs differ."""
    if found == right:
        return 1.0
    if found * right <= 0:
        return math.inf
    return max(found / right, right / found)


def says(text: str, value: str, tolerance: float, codes: bool = False) -> bool | None:
    """Whether a text says a value: all its dates, times, codes and numbers, and two thirds of its words of four letters
    or more (of a value in words without one so long all words). None where it does so only next to a negation that the
    value does not have, or without the one that it has. ``codes``: they are about codes, whose point
    does not matter."""
    wanted, clauses = _clause(value, codes), _clauses(text, codes)
    if wanted.is_in([one for one in clauses if one.negated == wanted.negated], tolerance):
        return True
    return None if wanted.is_in(clauses, tolerance) else False


def pieces(text: str) -> list[str]:
    """The values of a list or a result: what stands between commas, line ends and brackets."""
    found = (one.strip() for one in _APART.split(text))
    return list(dict.fromkeys(one for one in found if has_words(one) or re.search(r"\d", one)))


def claims_in(answer: str, codes: bool = False) -> list[str]:
    """What can be looked for in results: the values of an answer that lists values; of one in sentences its dates,
    codes, and numbers of two digits or more or with a unit, since other words may say the same."""
    found = pieces(answer)
    lengths = [sum(bool(token["word"]) for token in _TOKEN.finditer(one)) for one in found]
    if max(lengths, default=0) <= _LONGEST and not (sum(lengths) >= _FEWEST and _SENTENCE.search(answer)):
        return found
    tokens = (one for one in _tokens(answer, codes) if one["exact"] or one["number"])
    return list(dict.fromkeys(one[0] for one in tokens if one["exact"] or one["unit"] or len(one["number"]) > 1))
