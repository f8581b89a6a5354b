"""Whether an answer to a question over health records is right: the strict matcher and the published one.

``strict`` is the project's: what the answer holds, as a set of values, must be the gold set. ``lenient`` follows the
published code of EHRAgent (Shi et al. 2024, arXiv 2401.07128), which looks for substrings: it finds 3 in 13 and an
empty gold in everything. ``cells`` makes the gold list of a result.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from math import isnan
from typing import Any, NamedTuple

from components.text.structured import NotLiteral, literal

_MISSING = {"", "none", "null", "nan", "nat"}
_TRUTHS = {"true": "1", "yes": "1", "false": "0", "no": "0"}
_NUMBER = re.compile(  # what Python and SQL print as a number; with other leading zeros (0389, 3e03317) it is a code
    r"[+-]?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:e(?:[+-][0-9]{1,3}|0|[1-9][0-9]{0,2}))?"
)
_NUMPY = re.compile(r"\bnp\.(?:u?int|float)[0-9]+\(([^()'\"]*)\)")  # how a list shows a number of numpy's
_TIME = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[t ]([0-9]{2}:[0-9]{2})(:[0-9]{2})?)?")
_MAX_DIGITS = 400  # of what is compared as a number
_TOLERANCE = Decimal("1e-6")
_FEWEST_DECIMALS = 2  # from which on a prediction counts as rounded
_COMMA = ", "
_PUBLISHED = {"true": "1", "false": "0", "none": "0"}
_PUBLISHED_YES_NO = {"yes": "1", "no": "0"}


class _Atom(NamedTuple):
    """A value: its normal text (missing: None), and the number where that text is one."""

    text: str | None
    number: Decimal | None = None


def strict(prediction: str, gold: Sequence[str]) -> bool:
    """Whether a prediction, the text of ``answer``, holds the gold values and no others; order and repeats are free. A
    Python list, tuple, set or dict counts as its values, anything else as one; an empty one as a missing value. Numbers
    agree to 1e-6 (relative above 1) or, with two decimals or more, where gold rounds to them; two whole ones must be
    equal. A plain text may list several gold values with a comma and a blank between them."""
    right = _atoms(gold)
    values, plain = _values(prediction)
    if _same_sets(_atoms(values), right):
        return True
    if not plain or len(gold) <= 1:
        return False
    pieces = " ".join(values[0].split()).split(_COMMA)
    if any(_COMMA in (atom.text or "") for atom in right):
        return _made_of(pieces, right)
    return _same_sets(_atoms(pieces), right)


def lenient(prediction: str, gold: Sequence[str], yes_no: bool = True) -> bool:
    """Whether the published judge accepts a prediction: gold, or all its parts, occur in it as substrings. ``yes_no``:
    a gold yes or no is read as 1 or 0, as the judge within the run does and the scoring script does not."""
    joined = _COMMA.join(gold)
    if joined in prediction:
        return True
    said = prediction.replace("True", "1") if "True" in prediction else prediction.replace("False", "0")
    joined = {**_PUBLISHED, **(_PUBLISHED_YES_NO if yes_no else {})}.get(joined.lower(), joined)
    parts = joined.split(_COMMA) if _COMMA in joined else [joined.removesuffix(".0")]
    return all(part in said for part in parts)


def cells(rows: Iterable[Sequence[Any]]) -> list[str]:
    """The distinct values of a result as texts, row by row, without missing ones. Whole numbers as digits, others
    rounded to 6 decimals without closing zeros, true and false as 1 and 0."""
    values = [value for row in rows for value in row if value is not None]
    return list(dict.fromkeys(_cell(value) for value in values if not (isinstance(value, float) and isnan(value))))


def normal(prediction: str) -> str:
    """One text for all predictions that hold the same numbers or the same list, so that they can be counted."""
    values, plain = _values(prediction)
    atoms = _atoms(values)
    if plain and (atoms[0].number is None or prediction.casefold() in _TRUTHS):
        return prediction
    keys = (f"{key.normalize() + 0:f}" if isinstance(key, Decimal) else key or "none" for key in map(_key, atoms))
    return ", ".join(sorted(set(keys)))


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float):
        text = f"{value:.6f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
        return "0" if text == "-0" else text
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def _values(prediction: str) -> tuple[list[str], bool]:
    """What a prediction holds, and whether that is a plain text: a literal's content, else the prediction itself."""
    try:
        value = literal(_NUMPY.sub(r"\1", prediction.strip()))
    except NotLiteral:
        return [prediction], True
    if isinstance(value, list | tuple | set | dict):
        return list(_texts(value)), False
    return [value if isinstance(value, str) else prediction], True


