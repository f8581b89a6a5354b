"""python: runs a cell of code that a model wrote, in the sandbox of the question, and returns its result.

Source: docs/papers/ehragent.md (Shi et al. 2024, EMNLP, arXiv 2401.07128): the value of ``answer`` is what the model
sees; of a failure the exception's type, message and line. Departures: the code runs in a process of its own that holds
it; whether ``answer`` was assigned is seen in the namespace, not in the text of the code.
"""

from dataclasses import dataclass
from typing import Annotated, Any, Protocol, runtime_checkable

from annotated_types import Ge

from components.acting.arguments import text_spec
from components.core.errors import ToolError
from components.core.messages import ToolSpec
from components.core.tools import Context, Effect
from components.core.traits import PromptSetName
from components.core.types import Action, Observation
from components.prompts import load
from components.sandbox import Ran


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

    async def __call__(self, context: Context, cell: Any = "", **_: Any) -> Observation:
        """Run the cell. Raises ToolError."""
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
    """The code of an action, or what the model wrote in the place of its arguments; empty where there is none."""
    calls = action.calls or action.message.tool_calls
    try:
        return str(calls[-1].parsed.get("cell", "")) if calls else ""
    except ValueError:
        return calls[-1].arguments


def facts(ran: Ran) -> dict[str, Any]:
    """What came of a cell, for scorers and for agents that word it themselves."""
    error = None if ran.error is None else vars(ran.error)
    return {"status": ran.status, "answer": ran.answer, "output": ran.output, "error": error, "seconds": ran.seconds}
