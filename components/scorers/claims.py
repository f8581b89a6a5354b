"""Claims of texts: their numbers, dates, codes and words, and whether a text states a value; and the question of a
sample.

Words are compared, not meanings, so a value next to a negation is neither stated nor denied.
"""

import math
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from operator import attrgetter
from typing import NamedTuple

from components.core.types import Problem, Sample

_UNITS = {
    "mm": ("millimetre", "millimeter"), "cm": ("centimetre", "centimeter"), "ml": ("millilitre", "milliliter"),
    "dl": (), "l": ("litre", "liter"), "mcg": ("microgram", "µg", "ug"), "mg": ("milligram",), "g": ("gram",),
    "kg": ("kilogram",), "%": ("percent",), "mmhg": (), "hu": (), "iu": (), "unit": (), "minute": (), "hour": (),
    "day": (), "week": (), "month": (), "year": (),
}  # fmt: skip
_POWERS = {"cm": ("mm", 1), "dl": ("ml", 2), "l": ("ml", 3), "mcg": ("mg", -3), "g": ("mg", 3), "kg": ("mg", 6)}
_BASES = {unit: _POWERS.get(unit, (unit,))[0] for unit in ("", *_UNITS)}
_ALIKE = {unit: ("", *(one for one in _UNITS if _BASES[one] == base)) for unit, base in _BASES.items() if unit}
_NAMES = {name.casefold(): unit for unit, names in _UNITS.items() for name in (unit, *names)}
_UNIT = rf"[\s-]?(?P<unit>(?:{'|'.join(sorted(map(re.escape, _NAMES), key=len, reverse=True))})s?)(?!\w)"
_PER = r"(?P<per>(?:\s?(?:/|per\s)\s?[^\W\d_]\w*)*)"  # mg/kg/day
_DATE = r"(?<!\d)\d{4}-\d\d-\d\d(?!\d)|(?<!\d)\d{1,2}:\d\d(?::\d\d)?(?!\d)"
_CODE = r"(?<![\w.])(?:[^\W\d_]+\d\w*(?:\.\w+)*|\d+[^\W\d_]+\d\w*|0\d[\d.]*)"  # E11.9, 0DJD8ZZ, 0389
_ICD9 = rf"(?<![\w.,+−-])\d{{3}}\.?\d{{0,2}}(?![\w,]|\.\d|{_UNIT.replace('?P<unit>', '?:')})"  # 250.00, 25000
_THOUSANDS = r"(?<![\w.])[1-9]\d{0,2}(?:,\d{3})+(?!\d)"
_COMMA = r"(?<![\w.,\[])\d{1,4},\d{1,3}(?!\d|,\d)"  # 0,5: a decimal comma, or two numbers
_DIGITS = rf"(?:{_THOUSANDS}|\d+)(?:\.\d+)?|\.\d+"
_NUMBER = rf"(?P<number>(?<![\w.])[-+−]?(?:(?!{_THOUSANDS})(?P<comma>{_COMMA})|{_DIGITS}))(?:{_UNIT}{_PER})?"
_NUMBER += r"|(?P<word>[^\W\d_]+)"
_TOKEN = re.compile(rf"(?P<exact>{_DATE}|{_CODE})|{_NUMBER}", re.IGNORECASE)
_CODED = re.compile(rf"(?P<exact>{_DATE}|{_CODE}|{_ICD9})|{_NUMBER}", re.IGNORECASE)
_ABOUT_CODES = re.compile(r"\bicd|\bcod(?:es?|ed|ing)\b", re.IGNORECASE)
_CLAUSE = re.compile(r"[;!?\n]+|:(?!\d)|\.(?=\s|$)|\b(?:but|although|however)\b", re.IGNORECASE)
_NEGATION = re.compile(
    r"\b(?:no|not|without|never|neither|nor|absen\w+|negative|den(?:y|ies|ied)|exclud\w+|unlikely|ruled out|free of"
    r"|cannot|\w+n['’]t)\b",
    re.IGNORECASE,
)
_PIECE = re.compile(rf"(?:{_THOUSANDS}|{_COMMA}|\.(?!\s|$)|[^.;,\n()\[\]{{}}'\"])+")
_SENTENCE = re.compile(r"[.:!?]\s*$")
_EMPTY = frozenset({"none", "null", "nan", "nat", "no", "results", "result"})
_SHORTEST = 4  # letters of a word that a term is known by
_SHARE = 2 / 3  # of these words that a text must have
_LONGEST = 6  # words of a value; a sentence has more, or three and a stop at its end
_FEWEST = 3
_MOST_DECIMALS = 20  # that numbers are grouped by
_VALUE = attrgetter("value")


