"""The functions and constants of the calculator, of numbers and of dates, each checked before it computes."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta

from components.core.errors import ToolError

Value = bool | int | float | str | date | Sequence["Value"]
Function = Callable[..., Value]
CONSTANTS: Mapping[str, Value] = {"pi": math.pi, "e": math.e, "true": True, "false": False}
_DIGITS, _FACTORIAL = 15, 170
_FORMS = ("%m/%d/%Y", "%Y-%m-%d", "%m/%d/%y")  # of dates


def invalid(text: str) -> ToolError:
    """The error that the model is shown when its expression cannot be evaluated."""
    return ToolError(text, "invalid_expression")


def number(value: Value, where: str) -> float:
    """The value, when it is a number (a yes or no counts as 1 or 0). Raises ToolError."""
    if not isinstance(value, int | float):
        raise invalid(f"{where} needs numbers, found {value!r:.60}")
    return value


def numbers(where: str, values: Sequence[Value]) -> list[float]:
    """The arguments of min, max and sum: numbers, or one list of numbers. Raises ToolError."""
    first = values[0] if len(values) == 1 else values
    listed: Iterable[Value] = values if isinstance(first, str) or not isinstance(first, Sequence) else first
    found = [number(value, where) for value in listed]
    if not found:
        raise invalid(f"{where} needs at least one number")
    return found


def _total(*values: Value) -> Value:
    found = numbers("sum", values)
    return math.fsum(found) if any(isinstance(value, float) for value in found) else sum(found)


def _round(x: Value, digits: Value = 0) -> Value:
    """Half to even, as everywhere in Python; without digits the result is a whole number."""
    places = number(digits, "round")
    if not float(places).is_integer() or abs(places) > _DIGITS:
        raise invalid(f"round takes a whole number of digits from -{_DIGITS} to {_DIGITS}, found {digits!r}")
    return round(number(x, "round"), int(places)) if places else round(number(x, "round"))


def _factorial(n: Value) -> Value:
    whole = number(n, "factorial")
    if not float(whole).is_integer() or not 0 <= whole <= _FACTORIAL:
        raise invalid(f"factorial takes a whole number from 0 to {_FACTORIAL}, found {n!r}")
    return math.factorial(int(whole))


def _of_one(name: str, function: Callable[[float], float]) -> Function:
    return lambda x: function(number(x, name))


_OF_ONE = ("abs", "sqrt", "exp", "ln", "log10", "log2", "floor", "ceil", "int")
_NOT_OF_MATH: Mapping[str, Callable[[float], float]] = {"abs": abs, "ln": math.log, "int": int}
FUNCTIONS: Mapping[str, Function] = {
    "min": lambda *values: min(numbers("min", values)),
    "max": lambda *values: max(numbers("max", values)),
    "sum": _total,
    "round": _round,
    "log": lambda x, base=math.e: math.log(number(x, "log"), *([] if base == math.e else [number(base, "log")])),
    "factorial": _factorial,
    **{name: _of_one(name, _NOT_OF_MATH.get(name) or getattr(math, name)) for name in _OF_ONE},
}


def read_date(value: Value) -> date:
    """A date from its text. Raises ToolError, naming the forms."""
    if isinstance(value, date):
        return value
    for form in _FORMS:
        with suppress(ValueError):
            return datetime.strptime(str(value).strip(), form).date()
    raise invalid(f"{value!r:.60} is not a date; write it in quotes as 'MM/DD/YYYY' or 'YYYY-MM-DD'")


def later(start: date, days: float) -> date:
    """The date so many whole days later. Raises ToolError outside the years 1 to 9999."""
    if not float(days).is_integer():
        raise invalid(f"a date moves by whole days, found {days!r}")
    try:
        return start + timedelta(days=int(days))
    except OverflowError:
        raise invalid(f"{days:g} days from {start} is outside the calendar") from None


DATE_FUNCTIONS: Mapping[str, Function] = {
    "date": lambda text: read_date(text),
    "days_between": lambda start, end: (read_date(end) - read_date(start)).days,
    "add_days": lambda start, days: later(read_date(start), number(days, "add_days")),
}
