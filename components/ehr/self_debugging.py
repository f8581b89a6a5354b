"""Self-Debugging: writes a cell, runs it, and explains it to itself line by line until it calls it right.

Source: Chen et al. 2024, ICLR, arXiv 2304.05128, as a baseline in Shi et al. 2024 (EHRAgent), EMNLP, arXiv 2401.07128;
rules of docs/papers/ehragent.md. One call holds the explanation and either the verdict or the whole new cell.
Departure: a run that is never called right has no answer, as with the other agents.
"""

from dataclasses import dataclass, replace
from typing import Annotated

from annotated_types import Ge

from components.acting.solved import ShowsSolved, seeds_of
from components.core.messages import Message
from components.core.protocols import Episode
from components.core.traits import PromptSetName, Requirements
from components.core.types import Action, Answer, Failure, Observed, Refusal
from components.ehr.python_cell import PythonCell, cell_of
from components.prompts import load

_CELL = (PythonCell(described=False),)


@dataclass(frozen=True)
class SelfDebugging(ShowsSolved):
    """At most ``max_steps`` cells, shown ``shots`` demonstrations, and after each one call that explains it. Of a cell
    the model sees its result or its whole traceback. Every new cell is run and explained, whatever verdict comes with
    it; a reply with neither a cell nor a verdict gets a reminder and counts as a cell."""

    prompts: PromptSetName = "self_debugging"
    max_steps: Annotated[int, Ge(1)] = 10

    @property
    def requirements(self) -> Requirements:
        """With the tool that runs a cell, and no other."""
        return replace(super().requirements, tools=_CELL, only_own_tools=True)

    async def solve(self, episode: Episode) -> Answer | Refusal | Failure:
        """Write, then run and explain until the verdict."""
        prompts, metadata = load(self.prompts), (await episode.control("metadata")).data
        run: Observed | None = None
        shown = seeds_of(episode, metadata["database"], "code")[: self.shots]
        question = episode.problem.question.strip()
        task = prompts.user("problem", metadata=metadata, demonstrations=shown, question=question)
        fields = episode.offer.refusal_fields
        messages = [prompts.system("review_system", metadata=metadata, refusal_fields=fields), task]
        action = await episode.act([prompts.system("system", instructions=episode.instructions()), task])
        executions, ended = 0, _ended(action, run)
        while ended is None and executions < self.max_steps:
            executions += 1
            seen = await episode.observe(action)
            message, result = action.message, Message("user", seen[-1].text)
            if message.tool_calls:  # the calls that explain offer no function: a cell sent to one is a text there
                message = prompts.assistant("cell", cell=cell_of(action))
            if action.error is None:
                run = episode.last.observed[-1]
                trace = (run.observation.data.get("error") or {}).get("traceback")
                result = prompts.user("review", told=trace or run.observation.text)
            messages += [message, result]
            action = episode.parse(await episode.ask(messages, "reflect"))
            ended = _ended(action, run)
        episode.remark(executions=executions, terminated=ended is not None)
        return ended or Failure("step_limit", f"no cell was called right within {self.max_steps} executions")


def _ended(action: Action, run: Observed | None) -> Answer | Refusal | Failure | None:
    """The outcome that a reply states. A verdict comes without a cell, or with lines of the last one as quotations."""
    if action.refusal is not None:
        return action.refusal
    quotes = action.last and run is not None and _lines(cell_of(action)) <= _lines(str(run.call.parsed.get("cell")))
    if action.answer is None and not quotes:
        return None
    data = {} if run is None else run.observation.data
    if data.get("status") != "ok":
        return Failure("no_answer", "the last execution gave no value")
    return Answer(data["answer"])


def _lines(cell: str) -> set[str]:
    """The lines of a cell, however they are indented."""
    return {line.strip() for line in cell.splitlines() if line.strip()}
