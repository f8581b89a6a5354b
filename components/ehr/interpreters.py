"""Tools that need no table: one SELECT, arithmetic on one line, and dates from a database's own time.

Source: Shi et al. 2024, EHRAgent, arXiv 2401.07128; conventions of statements: Lee et al. 2022, EHRSQL, arXiv
2301.07695. Departures: of a statement only text outside of literals is changed, apart from the formats of ``strftime``
and ``'now'``; arithmetic is evaluated here, within narrow limits and without names, where the published tool sends the
text to a service; the clock is the database's, where the published tool takes the engine's time of day.
"""

import ast
import math
import re
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from components.arithmetic.evaluate import evaluate, parse
from components.arithmetic.functions import FUNCTIONS, Function, Value, invalid, number, numbers
from components.core.errors import ToolError
from components.ehr.errors import EhrError, quote
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
    """The rows of one SELECT, or WITH and SELECT; ``current_time`` and ``'now'`` are the clock. Raises EhrError:
    forbidden_sql for any other statement, sql_error with SQLite's message or the limit that was passed (10,000 rows, a
    megabyte in one value); UnreadableDatabase where it is the file."""
    text = str(sql)
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
    except SqlError as error:
        message = str(error)  # which may repeat the whole statement
        short = message if len(message) <= _SHOWN else f"{message[:_SHOWN]} ..."
        if isinstance(error, ForbiddenSql):
            raise EhrError(f"The statement is refused: {short}.", "forbidden_sql") from None
        raise EhrError(f"The statement failed: {short}.", "sql_error") from None


def fill_placeholders(sql: str, clock: str | None) -> str:
    """The statement with the clock (if there is one), ranges of vital signs and the benchmark's spellings filled in."""

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


LENGTH, BASE, EXPONENT = 500, 1e6, 64
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.UAdd, ast.USub)
_NODES = (ast.Expression, ast.BinOp, ast.UnaryOp, ast.Call, ast.List, ast.Tuple, ast.Load, *_OPERATORS)


def calculate(expression: str) -> float:
    """The number that an expression gives. Raises EhrError (bad_expression)."""
    text = str(expression)
    try:
        if len(text) > LENGTH:
            raise invalid(f"the expression has {len(text)} characters; at most {LENGTH} are allowed")
        tree = parse(text)
        called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call) and not node.keywords}
        for node in ast.walk(tree):  # numbers, lists, operators and calls of known functions, and nothing else
            if isinstance(node, ast.Constant) and type(node.value) in (int, float):
                continue
            if isinstance(node, ast.Name) and id(node) in called and node.id in _FUNCTIONS:
                continue
            if not isinstance(node, _NODES):
                what = f"the name {node.id!r}" if isinstance(node, ast.Name) else type(node).__name__
                have = ", ".join(_FUNCTIONS)
                raise invalid(f"{what} is not allowed; numbers, lists, + - * / // % ** ^ and the functions {have} are")
        return number(evaluate(text, {**_FUNCTIONS, "pow": _power}), "the result")
    except ToolError as error:
        raise EhrError(f"{quote(text)} cannot be calculated: {error}.", "bad_expression") from None


def _power(x: Value, y: Value) -> Value:
    base, exponent = number(x, "a power"), number(y, "a power")
    if abs(base) > BASE or abs(exponent) > EXPONENT:
        raise invalid(f"a power may have a base up to {BASE:g} and an exponent up to {EXPONENT}")
    try:
        value: float | complex = base**exponent
    except ArithmeticError:
        raise invalid("a power is undefined or too large") from None
    if isinstance(value, complex):
        raise invalid("the result is not a real number (a power of a negative number)")
    return value


def _mean(*values: Value) -> Value:
    found = numbers("mean", values)
    return math.fsum(found) / len(found)


_FUNCTIONS: Mapping[str, Function] = {
    **{name: FUNCTIONS[name] for name in ("max", "min", "sum")},
    **dict.fromkeys(("mean", "average", "avg"), _mean),
    **{name: FUNCTIONS[name] for name in ("abs", "round", "sqrt", "floor", "ceil")},
}


_LENGTH = 300  # characters: fewer modifiers than one call of SQLite takes
_AMOUNT = re.compile(r"([+-]?)(\d{1,9}(?:\.\d{1,9})?)\s*(year|month|day|hour|minute|second)s?", re.ASCII)
_START = re.compile(r"start\s+of\s+(year|month|day)")
_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
_FORM = (
    "write a number and year, month, day, hour, minute or second, such as '-1 year', or 'start of year', 'start of"
    " month', 'start of day'; separate several by commas, as in 'start of month, -1 month'"
)


def calendar(duration: str, clock: str | None) -> str:
    """The clock's time moved by one or more modifiers in turn, as ``YYYY-MM-DD HH:MM:SS``. Raises EhrError
    (bad_duration), also where the database has no clock."""
    if not isinstance(duration, str) or len(duration) > _LENGTH:
        raise _bad(duration, _FORM)
    if clock is None:
        raise _bad(duration, "this database has no present time; take times from its tables")
    modifiers = []
    for part in (part.strip().lower() for part in duration.split(",")):
        start, amount = _START.fullmatch(part), _AMOUNT.fullmatch(part)
        if start is None and amount is None:
            raise _bad(duration, _FORM)
        modifiers.append(f"{amount[1] or '+'}{amount[2]} {amount[3]}" if amount else " ".join(part.split()))
    with closing(sqlite3.connect(":memory:")) as engine:
        marks = ", ?" * len(modifiers)
        (moved,) = engine.execute(f"SELECT datetime(?{marks})", (clock, *modifiers)).fetchone()
    if moved is None or not _TIME.fullmatch(moved):
        raise _bad(duration, "the result is not between the years 0 and 9999")
    return str(moved)


def _bad(duration: object, why: str) -> EhrError:
    return EhrError(f"The duration {quote(duration)} cannot be used: {why}.", "bad_duration")
