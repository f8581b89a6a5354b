"""Python literals in what others wrote, without warnings about what they escape."""

from __future__ import annotations

import re
from ast import literal_eval
from typing import Any

_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_KNOWN = frozenset("\n\\'\"abfnrtvxuUN01234567")


class NotLiteral(ValueError):
    """The text is no literal."""


def literal(text: str) -> Any:
    """The value of a literal. Raises NotLiteral."""
    try:
        return literal_eval(_ESCAPE.sub(_escaped, text))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        raise NotLiteral(text[:80]) from None


def _escaped(found: re.Match[str]) -> str:
    """An escape that Python does not know is a backslash and a letter, as Python itself reads it."""
    return found[0] if found[1] in _KNOWN else "\\" + found[0]
