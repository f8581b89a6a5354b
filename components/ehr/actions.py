"""The six tools of EHRAgent as actions over one current table: LoadDB, FilterDB, GetValue, SQLInterpreter, Calendar,
Calculate.

Source: Shi et al. 2024, EMNLP, arXiv 2401.07128; rules of docs/papers/ehragent.md. Departure: outside of code a table
has no name, so LoadDB sets the current one, FilterDB narrows it and GetValue reads it. Each takes one text; each raises
ToolError with the kind of what went wrong (``components.ehr.errors``).
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from components.acting.arguments import given_text, text_spec
from components.core.errors import ToolError
from components.core.messages import ToolSpec
from components.core.tools import Context, Effect
from components.core.types import Observation
from components.ehr.calculating import calculate
from components.ehr.calendar import calendar
from components.ehr.errors import EhrError
from components.ehr.state import EhrState
from components.ehr.statements import run_sql

SHOWN, CARRIED = 4_000, 65_536  # characters of a result: what a model sees, and what a plan may hand on

_LOAD = text_spec(
    "LoadDB",
    "makes the table of this name the current one, as in LoadDB[admissions]. You see its number of rows and its"
    " columns.",
    "name",
    "The table's name.",
    "numerical",
)
_FILTER = (
    "keeps those rows of the current table that meet all conditions, joined by ||, as in"
    " FilterDB[AGE>=60||DISCHTIME=null]. A condition is column, one of = != > < >= <=, and a value without quotes;"
    " COLUMN=null and COLUMN!=null select missing and present values; COLUMN in ['a', 'b'] keeps the listed values;"
    " min(COLUMN) and max(COLUMN) keep the rows with the smallest and largest value that is left."
)
_GROUPS = " count(COLUMN)>=2 keeps the rows whose value of COLUMN stands in at least two rows that are left."
_READ = text_spec(
    "GetValue",
    "reads a column of the current table. GetValue[DRUG] gives its distinct values, joined by commas; with an operation"
    " after a comma, as in GetValue[COST, sum], you get the mean, sum, max, min or count of the values that are there,"
    " or with list the value of every row.",
    "argument",
    "The column, or the column and an operation.",
    "numerical",
)
_SQL = text_spec(
    "SQLInterpreter",
    "runs one SQLite SELECT statement on the whole database, whatever the current table is, and gives its rows."
    " current_time stands for the time at which the question is asked.",
    "sql",
    "The statement.",
    "numerical",
)
_CALENDAR = text_spec(
    "Calendar",
    "gives the time at which the question is asked, moved by a duration, as in Calendar[-1 year], Calendar[-3 month] or"
    " Calendar[start of year].",
    "duration",
    "The duration.",
    "numerical",
)
_CALCULATE = text_spec(
    "Calculate",
    "works out an arithmetic expression with + - * / // % **, parentheses and max, min, sum, mean, abs, round, sqrt,"
    " floor, ceil, as in Calculate[(12.5 - 3) / 2].",
    "expression",
    "The expression.",
    "numerical",
)


@dataclass(frozen=True)
class LoadDB:
    """Sets the current table and shows its rows and columns."""

    spec: ToolSpec = _LOAD
    effect: Effect = "episode"

    def __call__(self, context: Context, name: Any = "", **_: Any) -> Observation:
        """Load. Raises ToolError (unknown_table)."""
        state, wanted = _state(context), given_text(self.spec, name).strip()
        with _shown_errors():
            table = state.tables.load(wanted)
        state.table = table
        return _observation(f"{wanted}: {_rows(len(table))} with the columns {', '.join(map(str, table.columns))}.")


@dataclass(frozen=True)
class FilterDB:
    """Filters the current table and shows how many rows are left. ``groups``: rows may be counted by value."""

    groups: bool = True
    effect: Effect = "episode"

    @property
    def spec(self) -> ToolSpec:
        """What the model sees."""
        about = _FILTER + _GROUPS if self.groups else _FILTER
        return text_spec("FilterDB", about, "conditions", "The conditions.", "numerical")

    def __call__(self, context: Context, conditions: Any = "", **_: Any) -> Observation:
        """Filter. Raises ToolError."""
        from components.ehr.filtering import filter_rows  # pandas: not before it is needed

        state, wanted = _state(context), given_text(self.spec, conditions)
        with _shown_errors():
            table = filter_rows(_current(state), wanted, self.groups)
        state.table = table
        return _observation(f"The current table is down to {_rows(len(table))}.")


@dataclass(frozen=True)
class GetValue:
    """Reads the current table."""

    spec: ToolSpec = _READ
    effect: Effect = "pure"

    def __call__(self, context: Context, argument: Any = "", **_: Any) -> Observation:
        """Read. Raises ToolError."""
        from components.ehr.values import get_value

        state, wanted = _state(context), given_text(self.spec, argument)
        with _shown_errors():
            return _observation(str(get_value(_current(state), wanted)))


@dataclass(frozen=True)
class SQLInterpreter:
    """Runs a statement, read-only and within limits."""

    spec: ToolSpec = _SQL
    effect: Effect = "pure"

    def __call__(self, context: Context, sql: Any = "", **_: Any) -> Observation:
        """Run. Raises ToolError (sql_error, forbidden_sql)."""
        state, wanted = _state(context), given_text(self.spec, sql)
        with _shown_errors():
            return _observation(str(run_sql(state.file, wanted, state.metadata.clock)))


@dataclass(frozen=True)
class Calendar:
    """Moves the clock of the database."""

    spec: ToolSpec = _CALENDAR
    effect: Effect = "pure"

    def __call__(self, context: Context, duration: Any = "", **_: Any) -> Observation:
        """Move. Raises ToolError (bad_duration)."""
        state, wanted = _state(context), given_text(self.spec, duration)
        if state.metadata.clock is None:
            raise ToolError("This database has no time of its own, so nothing is relative to it.", "bad_duration")
        with _shown_errors():
            return _observation(calendar(wanted, state.metadata.clock))


@dataclass(frozen=True)
class Calculate:
    """Works out an expression."""

    spec: ToolSpec = _CALCULATE
    effect: Effect = "pure"

    def __call__(self, context: Context, expression: Any = "", **_: Any) -> Observation:
        """Calculate. Raises ToolError (bad_expression)."""
        wanted = given_text(self.spec, expression)
        with _shown_errors():
            return _observation(str(calculate(wanted)))


def _state(context: Context) -> EhrState:
    """The state behind the offer: these tools belong to the toolset that opens a record database."""
    if not isinstance(context.state, EhrState):
        raise TypeError(f"this tool works on the state of the toolset ehr, found {type(context.state).__name__}")
    return context.state


def _current(state: EhrState) -> Any:
    """The current table. Raises ToolError (unknown_table) before the first one is loaded."""
    if state.table is None:
        raise ToolError(
            f"No table is loaded yet; LoadDB loads one of {', '.join(state.tables.names)}.", "unknown_table"
        )
    return state.table


@contextmanager
def _shown_errors() -> Iterator[None]:
    """What goes wrong with a table, a statement or an expression is shown to the model, with its kind as the label."""
    try:
        yield
    except EhrError as error:
        raise ToolError(str(error), error.kind) from None


def _rows(n: int) -> str:
    return f"{n} row{'' if n == 1 else 's'}"


def _observation(result: str) -> Observation:
    """A result, of which the model sees the beginning. ``data.value`` is what a plan hands on where that is another
    text; None where it is too long for that."""
    if not result.strip():
        return Observation("(nothing: there is no value)", {"value": result})
    if len(result) <= SHOWN:
        return Observation(result)
    data: Mapping[str, str | None] = {"value": result if len(result) <= CARRIED else None}
    return Observation(f"{result[:SHOWN]} ... (the first {SHOWN:,} of {len(result):,} characters)", data)
