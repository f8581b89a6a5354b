"""Rows of a table that meet conditions, evaluated on whole columns.

Source: Shi et al. 2024, EHRAgent, arXiv 2401.07128. Departures: every condition counts or is refused, values may hold
any characters, missing values can be asked for, and groups can be counted as the paper's appendix B has it.
"""

import ast
import re
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pandas import DataFrame, RangeIndex
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import extract

from components.ehr.errors import EhrError, quote
from components.ehr.tables import ARROW_TYPES, Columns, column, require_table, texts

Atom = str | int | float
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_WHOLE = re.compile(r"([+-]?\d{1,19})(?:\.0*)?", re.ASCII)
_LARGEST = 2**63
_NULLS = {"null", "none", "nan"}
_LINE = re.compile("\r\n|[\r\n]")  # as Python counts lines
_NAME = r"\s*([^\W\d]\w*)\s*"
_EXTREME = re.compile(rf"\s*(max|min)\s*\({_NAME}\)\s*")
_COUNT = re.compile(rf"\s*count\s*\({_NAME}\)\s*(>=|<=|!=|==|>|<|=)(.*)", re.S)
_MEMBER = re.compile(r"\s*([^\W\d]\w*)\s+in\b(.*)", re.S)
_COMPARED = re.compile(rf"{_NAME}(>=|<=|!=|==|>|<|=)(.*)", re.S)
_ORDERED: Mapping[str, Callable[[Any, Any], Any]] = {
    ">": pc.greater,
    ">=": pc.greater_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    "=": pc.equal,
    "==": pc.equal,
    "!=": pc.not_equal,
}
_NOWHERE = pa.array([], pa.uint64())
_MOST = 100  # conditions in one call
_HELD: Mapping[str, type] = {"int": int, "float": float, "text": str}  # what a column of a kind can hold
_PROPOSED, _COMPARABLE = 5, 1000  # existing values that an error names; characters of a value that are compared
_FORMS = (
    "write COLUMN=value (or != < <= > >=), COLUMN in [value, value], max(COLUMN) or min(COLUMN); || stands between two"
)


def unquote(text: str) -> str:
    """The text without one pair of matching quotes."""
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


def is_null(written: str) -> bool:
    """Whether a missing value is meant: one of three words, without quotes."""
    return written.lower() in _NULLS


def as_kind(text: str, kind: str) -> Atom | None:
    """The value in a column of a type (int, float, text); None for what such a column cannot hold.

    A whole number beyond 64 bits is given as a float.
    """
    if kind == "text":
        return text
    text = text.strip()
    if not _NUMBER.fullmatch(text):
        return None
    whole = _WHOLE.fullmatch(text) if kind == "int" else None
    value = int(whole[1]) if whole else float(text)
    if kind == "int" and -_LARGEST <= value < _LARGEST:
        return int(value) if value == int(value) else None
    return float(value)


def members(written: str) -> list[str]:
    """The members of a list as texts: of a Python literal, else what commas separate. Bare numbers are as written,
    since in a column of texts they are codes (``250.10``)."""
    text = written.strip()
    with warnings.catch_warnings(), suppress(ValueError, SyntaxError, RecursionError, MemoryError):  # no literal
        warnings.simplefilter("ignore")  # of odd escapes in texts
        node = ast.parse(text, mode="eval").body
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            ast.literal_eval(node)
            lines = [line.encode() for line in _LINE.split(text)]  # once: ast.get_source_segment does it per member
            return [member for one in node.elts if (member := _member(one, lines)) is not None]
    parts = (part.strip() for part in text.strip("[](){} \t\r\n").split(","))
    return [unquote(part) for part in parts if part]


def _member(node: ast.expr, lines: list[bytes]) -> str | None:
    """The content of a text, or a number as it is written; None for what is neither."""
    value = ast.literal_eval(node)
    if isinstance(value, int | float):
        return lines[node.lineno - 1][node.col_offset : node.end_col_offset].decode()
    return value if isinstance(value, str) else None


def filter_rows(table: DataFrame, conditions: str, groups: bool = True) -> DataFrame:
    """The rows that meet all conditions, each applied to what the ones before it left; rows are renumbered.

    ``groups``: whether ``count(COLUMN) op number`` is offered. Raises EhrError: bad_condition, unknown_column,
    type_mismatch, no_such_value (an equality that no row of ``table`` meets, with the nearest values).
    """
    require_table(table, "FilterDB")
    rows = _Rows(table)
    parts = str(conditions).split("||")
    if len(parts) > _MOST:
        raise _bad(conditions, f"it joins {len(parts)} conditions; at most {_MOST} are allowed")
    for condition in parts:
        rows = _applied(condition.strip(), rows, groups)
        if not len(rows):
            break
    return rows.frame()


