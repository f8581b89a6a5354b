"""MIMICSQL, the questions of TREQS: JSON Lines of a question, its SQL and the parts that the SQL was made from.

Source: Wang, Shi, Reddy 2020, WWW, arXiv 1908.01839 (``wangpinggl/TREQS``, MIT).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from components.ehr.metadata import metadata
from components.files.rows import Row, json_lines
from components.sql.complexity import TREQS_TABLES

OPERATORS = ("=", ">", "<", ">=", "<=")
OPERATIONS = ("none", "count", "max", "min", "avg")
# A literal that is one already, a column's name in quotes, or a literal in a name's quotes.
_QUOTED = re.compile(r"""'(?:[^']|'')*'|(?<=\.)"(?P<name>\w+)"|"(?P<literal>(?:[^"]|"")*)\"""")


@dataclass(frozen=True)
class Condition:
    """What a question asks for: ``table`` and ``column`` by name, ``value`` as text."""

    table: str
    column: str
    operator: str
    value: str


@dataclass(frozen=True)
class TreqsQuestion:
    """A question; ``sql`` is standard SQL, ``operation`` what it does with the values it finds."""

    row: Row
    key: str
    question: str
    sql: str
    tables: tuple[str, ...]
    conditions: tuple[Condition, ...]
    operation: str


def treqs_questions(path: Path) -> Iterator[TreqsQuestion]:
    """The questions of a file. Raises ConfigError with line and key."""
    known = {table.upper(): tuple(columns) for table, columns in metadata("treqs").tables.items()}
    columns = [(table, known[table]) for table in TREQS_TABLES]
    for row in json_lines(path):
        parts = row.values.get("format")
        if not isinstance(parts, dict):
            raise row.error("format", f"must be an object, found {parts!r:.80}")
        tables, conditions = parts.get("table"), parts.get("cond")
        if not isinstance(tables, list) or not tables or not all(_index(one, columns) for one in tables):
            raise row.error(
                "format.table", f"must be a list of numbers from 0 to {len(columns) - 1}, found {tables!r:.80}"
            )
        if not isinstance(conditions, list):
            raise row.error("format.cond", f"must be a list, found {conditions!r:.80}")
        if not _index(parts.get("sel"), OPERATIONS):
            raise row.error("format.sel", f"must be a number from 0 to 4, found {parts.get('sel')!r:.80}")
        yield TreqsQuestion(
            row,
            row.text("key"),
            row.text("question_refine").strip(),
            _statement(row),
            tuple(dict.fromkeys(columns[one][0] for one in tables)),
            tuple(_condition(row, one, columns) for one in conditions),
            OPERATIONS[parts["sel"]],
        )


def standard_sql(sql: str) -> str:
    """SQL whose literals stand in double quotes, with single ones; columns lose their quotes.

    ``DEMOGRAPHIC."AGE" < "60"`` becomes ``DEMOGRAPHIC.AGE < '60'``: databases read double quotes as names.
    """

    def single(found: re.Match[str]) -> str:
        if found["name"] is not None:
            return found["name"]
        if found["literal"] is None:
            return found[0]
        return "'" + found["literal"].replace('""', '"').replace("'", "''") + "'"

    return _QUOTED.sub(single, sql)


def _statement(row: Row) -> str:
    """The row's SQL. Raises ConfigError for a quote that is not closed."""
    sql = row.text("sql")
    if '"' in _QUOTED.sub("", sql):
        raise row.error("sql", f"has a quote that is not closed: {sql!r:.200}")
    return standard_sql(sql)


def _condition(row: Row, value: Any, columns: list[tuple[str, tuple[str, ...]]]) -> Condition:
    """[table, column, operator, value] with names for numbers. Raises ConfigError."""
    if isinstance(value, list) and len(value) == 4 and isinstance(value[3], str | int | float):
        table, column, operator, wanted = value
        if _index(table, columns) and _index(column, columns[table][1]) and _index(operator, OPERATORS):
            return Condition(columns[table][0], columns[table][1][column], OPERATORS[operator], str(wanted))
    raise row.error("format.cond", f"must hold [table, column, operator, value], found {value!r:.80}")


def _index(value: Any, of: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(of)
