"""What stands in a column of a table: its text, a list, or a number worked out from it.

Source: Shi et al. 2024, EHRAgent, arXiv 2401.07128. Departures: distinct values come in the order of the table,
missing values do not spoil sums and means, and ``count`` is new.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pandas import DataFrame

from components.ehr.errors import EhrError, quoted
from components.ehr.tables import Columns, checked, column

Value = str | float | list[str]
_STRAY = " \t\r\n[](){}'\"`"


def get_value(table: DataFrame, argument: str) -> Value:
    """The value that ``column`` or ``column, operation`` asks for.

    Without operation: the texts of the distinct values, joined with ``", "``, in the order of the table; the empty
    text without rows. A missing value is ``None``. Raises EhrError: unknown_column, unknown_operation, no_rows,
    type_mismatch (numbers asked of texts).
    """
    checked(table, "GetValue")
    said = argument if isinstance(argument, str) else str(argument)
    name, comma, operation = (part.strip(_STRAY) for part in said.strip(_STRAY).partition(","))
    values = column(table, name, said)
    if not comma:
        return ", ".join(texts(pc.unique(values)))
    if operation not in _OPERATIONS:
        have = ", ".join(_OPERATIONS)
        raise EhrError(f"There is no operation {quoted(operation)}; the operations are {have}.", "unknown_operation")
    return _OPERATIONS[operation](values, said)


def texts(values: Columns) -> list[str]:
    """The values as Python writes them: whole numbers as digits, others with their shortest decimals."""
    return [str(value) for value in values.to_pylist()]


def _numbers(values: Columns, said: str) -> list[Any]:
    """The numbers that are not missing. Raises EhrError (type_mismatch)."""
    if pa.types.is_string(values.type):
        raise EhrError(f"{quoted(said)} needs a column of numbers, and this one holds texts.", "type_mismatch")
    found: list[Any] = values.drop_null().to_numpy().tolist()
    return found


def _sum(values: Columns, said: str) -> float:
    """Exact for whole numbers, and rounded once for others, whatever their order."""
    numbers = _numbers(values, said)
    if pa.types.is_integer(values.type):
        return int(sum(numbers))
    return math.fsum(numbers)


def _mean(values: Columns, said: str) -> float:
    n_values: int = len(values) - values.null_count
    total = _sum(values, said)
    if not n_values:
        raise _none(values, said)
    return total / n_values


def _extreme(which: str) -> Callable[[Columns, str], Value]:
    """The least or greatest value that is not missing: a float of numbers, texts by code point."""

    def extreme(values: Columns, said: str) -> Value:
        found = pc.min_max(values)[which].as_py()
        if found is None:
            raise _none(values, said)
        return found if isinstance(found, str) else float(found)

    return extreme


def _none(values: Columns, said: str) -> EhrError:
    """The error where an operation needs a value and there is none."""
    why = f"all {len(values)} values are missing" if len(values) else "the table has no rows"
    return EhrError(f"{quoted(said)} needs a value: {why}.", "no_rows")


_OPERATIONS: Mapping[str, Callable[[Columns, str], Value]] = {
    "mean": _mean,
    "max": _extreme("max"),
    "min": _extreme("min"),
    "sum": _sum,
    "list": lambda values, _: texts(values),
    "count": lambda values, _: len(values) - values.null_count,
}
