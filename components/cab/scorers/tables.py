"""Answers out of databases: tables, values, and that there is no result. The answer may be SQL, which is run.

======================================  ================================================================
official (the reference, quirks too)    strict
======================================  ================================================================
SQL is what holds a word such as        what begins with SELECT, or WITH and a table, once cleaned
select, show, use, update, call
tables: the first cell of every gold    every gold row: each of its cells as a whole value, executed rows
row anywhere in the text                one by one; numbers as numbers (tolerance 0.001)
an empty gold table accepts all         an empty result or "no result" is right
values: a gold text counts letter by    it is one value; an empty list asks for an empty result
letter, an empty list is never right
no result: the words anywhere           the same, in a conclusion where there is one; a refusal of the task
                                        counts
======================================  ================================================================

Statements only read and are stopped in time, in both; one that writes fails. A failed statement scores 0.
Source: Liao et al. 2024, arXiv 2410.17657; rules of the reference BlueZeros/ReflecTool at e89ef65.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from math import isclose
from typing import Any

from components.cab.scorers.case import Case, Reading, Unscored
from components.cab.scorers.texts import holds, number, numbers, plain
from components.sql.cleaning import clean_sql
from components.text.answers import conclusion
from components.text.structured import NotLiteral, literal

_WORDS = (
    "select", "insert", "update", "delete", "create", "drop", "alter", "truncate", "merge", "call", "execute", "desc",
    "show", "use", "grant", "revoke", "commit", "rollback",
)  # fmt: skip
_OFFICIAL_SQL = re.compile(rf"\b(?:{'|'.join(_WORDS)})\b", re.IGNORECASE)
_QUERY = re.compile(
    r"select\b|with\s+(?:recursive\s+)?[\w\"`\[\]]+\s*(?:\([^()]*\)\s*)?as\b[^(]{0,40}\(", re.IGNORECASE
)
_NO_RESULT = re.compile(r"\bno results?\b", re.IGNORECASE)
_ABSENT = ("none", "null")
Rows = list[list[str]]


def official_rows(case: Case) -> Reading:
    """The reference's row containment: the first cell of every row in the text, or the gold text in it."""
    gold = _literal(_answer(case))
    firsts = [_first(row) for row in gold if row != []] if isinstance(gold, list) else [gold]
    return _official(case, lambda said: all(first in said for first in firsts), firsts)


def official_values(case: Case) -> Reading:
    """The reference's containment of all values; none are never right."""
    gold = _answer(case)
    return _official(case, lambda said: gold != [] and all(str(value) in said for value in gold), gold)


def official_no_result(case: Case) -> Reading:
    """The reference's test for a refusal or an empty result."""
    return _official(case, lambda said: "no result" in said.lower() or said == "[]", "no result")


def strict_rows(case: Case) -> Reading:
    """Every gold row in the executed rows or in the text."""
    return _strict(case, _rows(_literal(_answer(case))), whole_rows=True)


def strict_values(case: Case) -> Reading:
    """Every gold value in the executed cells or in the text."""
    return _strict(case, _rows(_literal(_answer(case))), whole_rows=False)


def strict_no_result(case: Case) -> Reading:
    """Whether the answer, or its result when executed, is that there is no result."""
    return _strict(case, [], whole_rows=False)


def is_query(answer: str) -> bool:
    """Whether an answer is a statement that reads."""
    return _QUERY.match(clean_sql(answer.replace("current_time", "now"), "")) is not None


def _official(case: Case, accepts: Callable[[str], bool], right: object) -> Reading:
    """Apply a test to the answer, or to the result text of what it gives when executed."""
    said = case.answer
    if _OFFICIAL_SQL.search(said):
        if case.executed.error:
            return Reading(0.0, f"not executed: {case.executed.error}", right)
        said = str(case.executed.rows)
    return Reading(float(accepts(said)), said, right)


def _strict(case: Case, gold: Rows, whole_rows: bool) -> Reading:
    """Compare with executed rows, or with a text; without gold rows an empty result is right."""
    right: object = gold or "no result"
    if not is_query(case.answer):
        said = conclusion(case.answer)
        return Reading(float(_in_text(said, gold)), said, right)
    if case.executed.error:
        return Reading(0.0, f"not executed: {case.executed.error}", right)
    rows = case.executed.rows
    if not gold:
        return Reading(float(not rows), rows, right)
    if whole_rows:
        return Reading(float(_each_has_its_own(gold, rows)), rows, right)
    cells = [cell for row in rows for cell in row]
    return Reading(float(all(_within(row, cells) for row in gold)), rows, right)


def _in_text(said: str, gold: Rows) -> bool:
    """Whether all cells of all rows are in a text; without rows, whether it says that there is no result."""
    if not gold:
        return said == "[]" or _NO_RESULT.search(said) is not None
    there = numbers(said)
    return all(_cell_in_text(cell, said, there) for row in gold for cell in row)


def _cell_in_text(cell: str, said: str, there: Sequence[float]) -> bool:
    value = _number(cell)
    if value is not None:
        return any(_same_number(value, other) for other in there)
    return holds(said, cell) or (cell.lower() in _ABSENT and any(holds(said, word) for word in (*_ABSENT, "no result")))


def _each_has_its_own(gold: Rows, found: Rows) -> bool:
    """Whether every gold row has its cells in a different found row (a matching, by augmenting paths)."""
    taken: dict[int, int] = {}

    def place(row: int, tried: set[int]) -> bool:
        for other, cells in enumerate(found):
            if other not in tried and _within(gold[row], cells):
                tried.add(other)
                if other not in taken or place(taken[other], tried):
                    taken[other] = row
                    return True
        return False

    return len(gold) <= len(found) and all(place(row, set()) for row in range(len(gold)))


def _within(row: Sequence[str], other: Sequence[str]) -> bool:
    """Whether all cells of a row are among the other's."""
    return all(any(_same(cell, one) for one in other) for cell in row)


def _same(cell: str, other: str) -> bool:
    """Whether two cells are the same value."""
    one, two = _number(cell), _number(other)
    if one is not None and two is not None:
        return _same_number(one, two)
    return cell.strip() == other.strip() or (plain(cell) == plain(other) != "")


def _same_number(one: float, two: float) -> bool:
    return isclose(one, two, rel_tol=1e-6, abs_tol=1e-3)


@lru_cache(maxsize=1 << 12)
def _number(cell: str) -> float | None:
    return number(cell)


def _rows(gold: str | list[Any]) -> Rows:
    """Gold as rows of texts; anything else is a row of one cell."""
    if isinstance(gold, str):
        return [[gold]]
    return [[str(cell) for cell in row] if isinstance(row, list | tuple) else [str(row)] for row in gold]


def _first(row: Any) -> str:
    """The first cell of a row, or the first letter of a text in its place."""
    return str(row[0]) if isinstance(row, list | tuple | str) and row else str(row)


def _answer(case: Case) -> str | list[Any]:
    """The right answer. Raises Unscored."""
    gold = case.value("answer")
    if isinstance(gold, int | float):
        return str(gold)
    if not isinstance(gold, str | list):
        raise Unscored(f"the right answer must be a table or a text, found {gold!r:.80}")
    return gold


def _literal(gold: str | list[Any]) -> str | list[Any]:
    """Gold as a list or text where its text is the literal of one, else as it is."""
    if isinstance(gold, list):
        return gold
    try:
        value = literal(gold)
    except NotLiteral:
        return gold
    return value if isinstance(value, str | list) else gold