@dataclass(frozen=True)
class _Rows:
    """Rows of a table: all of them, or those at these places."""

    table: DataFrame
    places: pa.Array | None = None

    def __len__(self) -> int:
        return len(self.table) if self.places is None else len(self.places)

    def column(self, name: str, request: str) -> Columns:
        """A column of these rows. Raises EhrError."""
        whole = column(self.table, name, request)
        return whole if self.places is None else whole.take(self.places)

    def where(self, mask: Any) -> "_Rows":
        """Those of these rows for which the mask is true."""
        found = pc.indices_nonzero(mask)
        return _Rows(self.table, found if self.places is None else self.places.take(found))

    def frame(self) -> DataFrame:
        """These rows as a new table."""
        if self.places is None:
            return self.table
        taken = self.table.take(self.places.to_numpy())
        taken.index = RangeIndex(len(taken))
        return taken


def _applied(condition: str, rows: _Rows, groups: bool) -> _Rows:
    """The rows that meet one condition. Raises EhrError."""
    if extreme := _EXTREME.fullmatch(condition):
        values = rows.column(extreme[2], condition)
        limit = pc.min_max(values)[extreme[1]]
        return rows.where(pc.equal(values, limit))
    if groups and (counted := _COUNT.fullmatch(condition)):
        return rows.where(_in_groups(rows.column(counted[1], condition), counted[2], counted[3], condition))
    if listed := _MEMBER.fullmatch(condition):
        values = rows.column(listed[1], condition)
        if not listed[2].strip():
            raise _bad(condition, "the list is missing")
        kind = _kind(values)
        atoms = (as_kind(text, kind) for text in members(listed[2]))
        wanted = [atom for atom in atoms if isinstance(atom, _HELD[kind])]
        return rows.where(pc.is_in(values, value_set=pa.array(wanted, ARROW_TYPES[kind])))
    if compared := _COMPARED.fullmatch(condition):
        return _compared(rows, compared[1], compared[2].replace("==", "="), compared[3].strip(), condition)
    raise _bad(condition, f"it cannot be read; {_FORMS}")


def _compared(rows: _Rows, name: str, sign: str, written: str, condition: str) -> _Rows:
    """The rows whose value compares so to the one that was written. Raises EhrError."""
    values = rows.column(name, condition)
    if not written:
        raise _bad(condition, "the value is missing")
    if sign in ("=", "!=") and is_null(written):
        return rows.where(pc.is_null(values) if sign == "=" else pc.is_valid(values))
    text, kind = unquote(written), _kind(values)
    atom = as_kind(text, kind)
    if atom is None and sign not in ("=", "!="):
        kinds = "whole numbers" if kind == "int" else "numbers"
        raise EhrError(
            f"{quote(condition)} compares {quote(text)} with the column {name}, which holds {kinds}.",
            "type_mismatch",
        )
    if sign == "!=" and atom is None:
        return rows.where(pc.is_valid(values))
    found = rows.where(_ORDERED[sign](*_comparable(values, atom))) if atom is not None else _Rows(rows.table, _NOWHERE)
    if sign == "=" and not len(found):
        _refuse_unknown(rows.table, name, text, atom, condition)
    return found


def _refuse_unknown(table: DataFrame, name: str, text: str, atom: Atom | None, condition: str) -> None:
    """Raise EhrError (no_such_value) where the whole column lacks a value, with the nearest that it has."""
    whole = column(table, name, condition)
    if atom is not None and pc.any(pc.equal(*_comparable(whole, atom))).as_py():
        return
    have = texts(pc.unique(whole).drop_null())
    near = extract(text[:_COMPARABLE], have, scorer=Levenshtein.distance, processor=None, limit=_PROPOSED)
    hint = f"the nearest values are {', '.join(quote(value) for value, *_ in near)}" if near else "it has none"
    raise EhrError(
        f"There is no value {quote(text)} in the column {name} (in {quote(condition)}); {hint}.", "no_such_value"
    )


def _in_groups(values: Columns, sign: str, written: str, condition: str) -> Any:
    """Where a value occurs in a number of rows that meets the comparison. Raises EhrError for a bad bound."""
    bound = as_kind(unquote(written.strip()), "int")
    if bound is None:
        raise _bad(condition, "the number of rows must be a whole number")
    flat = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    codes = pc.dictionary_encode(flat).indices
    known = codes.drop_null().to_numpy()
    sizes = pa.array(np.bincount(known) if len(known) else np.zeros(0, np.int64)).cast(pa.int64())
    return _ORDERED[sign](*_comparable(sizes.take(codes), bound))


def _comparable(values: Columns, atom: Atom) -> tuple[Any, Any]:
    """Both sides of a comparison; a number that no whole number of 64 bits can be is compared as a float."""
    if isinstance(atom, float) and pa.types.is_integer(values.type):
        return values.cast(pa.float64(), safe=False), atom
    return values, pa.scalar(atom)


def _kind(values: Columns) -> str:
    """The type of a column as metadata name it."""
    if pa.types.is_string(values.type):
        return "text"
    return "int" if pa.types.is_integer(values.type) else "float"


def _bad(condition: str, why: str) -> EhrError:
    return EhrError(f"The condition {quote(condition)} cannot be used: {why}.", "bad_condition")
