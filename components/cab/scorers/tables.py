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
from collections.abc import Sequence
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


def official(case: Case) -> Reading:
    """The reference's containment: of the first cell of every row, of every value, or of the words for no result."""
    gold: Any = "no result" if case.form == "no_result" else _answer(case)
    if case.form == "rows":
        rows = _literal(gold)
        if isinstance(rows, list):  # of a text in a row's place the first letter
            firsts = (row[0] if isinstance(row, list | tuple | str) and row else row for row in rows if row != [])
            gold = [str(first) for first in firsts]
        else:
            gold = [rows]
    reply = case.answer
    if _OFFICIAL_SQL.search(reply):
        if case.executed.error:
            return Reading(0.0, f"not executed: {case.executed.error}", gold)
        reply = str(case.executed.rows)
    if case.form == "no_result":
        right = "no result" in reply.lower() or reply == "[]"
    else:
        right = (case.form == "rows" or gold != []) and all(str(value) in reply for value in gold)
    return Reading(float(right), reply, gold)


def strict(case: Case) -> Reading:
    """Whether all gold rows or values are in the executed rows or the text; without any, an empty result is right."""
    gold = [] if case.form == "no_result" else _rows(_literal(_answer(case)))
    right: object = gold or "no result"
    if not is_query(case.answer):
        reply = conclusion(case.answer)
        nothing = reply == "[]" or _NO_RESULT.search(reply) is not None
        return Reading(float(_in_text(reply, gold) if gold else nothing), reply, right)
    if case.executed.error:
        return Reading(0.0, f"not executed: {case.executed.error}", right)
    rows = case.executed.rows
    if not gold:
        return Reading(float(not rows), rows, right)
    if case.form == "rows":
        return Reading(float(_each_has_its_own(gold, rows)), rows, right)
    cells = [cell for row in rows for cell in row]
    return Reading(float(all(_within(row, cells) for row in gold)), rows, right)


def is_query(answer: str) -> bool:
    """Whether an answer is a statement that reads."""
    return _QUERY.match(clean_sql(answer.replace("current_time", "now"), "")) is not None


def _in_text(reply: str, gold: Rows) -> bool:
    there = numbers(reply)
    for cell in (cell for row in gold for cell in row):
        if (value := number(cell)) is not None:
            present = any(_close(value, other) for other in there)
        else:
            words = (cell, *_ABSENT, "no result") if cell.lower() in _ABSENT else (cell,)
            present = any(holds(reply, word) for word in words)
        if not present:
            return False
    return True


def _each_has_its_own(gold: Rows, rows: Rows) -> bool:
    """Whether every gold row has its cells in another of the rows."""
    from scipy.sparse import csgraph, csr_array

    if len(gold) > len(rows):
        return False
    fits = csr_array([[_within(row, cells) for cells in rows] for row in gold])
    return bool((csgraph.maximum_bipartite_matching(fits, perm_type="column") >= 0).all())


def _within(row: Sequence[str], other: Sequence[str]) -> bool:
    return all(any(_same(cell, one) for one in other) for cell in row)


def _same(cell: str, other: str) -> bool:
    one, two = _number(cell), _number(other)
    if one is not None and two is not None:
        return _close(one, two)
    return cell.strip() == other.strip() or (plain(cell) == plain(other) != "")


def _close(one: float, two: float) -> bool:
    return isclose(one, two, rel_tol=1e-6, abs_tol=1e-3)


_number = lru_cache(maxsize=1 << 12)(number)  # of a cell, which is compared with many others


def _rows(gold: str | list[Any]) -> Rows:
    if isinstance(gold, str):
        return [[gold]]
    return [[str(cell) for cell in row] if isinstance(row, list | tuple) else [str(row)] for row in gold]


def _answer(case: Case) -> str | list[Any]:
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
