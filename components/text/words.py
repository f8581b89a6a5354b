"""Whole words and names in a text, whatever their case; a text as a terminal may have it."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from difflib import get_close_matches

_ZEROS = re.compile(r"(?<!\d)0+(?=\d)")  # before a number


def replaced(text: str, swaps: Mapping[str, str]) -> str:
    """The text with whole words swapped, whatever their case, the longest first and none twice."""
    low = {right.casefold(): other for right, other in swaps.items() if right.strip()}
    if not low:
        return text
    found = "|".join(re.escape(right) for right in sorted(low, key=len, reverse=True))
    pattern = re.compile(rf"(?<!\w)(?:{found})(?!\w)", re.IGNORECASE)
    return pattern.sub(lambda one: low[one[0].casefold()], text)


def stands_in(value: str, text: str) -> bool:
    """Whether a text holds a value as whole words, whatever their case."""
    return bool(value.strip()) and re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text, re.IGNORECASE) is not None


def plain(text: str) -> str:
    """A text in lower case without accents, for comparison."""
    letters = unicodedata.normalize("NFKD", text.casefold())
    return "".join(one for one in letters if not unicodedata.combining(one))


def meant(name: str, known: Iterable[str]) -> str:
    """``did you mean a or b? `` before a list of all names, ignoring case; empty if no name is near."""
    spelled = {_ZEROS.sub("", one.casefold()): one for one in known}
    close = [spelled[one] for one in get_close_matches(_ZEROS.sub("", name.casefold()), list(spelled), 3, 0.5)]
    return f"did you mean {' or '.join(close)}? " if close else ""


def written_out(text: str) -> str:
    """A text of one or several lines with its control characters as escapes; whatever else is white is a blank."""
    if text.isprintable():
        return text
    lines = text.replace("\t", "    ").split("\n")
    return "\n".join(
        "".join(" " if c.isspace() else c if c.isprintable() else repr(c)[1:-1] for c in line.rstrip())
        for line in lines
    )
