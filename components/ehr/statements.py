"""One SELECT over the SQLite file of a database, with the conventions of EHRSQL's statements filled in.

Source: Shi et al. 2024, EHRAgent, arXiv 2401.07128; conventions of Lee et al. 2022, EHRSQL, arXiv 2301.07695.
Departure: only text outside of literals is changed, apart from the formats of ``strftime`` and ``'now'``.
"""

import re
from pathlib import Path
from typing import Any

from components.ehr.errors import EhrError
from components.sql import ForbiddenSql, SqlError, UnreadableDatabase
from components.sql.cleaning import SPLIT_OPERATORS, VITAL_BOUNDS
from components.sql.reading import ReadOnly

SECONDS, MAX_ROWS, MAX_VALUE, MAX_SQL = 10.0, 10_000, 1_000_000, 100_000
_SHOWN = 300  # characters of the engine's message
_PARTS = re.compile(
    r"""(?P<clock>\bcurrent_time\b|'\s*(?:now|current_time)\s*')
    | (?P<format>\bstrftime\s*\(\s*'[^']*')
    | (?P<literal>'(?:[^']|'')*(?:'|\Z)|"(?:[^"]|"")*(?:"|\Z)|`[^`]*(?:`|\Z)|\[[^]]*(?:]|\Z)|--[^\n]*|/\*.*?(?:\*/|\Z))
    | (?P<vital>\b(?:VITALS)_(?:lower|upper)\b)
    | (?P<split>[<>!]\ =)
    """.replace("VITALS", "|".join(name.replace(" ", "_") for name in VITAL_BOUNDS)),
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_COMMENTS = re.compile(r"\s*(?:--[^\n]*(?:\n|$)|/\*.*?\*/)", re.DOTALL)
_FIRST = re.compile(r"\s*(?:select|with)\b", re.IGNORECASE)


def run_sql(file: Path, sql: str, clock: str | None, *, seconds: float = SECONDS) -> list[tuple[Any, ...]]:
    """The rows of one SELECT, or WITH and SELECT; ``current_time`` and ``'now'`` are the clock.

    Raises EhrError: forbidden_sql for any other statement, sql_error with SQLite's message or the limit that was
    passed (10,000 rows, a megabyte in one value); UnreadableDatabase where it is the file.
    """
    text = sql if isinstance(sql, str) else str(sql)
    if len(text) > MAX_SQL:
        raise EhrError(f"The statement has {len(text)} characters; at most {MAX_SQL} are allowed.", "sql_error")
    start = 0
    while comment := _COMMENTS.match(text, start):
        start = comment.end()
    if not _FIRST.match(text, start):
        raise EhrError("Only reading is allowed here: one SELECT, or WITH followed by SELECT.", "forbidden_sql")
    try:
        return ReadOnly(file, seconds, max_rows=MAX_ROWS, max_value=MAX_VALUE).run(fill_placeholders(text, clock))
    except UnreadableDatabase:
        raise
    except ForbiddenSql as error:
        raise EhrError(f"The statement is refused: {_short(error)}.", "forbidden_sql") from None
    except SqlError as error:
        raise EhrError(f"The statement failed: {_short(error)}.", "sql_error") from None


def _short(error: SqlError) -> str:
    """The engine's message, which may repeat the whole statement, to a length that can be read."""
    text = str(error)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]} ..."


def fill_placeholders(sql: str, clock: str | None) -> str:
    """The statement with the clock, the ranges of vital signs and the benchmark's spellings filled in.

    Without a clock, words that ask for it stay as they are.
    """

    def fill(found: re.Match[str]) -> str:
        text = found[0]
        match found.lastgroup:
            case "clock":
                return text if clock is None else f"'{clock}'"
            case "format":
                return text.replace("%y", "%Y").replace("%j", "%J")
            case "vital":
                name, _, end = text.lower().replace("_", " ").rpartition(" ")
                return str(VITAL_BOUNDS[name][end == "upper"])
            case "split":
                return SPLIT_OPERATORS.sub(r"\1=", text)
        return text

    return _PARTS.sub(fill, sql)
