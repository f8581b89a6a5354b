"""Whole words in a text, whatever their case."""

from __future__ import annotations

import re
from collections.abc import Mapping


def replaced(text: str, swaps: Mapping[str, str]) -> str:
    """The text with whole words swapped, whatever their case, the longest first and none twice."""
    low = {right.casefold(): shown for right, shown in swaps.items() if right.strip()}
    if not low:
        return text
    found = "|".join(re.escape(right) for right in sorted(low, key=len, reverse=True))
    pattern = re.compile(rf"(?<!\w)(?:{found})(?!\w)", re.IGNORECASE)
    return pattern.sub(lambda one: low[one[0].casefold()], text)


def stands_in(value: str, text: str) -> bool:
    """Whether a text holds a value as whole words, whatever their case."""
    return bool(value.strip()) and re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text, re.IGNORECASE) is not None
