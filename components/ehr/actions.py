"""The six tools of EHRAgent as actions over one current table: LoadDB, FilterDB, GetValue, SQLInterpreter, Calendar,
Calculate.

Source: Shi et al. 2024, EMNLP, arXiv 2401.07128; rules of docs/papers/ehragent.md. Departure: outside of code a table
has no name, so LoadDB sets the current one, FilterDB narrows it and GetValue reads it. Each takes one text; each raises
ToolError with the kind of what went wrong (``components.ehr.errors``).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from components.acting.arguments import only_text, text_spec
from components.core.errors import ToolError
from components.core.messages import ToolSpec
from components.core.tools import Context, Effect
from components.core.types import Observation
from components.ehr.errors import EhrError
from components.ehr.interpreters import calculate, calendar, run_sql
from components.ehr.toolset import EhrState
from components.text.structured import read_yaml

SHOWN, CARRIED = 4_000, 65_536  # characters of a result: what a model sees, and what a plan may pass on


class Action(ABC):
    """An action on the state of the toolset ``ehr``; ``actions.yaml`` describes its argument."""

    effect: ClassVar[Effect] = "pure"

    @property
    def spec(self) -> ToolSpec:
        """What the model sees."""
        return _spec(type(self).__name__, False)

    @abstractmethod
    def run(self, context: Context, argument: str) -> str:
        """Return the result. Raises EhrError or ToolError."""

    def __call__(self, context: Context, **arguments: Any) -> Observation:
        """Act. Raises ToolError, with the kind of what went wrong with a table, a statement or an expression."""
        (parameter,) = self.spec.parameters["properties"]
        argument = only_text(self.spec, arguments.get(parameter, ""))
        try:
            result = self.run(context, argument)
        except EhrError as error:
            raise ToolError(str(error), error.kind) from None
        if not result.strip():
            return Observation("(nothing: there is no value)", {"value": result})
        if len(result) <= SHOWN:
            return Observation(result)
        # What a plan passes on where that is another text; None where it is too long for that.
        value = {"value": result if len(result) <= CARRIED else None}
        return Observation(f"{result[:SHOWN]} ... (the first {SHOWN:,} of {len(result):,} characters)", value)


@dataclass(frozen=True)
class LoadDB(Action):
    """Sets the current table and shows its rows and columns."""

    effect = "episode"

    def run(self, context: Context, argument: str) -> str:
        """Load. Raises EhrError (unknown_table)."""
        name = argument.strip()
        state = _state(context)
        state.table = state.tables.load(name)
        return f"{name}: {_rows(len(state.table))} with the columns {', '.join(map(str, state.table.columns))}."


@dataclass(frozen=True)
class FilterDB(Action):
    """Filters the current table and shows how many rows are left. ``groups``: rows may be counted by value."""

    groups: bool = True
    effect = "episode"

    @property
    def spec(self) -> ToolSpec:
        """What the model sees."""
        return _spec("FilterDB", self.groups)

    def run(self, context: Context, argument: str) -> str:
        """Filter. Raises EhrError, ToolError."""
        from components.ehr.filtering import filter_rows  # pandas: not before it is needed

        state = _state(context)
        state.table = filter_rows(_current(state), argument, self.groups)
        return f"The current table is down to {_rows(len(state.table))}."


@dataclass(frozen=True)
class GetValue(Action):
    """Reads the current table."""

    def run(self, context: Context, argument: str) -> str:
        """Read. Raises EhrError, ToolError."""
        from components.ehr.tables import get_value

        return str(get_value(_current(_state(context)), argument))


@dataclass(frozen=True)
class SQLInterpreter(Action):
    """Runs a statement, read-only and within limits."""

    def run(self, context: Context, argument: str) -> str:
        """Run. Raises EhrError (sql_error, forbidden_sql)."""
        state = _state(context)
        return str(run_sql(state.file, argument, state.metadata.clock))


@dataclass(frozen=True)
class Calendar(Action):
    """Moves the clock of the database."""

    def run(self, context: Context, argument: str) -> str:
        """Move. Raises EhrError, ToolError (bad_duration)."""
        clock = _state(context).metadata.clock
        if clock is None:
            raise ToolError("This database has no time of its own, so nothing is relative to it.", "bad_duration")
        return calendar(argument, clock)


@dataclass(frozen=True)
class Calculate(Action):
    """Works out an expression."""

    def run(self, context: Context, argument: str) -> str:
        """Calculate. Raises EhrError (bad_expression)."""
        return str(calculate(argument))


@cache
def _spec(name: str, groups: bool) -> ToolSpec:
    """The spec of an action, with what it can do with ``groups`` where it can."""
    row = read_yaml(Path(__file__).with_suffix(".yaml"))[name]
    description = f"{row['description']} {row['groups']}" if groups else row["description"]
    return text_spec(name, description, row["parameter"], row["about"], "numerical")


def _state(context: Context) -> EhrState:
    """The state behind the offer: these tools belong to the toolset that opens a record database."""
    if not isinstance(context.state, EhrState):
        raise TypeError(f"this tool works on the state of the toolset ehr, found {type(context.state).__name__}")
    return context.state


def _current(state: EhrState) -> Any:
    """The current table. Raises ToolError (unknown_table) before the first one is loaded."""
    if state.table is None:
        names = ", ".join(state.tables.names)
        raise ToolError(f"No table is loaded yet; LoadDB loads one of {names}.", "unknown_table")
    return state.table


def _rows(n: int) -> str:
    return f"{n} row{'' if n == 1 else 's'}"