class Number(NamedTuple):
    """A number with its decimals, zeros at their end left out, and the unit that follows; empty for none or another.
    ``per``: the initials of what it is per, kd for mg/kg/day. ``clear``: not one of the readings of a decimal comma."""

    value: float
    decimals: int = 0
    unit: str = ""
    per: str = ""
    clear: bool = True

    def is_comparable(self, other: "Number") -> bool:
        """Whether the units do not differ, or only by a power of ten."""
        own, others = ((_BASES[one.unit], one.per) for one in (self, other))
        return all(mine == its or not (mine and its) for mine, its in zip(own, others, strict=True))

    def in_unit_of(self, other: "Number") -> "Number":
        """The same in the other's unit; as it is where one of them has none."""
        own, others = (_POWERS.get(one.unit, ("", 0))[1] for one in (self, other))
        power = own - others if self.unit and other.unit else 0
        if not power:
            return self
        decimals = self.decimals - power
        return self._replace(value=round(self.value * 10.0**power, decimals), decimals=decimals)

    def agrees(self, other: "Number", tolerance: float) -> bool:
        """Whether both are the same; within the relative tolerance where one has fewer decimals than the other."""
        if not self.is_comparable(other):
            return False
        same = self.in_unit_of(other)
        allowed = 0.0 if same.decimals == other.decimals else tolerance
        return factor(same.value, other.value) <= 1 + allowed


class Numbers:
    """Numbers in the order of their values, so that a lookup hardly depends on how many there are. A group has one unit
    and rate, or all (None), so many decimals, and only clear numbers or none."""

    def __init__(self, numbers: Iterable[Number] = ()) -> None:
        self._groups: defaultdict[tuple[str | None, str | None], dict[tuple[int, bool], list[Number]]]
        self._groups = defaultdict(lambda: defaultdict(list))
        self._is_sorted = False
        self.add(numbers)

    def add(self, numbers: Iterable[Number]) -> None:
        """Add numbers."""
        for one in numbers:
            for pair in product((one.unit, None), (one.per, None)):
                self._groups[pair][min(one.decimals, _MOST_DECIMALS), one.clear].append(one)
            self._is_sorted = False

    def near(self, wanted: Number) -> Iterator[Number]:
        """Of each group that a number is comparable with, the next one below it and the next that is not."""
        if not self._is_sorted:
            for group in (group for groups in self._groups.values() for group in groups.values()):
                group.sort(key=_VALUE)
            self._is_sorted = True
        units: Sequence[str | None] = _ALIKE.get(wanted.unit, (None,))
        for pair in product(units, {"", wanted.per} if wanted.per else (None,)):
            for group in self._groups[pair].values() if pair in self._groups else ():
                place = bisect_left(group, wanted.in_unit_of(group[0]).value, key=_VALUE)
                yield from group[max(place - 1, 0) : place + 1]


class _Clauses:
    """What clauses say together."""

    def __init__(self) -> None:
        self.exact: set[str] = set()
        self.words: set[str] = set()
        self.numbers = Numbers()

    def add(self, clause: "_Clause") -> None:
        """Add what a clause says."""
        self.exact |= clause.exact
        self.words |= clause.words
        self.numbers.add(clause.numbers)


