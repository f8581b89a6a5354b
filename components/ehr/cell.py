"""The six functions that a model's code calls, bound to one database.

This module is imported by the process from which the code's own process is made, before any code is there: all that
the functions need is imported here, because that process may read neither the project nor more than the two paths.
"""

from pathlib import Path
from typing import Any

from pandas import DataFrame

from components.ehr.filtering import filter_rows
from components.ehr.interpreters import calculate, calendar, run_sql
from components.ehr.tables import Tables, get_value
from components.sql.cleaning import CURRENT_TIMES


def names(file: str, tables: str, database: str, groups: bool = True) -> dict[str, object]:
    """What code finds in addition to Python's own names. ``file`` is the SQLite file, ``tables`` the folder of the same
    tables in columns, ``groups``: whether filters may count groups, which the published tools cannot."""
    return functions(Tables(Path(tables)), Path(file), CURRENT_TIMES.get(database), groups)


def functions(tables: Tables, file: Path, clock: str | None, groups: bool = True) -> dict[str, object]:
    """The same over tables that are open already; every function raises EhrError."""

    def load(name: str) -> DataFrame:
        return tables.load(name)

    def narrow(table: DataFrame, conditions: str) -> DataFrame:
        return filter_rows(table, conditions, groups)

    def query(sql: str) -> list[tuple[Any, ...]]:
        return run_sql(file, sql, clock)

    def date_of(duration: str) -> str:
        return calendar(duration, clock)

    return {
        "LoadDB": load,
        "FilterDB": narrow,
        "GetValue": get_value,
        "SQLInterpreter": query,
        "Calendar": date_of,
        "Calculate": calculate,
    }
