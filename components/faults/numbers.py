"""Numbers in a text, put off by a share of themselves."""

from __future__ import annotations

import re
from decimal import Decimal, localcontext
from random import Random
from typing import NamedTuple

# A number that stands alone: no part of a word, a date, a time, an identifier or a version.
_ALONE = re.compile(r"(?<![\w.:/-])-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\w:/]|[.-]\d)")
_MORE_DIGITS = 30  # than a number has: those of the share, and of what comes of both
_ANY = re.compile(r"\d+(?:\.\d+)?")


class Shifted(NamedTuple):
    """A text, and how many of its numbers were changed."""

    text: str
    n: int


def shifted(text: str, amount: float, rng: Random, whole: bool = False) -> Shifted:
    """Put every number off by ``amount`` of itself (0.2: a fifth), up or down by chance, in its own digits.

    It changes by one unit of its last digit at least. Dates, times and identifiers stay; with ``whole`` any digits
    count, also those of ``TR5``.
    """
    count = 0

    def off(found: re.Match[str]) -> str:
        nonlocal count
        count += 1
        return _off(found[0], amount if rng.random() < 0.5 else -amount, whole)

    return Shifted((_ANY if whole else _ALONE).sub(off, text), count)


def _off(number: str, share: float, positive: bool) -> str:
    """One number, changed by a share of itself; ``positive``: not below 0."""
    plain = number.replace(",", "")
    with localcontext(prec=len(plain) + _MORE_DIGITS):
        value = Decimal(plain)
        exponent = value.as_tuple().exponent
        unit = Decimal(1).scaleb(exponent if isinstance(exponent, int) else 0)
        step = max(abs(value * Decimal(str(share))).quantize(unit), unit)
        moved = value + step.copy_sign(Decimal(str(share)))
        if (positive or value >= 0) and moved < 0:
            moved = value + step
        return f"{moved:,f}" if "," in number else f"{moved:f}"
