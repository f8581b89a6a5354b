"""An episode over health records as one object: knowledge, what was remembered, every turn, the answer and its scores.

The fields are those of the trajectory record in docs/ehragent.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from components.ehr.matching import lenient, strict
from components.ehr.outcome import Outcome
from components.types import Observed, Sample, Step, Trajectory


def exported(sample: Sample, trajectory: Trajectory) -> Mapping[str, Any]:
    """The record of an episode."""
    outcome, steps, metadata = Outcome(trajectory), trajectory.steps, sample.metadata
    gold = sample.target.get("answer") if isinstance(sample.target, Mapping) else None
    right, accepted = None, None
    if gold is not None and trajectory.stop != "error":
        right = outcome.answer is not None and strict(outcome.answer, gold)
        accepted = outcome.ended and lenient(outcome.searched, gold)
    return {
        "id": sample.problem.id,
        "db_id": metadata.get("sql_dialect"),
        "question": sample.problem.question,
        "template": metadata.get("template"),
        "level": sample.strata.get("level"),
        "knowledge": next((step.reply.text for step in steps if step.purpose == "knowledge"), None),
        "memory_hits": outcome.remarked("memory_hits"),
        "memory_size": outcome.remarked("memory_size"),
        "turns": _turns(steps),
        "terminated": outcome.ended,
        "prediction": outcome.answer,
        "gold": gold,
        "strict": right,
        "lenient": accepted,
        "completed": outcome.completed,
        "n_llm_calls": outcome.calls,
        "stop": trajectory.stop,
        "error": trajectory.error,
    }


def _turns(steps: Sequence[Step]) -> list[dict[str, Any]]:
    """What the planner wrote, what came of it, and the cause that the debugger named."""
    turns: list[dict[str, Any]] = []
    for step in steps:
        if step.purpose == "act":
            turns.append({"planner": step.reply.text, **_ran(step), "cause": None})
        elif step.purpose == "debug" and turns:
            turns[-1]["cause"] = step.reply.text
    return turns


def _ran(step: Step) -> dict[str, Any]:
    """The last execution of a step; nothing where nothing was run."""
    seen: Observed | None = next((one for one in reversed(step.observed) if not one.control), None)
    if seen is None:
        return {"cell": None, "status": None, "result": None, "error": None, "seconds": None}
    data = seen.observation.data
    return {
        "cell": seen.call.arguments,
        "status": data.get("status", seen.error or "ok"),
        "result": seen.observation.text,
        "error": data.get("error"),
        "seconds": data.get("seconds", seen.seconds),
    }
