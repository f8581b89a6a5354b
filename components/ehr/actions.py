"""The tools of EHRAgent: six actions over one current table (LoadDB, FilterDB, GetValue, SQLInterpreter, Calendar,
Calculate), and python, which runs a cell of code that a model wrote in the sandbox of the question.

Source: Shi et al. 2024, EMNLP, arXiv 2401.07128; rules of docs/papers/ehragent.md: of a cell the model sees the value
of ``answer``, of its failure the exception's type, message and line. Departures: outside of code a table has no name,
so LoadDB sets the current one, FilterDB narrows it and GetValue reads it; code runs in a process of its own that holds
it; whether ``answer`` was assigned is seen in the namespace, not in the text of the code. Each action takes one text
and raises ToolError with the kind of what went wrong (``components.ehr.errors``).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Protocol, runtime_checkable

from annotated_types import Ge

from components.acting.arguments import only_text, text_spec
from components.core.errors import ToolError
from components.core.messages import ToolSpec
from components.core.tools import Context, Effect
from components.core.traits import PromptSetName
from components.core.types import Action, Observation
from components.ehr.errors import EhrError
from components.ehr.interpreters import calculate, calendar, run_sql
from components.ehr.toolset import EhrState
from components.prompts import load
from components.sandbox import Ran
from components.text.structured import read_yaml

SHOWN, CARRIED = 4_000, 65_536  # characters of a result: what a model sees, and what a plan may pass on


class EhrAction(ABC):
    """An action on the state of the toolset ``ehr``; ``actions.yaml`` describes its argument."""

    effect: ClassVar[Effect] = "pure"

    @property
    def spec(self) -> ToolSpec:
        """What the model sees."""
        return _spec(type(self).__name__, False)

    @abstractmethod
    def run(self, context: Context, argument: str) -> str:
        """Return the result. Raises EhrError or ToolError."""

    def __call__(self, context: Context, /, **arguments: Any) -> Observation:
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
class LoadDB(EhrAction):
    """Sets the current table and shows its rows and columns."""

    effect = "episode"

    def run(self, context: Context, argument: str) -> str:
        """Load. Raises EhrError (unknown_table)."""
        name = argument.strip()
        state = _state(context)
        state.table = state.tables.load(name)
        return f"{name}: {_rows(len(state.table))} with the columns {', '.join(map(str, state.table.columns))}."


@dataclass(frozen=True)
class FilterDB(EhrAction):
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
class GetValue(EhrAction):
    """Reads the current table."""

    def run(self, context: Context, argument: str) -> str:
        """Read. Raises EhrError, ToolError."""
        from components.ehr.tables import get_value

        return str(get_value(_current(_state(context)), argument))


@dataclass(frozen=True)
class SQLInterpreter(EhrAction):
    """Runs a statement, read-only and within limits."""

    def run(self, context: Context, argument: str) -> str:
        """Run. Raises EhrError (sql_error, forbidden_sql)."""
        state = _state(context)
        return str(run_sql(state.file, argument, state.metadata.clock))


@dataclass(frozen=True)
class Calendar(EhrAction):
    """Moves the clock of the database."""

    def run(self, context: Context, argument: str) -> str:
        """Move. Raises EhrError, ToolError (bad_duration)."""
        clock = _state(context).metadata.clock
        if clock is None:
            raise ToolError("This database has no time of its own, so nothing is relative to it.", "bad_duration")
        return calendar(argument, clock)


@dataclass(frozen=True)
class Calculate(EhrAction):
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
    if state.table is None:
        names = ", ".join(state.tables.names)
        raise ToolError(f"No table is loaded yet; LoadDB loads one of {names}.", "unknown_table")
    return state.table


def _rows(n: int) -> str:
    return f"{n} row{'' if n == 1 else 's'}"


@runtime_checkable
class RunsCode(Protocol):
    """A state that can run a cell."""

    async def run(self, cell: str) -> Ran: ...


@dataclass(frozen=True)
class PythonCell:
    """Takes ``cell``, Python code that assigns ``answer``; returns ``str(answer)``, at most ``shown`` characters of it.

    ``described``: the card names the functions that are in every cell, for agents whose prompts do not, and says
    that filters may count groups (``groups``). Data: ``status`` (ok, no_answer, error, timeout, killed, too_large),
    ``answer`` whole, ``output`` (what was printed, never shown), ``error`` (type, kind, message, line_no, line,
    traceback) and ``seconds``. Raises ToolError for every status but ok and no_answer, with the status as its label.
    """

    described: bool = True
    groups: bool = False
    prompts: PromptSetName = "python_cell"
    shown: Annotated[int, Ge(1)] = 4000
    effect: Effect = "episode"

    @property
    def spec(self) -> ToolSpec:
        """The description that the model reads; ``facts`` mark the tool whose one argument is code."""
        shown = {"described": self.described, "metadata": {"groups": self.groups}}
        description = load(self.prompts).render("description", **shown)
        return text_spec("python", description, "cell", "The code of one cell.", "numerical", code="cell")

    async def __call__(self, context: Context, /, cell: Any = "", **_: Any) -> Observation:
        if not isinstance(context.state, RunsCode):
            raise TypeError(f"this tool runs on a state with a sandbox, found {type(context.state).__name__}")
        if not isinstance(cell, str) or not cell.strip():
            raise ToolError("python takes one argument, cell: the text of the code to run.", "bad_arguments")
        ran = await context.state.run(cell)
        data, prompts = facts(ran), load(self.prompts)
        if ran.status == "ok":
            return Observation(ran.answer[: self.shown], data)
        if ran.status == "no_answer":
            return Observation(prompts.render("no_answer", status=ran.status, raised=ran.error), data)
        raise ToolError(prompts.render("failed", status=ran.status, raised=ran.error), ran.status, data)


def cell_of(action: Action) -> str:
    """The code of an action, or the text that the model wrote instead of its arguments; empty if there is none."""
    calls = action.calls or action.message.tool_calls
    try:
        return str(calls[-1].parsed.get("cell", "")) if calls else ""
    except ValueError:
        return calls[-1].arguments


def facts(ran: Ran) -> dict[str, Any]:
    """The outcome of a cell, for scorers and for agents that word it themselves."""
    error = None if ran.error is None else vars(ran.error)
    return {"status": ran.status, "answer": ran.answer, "output": ran.output, "error": error, "seconds": ran.seconds}
