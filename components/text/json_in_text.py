"""JSON in a model's free text, as what is learnt is written."""

from __future__ import annotations

import json
from typing import Any


def object_in(text: str) -> dict[str, Any] | None:
    """What stands from the first brace to the last; None when that is no JSON object."""
    value = _decoded(text, "{", "}")
    return value if isinstance(value, dict) else None


def array_in(text: str) -> list[Any] | None:
    """What stands from the first square bracket to the last; None when that is no JSON array."""
    value = _decoded(text, "[", "]")
    return value if isinstance(value, list) else None


def lessons(value: object) -> list[str] | None:
    """A list of texts that are not empty; None when it is anything else, a plain text too."""
    if not isinstance(value, list) or not all(isinstance(one, str) and one.strip() for one in value):
        return None
    return [one.strip() for one in value]


def _decoded(text: str, first: str, last: str) -> object:
    start, end = text.find(first), text.rfind(last)
    try:
        return json.loads(text[start : end + 1]) if 0 <= start < end else None
    except (ValueError, RecursionError):
        return None
