"""Rows as the text that models read and scorers compare.

Source: Liao et al. 2024, arXiv 2410.17657; Lee et al. 2024, arXiv 2405.06673 (numbers to 3 decimals, rows
sorted, the first 100 compared).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any


def cell_text(value: Any) -> str:
    """What is convertible to a number as a float with at most 3 decimals, anything else as its text."""
    try:
        return str(round(float(value), 3))
    except (TypeError, ValueError, OverflowError):
        return str(value)


def text_rows(rows: Iterable[Sequence[Any]], limit: int = 100) -> list[list[str]]:
    """Rows of texts, sorted as lists of texts, the first ``limit`` of them."""
    return sorted([cell_text(value) for value in row] for row in rows)[:limit]


def result_text(rows: Iterable[Sequence[Any]], limit: int = 100) -> str:
    """Rows in Python's list notation; ``[]`` without rows."""
    return str(text_rows(rows, limit))