def _texts(value: Any) -> Iterator[str]:
    """The values in nested collections, of a dict its values, as texts."""
    if isinstance(value, list | tuple | set | dict):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)
        return
    try:
        yield str(value)
    except ValueError:  # more digits than Python writes
        yield hex(value)


def _atoms(texts: Sequence[str]) -> list[_Atom]:
    """The distinct values of texts; without texts a missing one."""
    return list(dict.fromkeys(_atom(text) for text in texts)) or [_Atom(None)]


def _atom(text: str) -> _Atom:
    """A text as a value: blanks, one pair of quotes and case do not matter, dates are times, yes is 1."""
    plain = " ".join(text.split())
    if len(plain) > 1 and plain[0] == plain[-1] and plain[0] in "'\"":
        plain = plain[1:-1].strip()
    plain = plain.casefold()
    if plain in _MISSING:
        return _Atom(None)
    plain = _TRUTHS.get(plain, plain)
    if len(plain) <= _MAX_DIGITS and _NUMBER.fullmatch(plain):
        return _Atom(plain, Decimal(plain))
    if found := _TIME.fullmatch(plain):
        return _Atom(f"{found[1]} {found[2] or '00:00'}{found[3] or ':00'}")
    return _Atom(plain)


def _same_sets(found: Sequence[_Atom], gold: Sequence[_Atom]) -> bool:
    """Whether each value has its like on the other side."""
    mine, right = {_key(one) for one in found}, {_key(one) for one in gold}
    return all(any(_same(one, other) for other in gold) for one in found if _key(one) not in right) and all(
        any(_same(one, other) for one in found) for other in gold if _key(other) not in mine
    )


def _key(atom: _Atom) -> str | Decimal | None:
    """What values that are the same without any tolerance share."""
    return atom.text if atom.number is None else atom.number


def _same(found: _Atom, gold: _Atom) -> bool:
    """Whether two values agree: numbers that differ within the tolerance or after rounding gold, not two whole ones."""
    a, b = found.number, gold.number
    if a is None or b is None:
        return found.text == gold.text
    if a == b or (a == a.to_integral_value() and b == b.to_integral_value()):
        return a == b
    decimals, off = -int(a.as_tuple().exponent), abs(a - b)
    rounded = decimals >= _FEWEST_DECIMALS and 2 * off <= Decimal(1).scaleb(-decimals)
    return rounded or off <= _TOLERANCE * max(Decimal(1), abs(b))


def _made_of(texts: Sequence[str], gold: Sequence[_Atom]) -> bool:
    """Whether comma-delimited pieces are all gold values, taken out longest first, and nothing else."""
    pieces: list[_Atom | None] = [_atom(text) for text in texts]
    for atom in sorted(gold, key=lambda one: -len(one.text or "")):
        text = atom.text or ""
        parts = [_atom(part) for part in text.split(_COMMA)] if _COMMA in text else [atom]
        found = False
        for at in range(len(pieces) - len(parts) + 1):
            some = zip(pieces[at : at + len(parts)], parts, strict=True)
            if all(piece is not None and _same(piece, part) for piece, part in some):
                pieces[at : at + len(parts)] = [None] * len(parts)
                found = True
        if not found:
            return False
    return not any(pieces)


def share(flags: Sequence[bool]) -> float | None:
    """How many are true; None without any."""
    return sum(flags) / len(flags) if flags else None


def most_frequent(readings: Sequence[str | None]) -> str | None:
    """The most frequent reading, of equals the first; None where there is none."""
    readable = [one for one in readings if one is not None]
    return max(readable, key=readable.count, default=None)
