"""An episode over health records as one object: knowledge, what was remembered, every turn, the answer and its scores.

Source: the trajectory record of EHRAgent's specification; settings and scores are stored with the run.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from components.acting.python_cell import cell_of
from components.core.types import Observed, Sample, Step, Trajectory
from components.ehr.outcome import Outcome


def exported(sample: Sample, trajectory: Trajectory) -> Mapping[str, Any]:
    """The record of an episode."""
    outcome, steps, metadata = Outcome(trajectory), trajectory.steps, sample.metadata
    return {
        "id": sample.problem.id,
        "db_id": metadata.get("sql_dialect"),
        "question": sample.problem.question,
        "template": metadata.get("template"),
        "level": sample.strata.get("level"),
        "knowledge": next((step.reply.text for step in steps if step.purpose == "knowledge"), None),
        "memory_hits": outcome.remarked("memory_hits"),
        "memory_size": outcome.remarked("memory_size"),
        "order": outcome.remarked("order"),
        "turns": _turns(steps),
        "terminated": outcome.ended,
        "prediction": outcome.answer,
        "gold": sample.target.get("answer") if isinstance(sample.target, Mapping) else None,
        "completed": outcome.completed,
        "n_executions": outcome.executions,
        "n_llm_calls": outcome.calls,
        "stop": trajectory.stop,
        "error": trajectory.error,
    }


def _turns(steps: Sequence[Step]) -> list[dict[str, Any]]:
    """What the planner wrote, what came of it, and the cause that the debugger named."""
    turns: list[dict[str, Any]] = []
    for step in steps:
        if step.acts:
            turns.append({"planner": step.reply.text, **_ran(step), "cause": None})
        elif step.purpose == "debug" and turns:
            turns[-1]["cause"] = step.reply.text
    return turns


def _ran(step: Step) -> dict[str, Any]:
    """The last execution of a step, or why there is none; nothing at the end."""
    seen: Observed | None = next((one for one in reversed(step.observed) if not one.control), None)
    action = step.action
    shown = {"cell": cell_of(action) or None if action else None, "status": None, "result": None, "error": None}
    if seen is None:
        unread = {"status": action.error, "result": action.error_text} if action and action.error else {}
        return {**shown, **unread, "seconds": None}
    data = seen.observation.data
    return {
        "cell": shown["cell"] or seen.call.arguments,
        "status": data.get("status", seen.error or "ok"),
        "result": seen.observation.text,
        "error": data.get("error"),
        "seconds": data.get("seconds", seen.seconds),
    }
