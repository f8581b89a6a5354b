"""Gold answers of questions whose files hold SQL only: worked out on the user's database once, then kept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

from components.ehr.statements import MAX_VALUE, filled
from components.files.kept_files import content_key, keep_bytes, kept_bytes
from components.files.rows import Row, files_digest
from components.sql import SqlError
from components.sql.reading import ReadOnly

_RULES = "1"  # goes up when the conventions change by which SQL is run, so that kept results are made anew
_MAX_ROWS = 1_000_000  # more than agents may read at once: a right answer may need them
Rows = list[list[Any]]


def gold_rows(
    asked: Sequence[tuple[Row, str]], key: str, file: Path, clock: str | None, *, cache: str, seconds: float
) -> list[Rows]:
    """The rows that each statement gives, kept in ``cache`` by the content of statements and database.

    ``key`` is where a question's row has its SQL; ``seconds`` limits one statement. Raises ConfigError when one fails.
    """
    folder = Path(cache)
    name = f"{content_key(_RULES, clock or '', files_digest(file), *(sql for _, sql in asked))}.json"
    raw = kept_bytes(folder, name)
    if raw is None:
        reader = ReadOnly(file, seconds, max_rows=_MAX_ROWS, max_value=MAX_VALUE)
        raw = orjson.dumps([_rows(row, key, filled(sql, clock), reader) for row, sql in asked])
        keep_bytes(folder, name, raw)
    found: list[Rows] = orjson.loads(raw)
    return found


def _rows(row: Row, key: str, sql: str, reader: ReadOnly) -> Rows:
    """The rows of one statement. Raises ConfigError."""
    try:
        found = [list(cells) for cells in reader.run(sql)]
    except SqlError as error:
        raise row.error(key, f"the gold SQL fails on {reader.path}: {error}") from None
    if any(isinstance(cell, bytes) for cells in found for cell in cells):
        raise row.error(key, f"the gold SQL gives bytes on {reader.path}; an answer must be text or numbers")
    return found