@dataclass(frozen=True)
class _Clause:
    """What a clause says. ``exact``: dates, times and codes."""

    exact: frozenset[str]
    numbers: Sequence[Number]
    words: frozenset[str]
    negated: bool

    def is_in(self, clauses: Collection[_Clauses], tolerance: float, perhaps: bool = False) -> bool:
        """Whether these clauses together say it, whatever they negate; ``perhaps``: by any reading of a comma."""
        words = {one for one in self.words if len(one) >= _SHORTEST} or (
            self.words if not self.exact and not self.numbers else frozenset()
        )
        return (
            bool(words or self.exact or self.numbers)
            and all(any(exact in one.exact for one in clauses) for exact in self.exact)
            and all(
                any(
                    one.agrees(other, tolerance) and (perhaps or one.clear == other.clear)
                    for of in clauses
                    for other in of.numbers.near(one)
                )
                for one in self.numbers
                if one.clear or not perhaps
            )
            and sum(any(word in one.words for one in clauses) for word in words) >= _SHARE * len(words)
        )


class Source:
    """Texts that are read once and searched for many values. ``codes``: they are about codes, whose point does not
    matter."""

    def __init__(self, *texts: str, codes: bool = False) -> None:
        self._codes = codes
        self._clauses = {negated: _Clauses() for negated in (False, True)}
        for one in texts:
            self.add(one)

    def add(self, text: str) -> None:
        """Add a text."""
        for one in _CLAUSE.split(text):
            clause = _clause(one, self._codes)
            self._clauses[clause.negated].add(clause)

    def says(self, value: str, tolerance: float) -> bool | None:
        """Whether the texts say a value: all its dates, times, codes and numbers, and two thirds of its words of four
        letters or more (of a value in words without one so long all words). None where they do so only next to a
        negation that the value does not have, or without the one that it has, or by one reading of a decimal comma."""
        wanted = _clause(value, self._codes)
        if wanted.is_in([self._clauses[wanted.negated]], tolerance):
            return True
        return None if wanted.is_in(self._clauses.values(), tolerance, perhaps=True) else False


def asked_in(problem: Problem) -> str:
    """The last sentence of the question that asks, else the last one."""
    sentences = re.split(r"(?<=[.!?])\s+", problem.question.strip())
    return next((one for one in reversed(sentences) if one.endswith("?")), sentences[-1])


def gold_texts(sample: Sample) -> list[str]:
    """The right answers as texts; empty where there is none, or the target is not a text."""
    target = sample.target
    if isinstance(target, Mapping):
        target = target.get("answer")
    found = [target] if isinstance(target, str | int | float) else target
    texts = [str(one) for one in found] if isinstance(found, list | tuple) else []
    return [sample.problem.choices.get(one, one) for one in texts]


def about_codes(sample: Sample) -> bool:
    """Whether a sample asks for codes of a classification, or has them as its answer, so that 250.00 is one and not a
    number."""
    return any(_ABOUT_CODES.search(one) for one in (asked_in(sample.problem), *gold_texts(sample)))


def _tokens(text: str, codes: bool) -> Iterator[re.Match[str]]:
    return (_CODED if codes else _TOKEN).finditer(text)


def _clause(text: str, codes: bool) -> _Clause:
    found = list(_tokens(text, codes))
    numbers = [number for one in found if one["number"] for number in _readings(one)]
    exact, words = (frozenset(one[name].casefold() for one in found if one[name]) for name in ("exact", "word"))
    exact = frozenset(one.replace(".", "") for one in exact) if codes else exact
    return _Clause(exact, numbers, words, _NEGATION.search(text) is not None)


def numbers_in(text: str, codes: bool = False) -> list[Number]:
    """The numbers of a text, in their order, without those in dates, times and codes. With a decimal comma, 0,5, all
    that it may mean: 0.5, or 0 and 5."""
    return [number for one in _tokens(text, codes) if one["number"] for number in _readings(one)]


def _readings(token: re.Match[str]) -> Iterator[Number]:
    number, unit = token["number"].replace("−", "-"), (token["unit"] or "").casefold()
    unit = _NAMES.get(unit) or _NAMES.get(unit[:-1], "")
    per = "".join(re.findall(r"(?:/|\bper\b)\s?(\w)", (token["per"] or "").casefold()))
    clear = not token["comma"]
    for one in [number.replace(",", "")] if clear else [number.replace(",", "."), *number.split(",")]:
        yield Number(float(one), len(one.partition(".")[2].rstrip("0")), unit, per, clear)


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


def pieces(text: str) -> list[str]:
    """The values of a list or a result: what stands between commas, line ends and brackets."""
    found = (one.strip() for one in _PIECE.findall(text))
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
