"""Evaluation of one expression: its syntax tree is walked, nothing is ever executed.

Limits keep every call quick: length, depth, exponents and the size of each value.
"""

import ast
import inspect
import math
import operator
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches

from components.arithmetic.functions import CONSTANTS, Function, Value, invalid, number

LENGTH, DEPTH, LARGEST, EXPONENT = 2000, 50, 1e300, 10_000
_DIGITS, _WHOLE, _NAMED = 12, 1e15, 25
_SIGNS = str.maketrans({"×": "*", "·": "*", "÷": "/", "−": "-", "–": "-", "≤": "<=", "≥": ">=", "≠": "!=", "\n": " "})
_BINARY: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_ORDER: Mapping[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_THOUSANDS = "; a comma separates values, so write 1000, not 1,000"


def evaluate(text: str, functions: Mapping[str, Function], values: Mapping[str, Value] = CONSTANTS) -> Value:
    """The value of an expression over named ``values``; a function ``pow`` computes powers. Raises ToolError."""
    tree = parse(text)
    value = _Walk({**functions, "pow": functions.get("pow", _power)}, values).value(tree.body, 0)
    if isinstance(value, Sequence) and not isinstance(value, str):
        raise invalid(f"the expression gives {len(value)} values, not one{_THOUSANDS}")
    return value


def as_text(value: Value) -> str:
    """A value as text: 12 significant digits, whole numbers without a point, dates as MM/DD/YYYY."""
    if isinstance(value, float):
        short = float(f"{value:.{_DIGITS}g}")
        return str(int(short)) if short.is_integer() and abs(short) < _WHOLE else repr(short)
    return value.strftime("%m/%d/%Y") if isinstance(value, date) else str(value)


def parse(text: str) -> ast.Expression:
    """The syntax tree, with ^ and ** both for powers. Raises ToolError."""
    if not text.strip():
        raise invalid("the expression is empty")
    if len(text) > LENGTH:
        raise invalid(f"the expression has {len(text)} characters; at most {LENGTH} are allowed")
    parts = re.split(r"""('[^']*'|"[^"]*")""", text.strip())
    parts[::2] = [part.translate(_SIGNS).replace("^", "**") for part in parts[::2]]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of odd but legal spellings, such as 1or 2
            return ast.parse("".join(parts).strip(), mode="eval")
    except SyntaxError as error:
        hint = "; give one expression, without assignments" if re.search(r"(?<![=<>!])=(?!=)", text) else ""
        raise invalid(f"the expression cannot be read: {error.msg} (column {error.offset}){hint}") from None
    except (ValueError, RecursionError, MemoryError):
        raise invalid("the expression cannot be read: it is nested too deeply or has odd characters") from None


def _bounded(value: Value) -> Value:
    """The value, unless it is too large or not a real number. Raises ToolError."""
    if isinstance(value, complex):
        raise invalid("the result is not a real number (a root or power of a negative number)")
    if isinstance(value, int | float) and not abs(value) <= LARGEST:
        raise invalid(f"a result is larger than {LARGEST:g} or undefined")
    return value


def _power(x: Value, y: Value) -> Value:
    """A power, refused before it is computed when it would be too large. Raises ToolError."""
    base, exponent = number(x, "a power"), number(y, "a power")
    digits = abs(exponent) * abs(math.log10(abs(base))) if base else 0.0
    if abs(exponent) > EXPONENT or digits > math.log10(LARGEST):
        raise invalid(f"the power {x!r:.20}**{y!r:.20} is too large; results may have 300 digits")
    if base == 0 and exponent < 0:
        raise invalid("division by zero: 0 to a negative power")
    value: Value = base**exponent
    return _bounded(value)


@dataclass(frozen=True)
class _Walk:
    functions: Mapping[str, Function]
    values: Mapping[str, Value]

    def value(self, node: ast.expr, depth: int) -> Value:
        """The value of a node. Raises ToolError for whatever is not arithmetic."""
        if depth > DEPTH:
            raise invalid(f"the expression is nested deeper than {DEPTH} levels")
        depth += 1
        match node:
            case ast.Constant(value=bool() | int() | float() | str() as constant):
                return _bounded(constant)
            case ast.Name(id=name) if name in self.values:
                return self.values[name]
            case ast.Name(id=name):
                other = f"there is no value {name!r}; put the number itself, and texts such as 'mg/dL' in quotes"
                raise invalid(f"{name} is a function: call it as {name}(...)" if name in self.functions else other)
            case ast.UnaryOp(op=op, operand=operand):
                return self._unary(op, self.value(operand, depth))
            case ast.BinOp():
                return self._chain(node, depth)
            case ast.BoolOp(op=op, values=values):
                known = (bool(number(self.value(part, depth), "and, or")) for part in values)
                return all(known) if isinstance(op, ast.And) else any(known)
            case ast.Compare():
                return self._compare(node, depth)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.value(body if self.value(test, depth) else orelse, depth)
            case ast.Call(func=ast.Name(id=name)):
                return self._call(name, node, depth)
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                return [self.value(part, depth) for part in parts]
        kind = type(node).__name__
        raise invalid(f"{kind} is not allowed in an expression: only numbers, operators and the known functions are")

    def _unary(self, op: ast.unaryop, value: Value) -> Value:
        operand = number(value, "a sign")
        if isinstance(op, ast.Not):
            return not operand
        if isinstance(op, ast.Invert):
            raise invalid("the operator ~ is not allowed")
        return -operand if isinstance(op, ast.USub) else +operand

    def _chain(self, node: ast.BinOp, depth: int) -> Value:
        """A row of operators, from the left without recursion: long sums are not deep."""
        row = [node]
        while isinstance(row[-1].left, ast.BinOp):
            row.append(row[-1].left)
        value = self.value(row[-1].left, depth)
        for part in reversed(row):
            right, operation = self.value(part.right, depth), _BINARY.get(type(part.op))
            try:
                if isinstance(part.op, ast.Pow):
                    value = self.functions["pow"](value, right)
                elif operation is None:
                    raise invalid("only the operators + - * / // % ** and ^ (power) are allowed")
                else:
                    value = _bounded(operation(number(value, "arithmetic"), number(right, "arithmetic")))
            except ZeroDivisionError:
                raise invalid("division by zero") from None
            except OverflowError:
                raise invalid(f"a result is larger than {LARGEST:g}") from None
        return value

    def _compare(self, node: ast.Compare, depth: int) -> bool:
        values = [self.value(part, depth) for part in (node.left, *node.comparators)]
        for op, left, right in zip(node.ops, values, values[1:], strict=False):
            if isinstance(op, ast.Eq | ast.NotEq):
                holds = (left == right) is isinstance(op, ast.Eq)
            elif type(op) in _ORDER:
                holds = _ORDER[type(op)](number(left, "a comparison"), number(right, "a comparison"))
            else:
                raise invalid("only the comparisons < <= > >= == != are allowed")
            if not holds:
                return False
        return True

    def _call(self, name: str, node: ast.Call, depth: int) -> Value:
        if name not in self.functions:
            near, have = get_close_matches(name, self.functions, 3), list(self.functions)
            more = f" and {len(have) - _NAMED} more" if len(have) > _NAMED else ""
            hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(have[:_NAMED])}{more}"
            raise invalid(f"there is no function {name!r}; {hint}")
        function = self.functions[name]
        given = [self.value(part, depth) for part in node.args]
        named = {part.arg: self.value(part.value, depth) for part in node.keywords if part.arg is not None}
        if len(named) < len(node.keywords):
            raise invalid("** is not allowed in a call")
        try:
            inspect.signature(function).bind(*given, **named)
        except TypeError as error:
            raise invalid(f"{name}: {error}{_THOUSANDS if len(given) > 1 else ''}") from None
        try:
            return _bounded(function(*given, **named))
        except (ValueError, ArithmeticError) as error:
            values = ", ".join([*map(as_text, given), *(f"{key}={as_text(value)}" for key, value in named.items())])
            raise invalid(f"{name}({values:.60}) cannot be computed: {error}") from None
