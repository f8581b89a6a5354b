"""What the ending of an episode says of a model's window: counted apart from errors, which are not scored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from components.core.types import CONTEXT_LENGTH

OVERFLOWS = "errors/context_length"


def overflowed(record: Mapping[str, Any]) -> float | None:
    """1 where an episode failed because a request was longer than the model takes, else 0; None after an error."""
    if record["stop"] == "error":
        return None
    return float(record["stop"] == "failed" and record.get("failure") == CONTEXT_LENGTH)


def overflow_line(metrics: Mapping[str, Mapping[str, Any]]) -> str | None:
    """How many episodes failed so, in words; None where none did."""
    share = metrics.get(OVERFLOWS, {})
    if not share.get("value"):
        return None
    n = share["n"]
    return f"context:    {round(share['value'] * n)} of {n} episodes failed: longer than the model's context window"
