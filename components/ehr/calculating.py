"""Arithmetic on one line, and dates from a database's own present time.

Source: Shi et al. 2024, EHRAgent, arXiv 2401.07128. Departures: arithmetic is evaluated here, within narrow limits and
without names, where the published tool sends the text to a service; the clock is the database's, where the published
tool takes the engine's time of day, and SQLite moves it.
"""

import ast
import math
import re
import sqlite3
from collections.abc import Mapping
from contextlib import closing

from components.arithmetic.evaluate import evaluate, parse
from components.arithmetic.functions import FUNCTIONS, Function, Value, invalid, number, numbers
from components.core.errors import ToolError
from components.ehr.errors import EhrError, quote

LENGTH, BASE, EXPONENT = 500, 1e6, 64
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.UAdd, ast.USub)
_NODES = (ast.Expression, ast.BinOp, ast.UnaryOp, ast.Call, ast.List, ast.Tuple, ast.Load, *_OPERATORS)


def calculate(expression: str) -> float:
    """The number that an expression gives. Raises EhrError (bad_expression)."""
    text = expression if isinstance(expression, str) else str(expression)
    try:
        if len(text) > LENGTH:
            raise invalid(f"the expression has {len(text)} characters; at most {LENGTH} are allowed")
        _check(parse(text))
        return number(evaluate(text, {**_FUNCTIONS, "pow": _power}), "the result")
    except ToolError as error:
        raise EhrError(f"{quote(text)} cannot be calculated: {error}.", "bad_expression") from None


def _check(tree: ast.Expression) -> None:
    """Raise ToolError for whatever is not a number, list, operator or call of a known function."""
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call) and not node.keywords}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            continue
        if isinstance(node, ast.Name) and id(node) in called and node.id in _FUNCTIONS:
            continue
        if not isinstance(node, _NODES):
            what = f"the name {node.id!r}" if isinstance(node, ast.Name) else type(node).__name__
            have = ", ".join(_FUNCTIONS)
            raise invalid(f"{what} is not allowed; numbers, lists, + - * / // % ** ^ and the functions {have} are")


def _power(x: Value, y: Value) -> Value:
    """A power of a small base and exponent. Raises ToolError."""
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
    "mean": _mean,
    "average": _mean,
    "avg": _mean,
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
    """The clock's time moved by one or more modifiers in turn, as ``YYYY-MM-DD HH:MM:SS``.

    Raises EhrError (bad_duration), also where the database has no clock.
    """
    if not isinstance(duration, str) or len(duration) > _LENGTH:
        raise _bad(duration, _FORM)
    if clock is None:
        raise _bad(duration, "this database has no present time; take times from its tables")
    modifiers = [_modifier(part.strip().lower(), duration) for part in duration.split(",")]
    with closing(sqlite3.connect(":memory:")) as engine:
        marks = ", ?" * len(modifiers)
        (moved,) = engine.execute(f"SELECT datetime(?{marks})", (clock, *modifiers)).fetchone()
    if moved is None or not _TIME.fullmatch(moved):
        raise _bad(duration, "the result is not between the years 0 and 9999")
    return str(moved)


def _modifier(part: str, duration: str) -> str:
    """One modifier as SQLite spells it. Raises EhrError."""
    if start := _START.fullmatch(part):
        return f"start of {start[1]}"
    if amount := _AMOUNT.fullmatch(part):
        return f"{amount[1] or '+'}{amount[2]} {amount[3]}"
    raise _bad(duration, _FORM)


def _bad(duration: object, why: str) -> EhrError:
    return EhrError(f"The duration {quote(duration)} cannot be used: {why}.", "bad_duration")
