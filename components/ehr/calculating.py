"""Arithmetic on one line, without names and within narrow limits.

Source: Shi et al. 2024, EHRAgent, arXiv 2401.07128. Departure: worked out here, where the published tool sends the
text to a service.
"""

import ast
import math
from collections.abc import Mapping

from components.arithmetic.evaluate import evaluate, parse
from components.arithmetic.functions import FUNCTIONS, Function, Value, invalid, number, numbers
from components.core.errors import ToolError
from components.ehr.errors import EhrError, quoted

LENGTH, BASE, EXPONENT = 500, 1e6, 64
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.UAdd, ast.USub)
_NODES = (ast.Expression, ast.BinOp, ast.UnaryOp, ast.Call, ast.List, ast.Tuple, ast.Load, *_OPERATORS)


def calculate(expression: str) -> float:
    """The number that an expression gives. Raises EhrError (bad_expression)."""
    said = expression if isinstance(expression, str) else str(expression)
    try:
        if len(said) > LENGTH:
            raise invalid(f"the expression has {len(said)} characters; at most {LENGTH} are allowed")
        _check(parse(said))
        return number(evaluate(said, {**_FUNCTIONS, "pow": _power}), "the result")
    except ToolError as error:
        raise EhrError(f"{quoted(said)} cannot be calculated: {error}.", "bad_expression") from None


def _check(tree: ast.Expression) -> None:
    """Raise ToolError for whatever is no number, list, operator or call of a known function."""
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
