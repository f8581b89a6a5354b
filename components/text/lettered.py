"""Lettered options: a list as letters and texts, the letter of a text, options at the end of a question."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from string import ascii_uppercase

_OPTION = re.compile(r"\s*([A-Z])\.\s*(\S.*?)\s*")


def lettered(texts: Iterable[str]) -> dict[str, str]:
    """A, B, C ... -> text, at most 26."""
    return dict(zip(ascii_uppercase, texts, strict=False))


def letter_of(choices: Mapping[str, str], text: str) -> str | None:
    """The letter of the one option that says ``text``: letter by letter, or but for case, spaces and a final
    full stop; None when there is none, or several."""
    for same in (str.strip, _plain):
        found = [letter for letter, option in choices.items() if same(option) == same(text)]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def split_options(text: str) -> tuple[str, dict[str, str]]:
    """A question and the options at its end, one a line (``A. text``), counted from A and at least two.

    What does not end so comes back whole and without options.
    """
    lines = text.rstrip().split("\n")
    choices: dict[str, str] = {}
    for number in range(len(lines) - 1, -1, -1):
        match = _OPTION.fullmatch(lines[number])
        if match is None:
            if lines[number].strip():
                break
            continue
        choices[match[1]] = match[2]
        if match[1] == "A":
            found = dict(reversed(choices.items()))
            right = len(found) > 1 and "".join(found) == ascii_uppercase[: len(found)]
            return ("\n".join(lines[:number]).rstrip(), found) if right else (text, {})
    return text, {}


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(". ")
