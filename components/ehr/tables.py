"""Tables of health records in columns: mapped from files as they are, never copied, or held in memory.

Nothing here starts a thread, because code of models calls it where none may start; hence Arrow's streaming format.
Only these types occur: whole numbers (int64), numbers (double) and texts (string); a missing value is missing.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from pandas import DataFrame, Series
from pandas.arrays import ArrowExtensionArray

from components.ehr.errors import EhrError, quoted

SUFFIX = ".arrow"
ARROW_TYPES: Mapping[str, pa.DataType] = {"int": pa.int64(), "float": pa.float64(), "text": pa.string()}
_PLAIN = (pa.int64(), pa.string())
Columns: TypeAlias = Any  # pa.Array or pa.ChunkedArray: the library has no types


class Tables:
    """The tables of one database. Files are mapped once per object; every ``load`` gives a frame of its own."""

    def __init__(self, folder: Path | None = None, held: Mapping[str, pa.Table] | None = None) -> None:
        """Take the folder that ``components.ehr.columns.prepare`` gave, or tables in memory."""
        self._held: dict[str, pa.Table] = dict(held or {})
        files = sorted(folder.glob(f"*{SUFFIX}")) if folder is not None else []
        self._files = {file.name.removesuffix(SUFFIX): file for file in files}
        self.names: tuple[str, ...] = tuple(sorted({*self._files, *self._held}))

    @classmethod
    def of(cls, tables: Mapping[str, tuple[Sequence[str], Sequence[str], Sequence[Sequence[Any]]]]) -> "Tables":
        """Tables in memory: name -> columns, their types (int, float, text), rows."""
        return cls(held={name: _table(*parts) for name, parts in tables.items()})

    def load(self, name: str) -> DataFrame:
        """The whole table, without a copy. Raises EhrError (unknown_table) that lists the names."""
        wanted = name.strip() if isinstance(name, str) else name
        if wanted not in self.names:
            raise EhrError(f"There is no table {quoted(name)}; there are {', '.join(self.names)}.", "unknown_table")
        if wanted not in self._held:
            with pa.memory_map(str(self._files[wanted])) as source:
                self._held[wanted] = pa.ipc.open_stream(source).read_all()  # a file's reader starts threads
        held = self._held[wanted]
        return framed({column: held[column] for column in held.column_names})


def framed(columns: Mapping[str, Columns]) -> DataFrame:
    """Columns as a frame over the same memory."""
    return DataFrame({name: ArrowExtensionArray(cells) for name, cells in columns.items()}, copy=False)


def checked(table: object, tool: str) -> DataFrame:
    """What a tool was given, when it is a table. Raises EhrError (type_mismatch)."""
    if not isinstance(table, DataFrame):
        found = f"{type(table).__name__} {quoted(table)}"
        raise EhrError(f"{tool} takes a table from LoadDB or FilterDB, found {found}.", "type_mismatch")
    return table


def column(table: DataFrame, name: str, said: str) -> Columns:
    """A column in one of the three types, without a copy where it is in one already.

    What code of a model added as another type counts as text. Raises EhrError (unknown_column) that repeats what was
    ``said`` and lists the columns.
    """
    if name not in table.columns:
        have = ", ".join(map(str, table.columns))
        raise EhrError(
            f"There is no column {quoted(name)} (in {quoted(said)}); the columns are {have}.", "unknown_column"
        )
    series = table[name]
    if not isinstance(series, Series):
        raise EhrError(f"The table has {name!r} more than once (in {quoted(said)}).", "type_mismatch")
    return _plain(series)


def _plain(series: Series) -> Columns:
    """A column as Arrow's whole numbers, numbers without NaN, or texts."""
    try:
        found: Columns = pa.array(series.array, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # objects of several types
        return pa.array([None if value is None or value != value else str(value) for value in series], pa.string())
    if pa.types.is_floating(found.type):
        found = found.cast(pa.float64())
        return pc.if_else(pc.is_nan(found), None, found) if pc.any(pc.is_nan(found)).as_py() else found
    if found.type in _PLAIN:
        return found
    if pa.types.is_large_string(found.type) or pa.types.is_integer(found.type):
        return found.cast(pa.string() if pa.types.is_large_string(found.type) else pa.int64(), safe=False)
    return pa.array([None if value is None else str(value) for value in found.to_pylist()], pa.string())


def _table(columns: Sequence[str], types: Sequence[str], rows: Sequence[Sequence[Any]]) -> pa.Table:
    """A table in memory from rows."""
    values = list(zip(*rows, strict=True)) if rows else [()] * len(columns)
    arrays = [pa.array(list(cells), ARROW_TYPES[kind]) for cells, kind in zip(values, types, strict=True)]
    return pa.Table.from_arrays(arrays, names=list(columns))
