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
_SIGNS = (">", ">=", "<", "<=", "=", "==", "!=")
_FUNCTIONS = (pc.greater, pc.greater_equal, pc.less, pc.less_equal, pc.equal, pc.equal, pc.not_equal)
_ORDERED: Mapping[str, Callable[[Any, Any], Any]] = dict(zip(_SIGNS, _FUNCTIONS, strict=True))
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
    """The value in a column of a type, None for what it cannot hold; a whole number beyond 64 bits as a float."""
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
            found = []
            for one in node.elts:
                value = ast.literal_eval(one)
                if isinstance(value, int | float):  # as it is written
                    value = lines[one.lineno - 1][one.col_offset : one.end_col_offset].decode()
                found += [value] if isinstance(value, str) else []
            return found
    parts = (part.strip() for part in text.strip("[](){} \t\r\n").split(","))
    return [unquote(part) for part in parts if part]


def filter_rows(table: DataFrame, conditions: str, groups: bool = True) -> DataFrame:
    """The rows that meet all conditions, each applied to what the ones before it left; rows are renumbered. ``groups``:
    whether ``count(COLUMN) op number`` is offered. Raises EhrError: bad_condition, unknown_column, type_mismatch,
    no_such_value (an equality that no row of ``table`` meets, with the nearest values)."""
    require_table(table, "FilterDB")
    rows, parts = _Rows(table), str(conditions).split("||")
    if len(parts) > _MOST:
        raise _bad(conditions, f"it joins {len(parts)} conditions; at most {_MOST} are allowed")
    for condition in parts:
        rows = _apply(condition.strip(), rows, groups)
        if not len(rows):
            break
    if rows.places is None:
        return table
    taken = table.take(rows.places.to_numpy())
    taken.index = RangeIndex(len(taken))
    return taken


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


def _apply(condition: str, rows: _Rows, groups: bool) -> _Rows:
    if extreme := _EXTREME.fullmatch(condition):
        values = rows.column(extreme[2], condition)
        return rows.where(pc.equal(values, pc.min_max(values)[extreme[1]]))
    if groups and (counted := _COUNT.fullmatch(condition)):
        values = rows.column(counted[1], condition)
        if (bound := as_kind(unquote(counted[3].strip()), "int")) is None:
            raise _bad(condition, "the number of rows must be a whole number")
        codes = pc.dictionary_encode(values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values).indices
        known = codes.drop_null().to_numpy()
        sizes = pa.array(np.bincount(known) if len(known) else np.zeros(0, np.int64)).cast(pa.int64())
        return rows.where(_compare(counted[2], sizes.take(codes), bound))
    if listed := _MEMBER.fullmatch(condition):
        values = rows.column(listed[1], condition)
        if not listed[2].strip():
            raise _bad(condition, "the list is missing")
        kind = _kind(values)
        atoms = (as_kind(text, kind) for text in members(listed[2]))
        wanted = [atom for atom in atoms if isinstance(atom, _HELD[kind])]
        return rows.where(pc.is_in(values, value_set=pa.array(wanted, ARROW_TYPES[kind])))
    if compared := _COMPARED.fullmatch(condition):
        return _select(rows, compared[1], compared[2].replace("==", "="), compared[3].strip(), condition)
    raise _bad(condition, f"it cannot be read; {_FORMS}")


def _select(rows: _Rows, name: str, sign: str, written: str, condition: str) -> _Rows:
    values = rows.column(name, condition)
    if not written:
        raise _bad(condition, "the value is missing")
    if sign in ("=", "!=") and is_null(written):
        return rows.where(pc.is_null(values) if sign == "=" else pc.is_valid(values))
    text, kind = unquote(written), _kind(values)
    atom = as_kind(text, kind)
    if atom is None and sign not in ("=", "!="):
        holds = f"the column {name}, which holds {'whole numbers' if kind == 'int' else 'numbers'}"
        raise EhrError(f"{quote(condition)} compares {quote(text)} with {holds}.", "type_mismatch")
    if sign == "!=" and atom is None:
        return rows.where(pc.is_valid(values))
    found = rows.where(_compare(sign, values, atom)) if atom is not None else _Rows(rows.table, _NOWHERE)
    if sign != "=" or len(found):
        return found
    whole = column(rows.table, name, condition)
    if atom is not None and pc.any(_compare("=", whole, atom)).as_py():
        return found
    have = texts(pc.unique(whole).drop_null())
    near = extract(text[:_COMPARABLE], have, scorer=Levenshtein.distance, processor=None, limit=_PROPOSED)
    hint = f"the nearest values are {', '.join(quote(value) for value, *_ in near)}" if near else "it has none"
    text = f"There is no value {quote(text)} in the column {name} (in {quote(condition)}); {hint}."
    raise EhrError(text, "no_such_value")


def _compare(sign: str, values: Columns, atom: Atom) -> Any:
    """Where the values compare so; a number that no whole number of 64 bits can be is compared as a float."""
    compare = _ORDERED[sign]
    if isinstance(atom, float) and pa.types.is_integer(values.type):
        return compare(values.cast(pa.float64(), safe=False), atom)
    return compare(values, pa.scalar(atom))


def _kind(values: Columns) -> str:
    if pa.types.is_string(values.type):
        return "text"
    return "int" if pa.types.is_integer(values.type) else "float"


def _bad(condition: str, why: str) -> EhrError:
    return EhrError(f"The condition {quote(condition)} cannot be used: {why}.", "bad_condition")
