"""Tables of health records in columns, and the values of one column: its text, a list, or a number computed from it.

Tables are mapped from files as they are, never copied, or kept in memory. Nothing here starts a thread, because code of
models calls it where none may start; hence Arrow's streaming format. Only these types occur: whole numbers (int64),
numbers (double) and texts (string).

Source: Shi et al. 2024, EHRAgent, arXiv 2401.07128. Departures: distinct values come in the order of the table,
missing values do not spoil sums and means, and ``count`` is new.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from pandas import DataFrame, Series
from pandas.arrays import ArrowExtensionArray

from components.ehr.errors import EhrError, quote

SUFFIX = ".arrow"
ARROW_TYPES: Mapping[str, pa.DataType] = {"int": pa.int64(), "float": pa.float64(), "text": pa.string()}
Columns: TypeAlias = Any  # pa.Array or pa.ChunkedArray: the library has no types


class Tables:
    """The tables of one database. Files are mapped once per object; every ``load`` gives a new frame."""

    def __init__(self, folder: Path | None = None, tables: Mapping[str, pa.Table] | None = None) -> None:
        """Take the folder that ``components.ehr.columns.prepare`` gave, or tables in memory."""
        self._loaded: dict[str, pa.Table] = dict(tables or {})
        files = folder.glob(f"*{SUFFIX}") if folder is not None else ()
        self._files = {file.name.removesuffix(SUFFIX): file for file in files}
        self.names: tuple[str, ...] = tuple(sorted({*self._files, *self._loaded}))

    def load(self, name: str) -> DataFrame:
        """The whole table, without a copy. Raises EhrError (unknown_table) that lists the names."""
        wanted = name.strip() if isinstance(name, str) else name
        if wanted not in self.names:
            raise EhrError(f"There is no table {quote(name)}; there are {', '.join(self.names)}.", "unknown_table")
        if wanted not in self._loaded:
            with pa.memory_map(str(self._files[wanted])) as source:
                self._loaded[wanted] = pa.ipc.open_stream(source).read_all()  # a file's reader starts threads
        loaded = self._loaded[wanted]
        return to_frame({column: loaded[column] for column in loaded.column_names})


def to_frame(columns: Mapping[str, Columns]) -> DataFrame:
    """Columns as a frame over the same memory."""
    return DataFrame({name: ArrowExtensionArray(cells) for name, cells in columns.items()}, copy=False)


def require_table(table: object, tool: str) -> DataFrame:
    """What a tool was given, when it is a table. Raises EhrError (type_mismatch)."""
    if not isinstance(table, DataFrame):
        found = f"{type(table).__name__} {quote(table)}"
        raise EhrError(f"{tool} takes a table from LoadDB or FilterDB, found {found}.", "type_mismatch")
    return table


def column(table: DataFrame, name: str, request: str) -> Columns:
    """A column in one of the three types, without a copy where it is in one already. What code of a model added as
    another type counts as text. Raises EhrError (unknown_column) that repeats the ``request`` and lists the columns."""
    if name not in table.columns:
        have = ", ".join(map(str, table.columns))
        text = f"There is no column {quote(name)} (in {quote(request)}); the columns are {have}."
        raise EhrError(text, "unknown_column")
    series = table[name]
    if not isinstance(series, Series):
        raise EhrError(f"The table has {name!r} more than once (in {quote(request)}).", "type_mismatch")
    try:
        found: Columns = pa.array(series.array, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # objects of several types
        return pa.array([None if value is None or value != value else str(value) for value in series], pa.string())
    if pa.types.is_floating(found.type):
        found = found.cast(pa.float64())
        return pc.if_else(pc.is_nan(found), None, found) if pc.any(pc.is_nan(found)).as_py() else found
    if pa.types.is_integer(found.type):
        return found if found.type == pa.int64() else found.cast(pa.int64(), safe=False)
    if pa.types.is_string(found.type) or pa.types.is_large_string(found.type):
        return found if found.type == pa.string() else found.cast(pa.string())
    return pa.array([None if value is None else str(value) for value in found.to_pylist()], pa.string())


Value = str | float | list[str]
_STRAY = " \t\r\n[](){}'\"`"


def get_value(table: DataFrame, argument: str) -> Value:
    """The value that ``column`` or ``column, operation`` asks for. Without operation: the texts of the distinct values,
    joined with ``", "``, in the order of the table; the empty text without rows. A missing value is ``None``. Raises
    EhrError: unknown_column, unknown_operation, no_rows, type_mismatch (numbers asked of texts)."""
    require_table(table, "GetValue")
    request = str(argument)
    name, comma, operation = (part.strip(_STRAY) for part in request.strip(_STRAY).partition(","))
    values = column(table, name, request)
    if not comma:
        return ", ".join(texts(pc.unique(values)))
    match operation:
        case "mean" | "max" | "min":
            return _reduce(values, request, operation)
        case "sum":
            return _sum(values, request)
        case "list":
            return texts(values)
        case "count":
            return len(values) - int(values.null_count)
    have = "mean, max, min, sum, list, count"
    raise EhrError(f"There is no operation {quote(operation)}; the operations are {have}.", "unknown_operation")


def texts(values: Columns) -> list[str]:
    """The values as Python writes them: whole numbers as digits, others with their shortest decimals."""
    return [str(value) for value in values.to_pylist()]


def _sum(values: Columns, request: str) -> float:
    """Exact for whole numbers, and rounded once for others, whatever their order. Raises EhrError (type_mismatch)."""
    if pa.types.is_string(values.type):
        raise EhrError(f"{quote(request)} needs a column of numbers, and this one holds texts.", "type_mismatch")
    numbers = values.drop_null().to_numpy().tolist()
    return int(sum(numbers)) if pa.types.is_integer(values.type) else math.fsum(numbers)


def _reduce(values: Columns, request: str, operation: str) -> float | str:
    """The mean, or the least or greatest value that is not missing: a float of numbers, texts by code point."""
    total = _sum(values, request) if operation == "mean" else 0.0
    n_values: int = len(values) - values.null_count
    if not n_values:
        why = f"all {len(values)} values are missing" if len(values) else "the table has no rows"
        raise EhrError(f"{quote(request)} needs a value: {why}.", "no_rows")
    if operation == "mean":
        return total / n_values
    found: float | str = pc.min_max(values)[operation].as_py()
    return found if isinstance(found, str) else float(found)
