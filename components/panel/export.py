"""A panel's episode in the published code's layout: one object per question, with more facts.

Source: Tang et al. 2024 (MedAgents), arXiv 2311.10537; the keys of the published records keep their names. Votes and
advice are lists, since a field that sits on both sides of the panel votes twice.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from components.core.messages import Message
from components.core.types import Sample, Step, Trajectory


def export_episode(sample: Sample, trajectory: Trajectory) -> Mapping[str, Any]:
    """The record of an episode; what a level leaves out is empty."""
    problem, steps = sample.problem, trajectory.steps
    votes, reports = _rounds(steps, "vote"), [step.reply.text for step in _of(steps, "report")]
    decision = next((step.reply.text for step in _of(steps, "decision")), "")
    return {
        "id": problem.id,
        "question": problem.question,
        "options": dict(problem.choices),
        "pred_answer": trajectory.answer or "",
        "gold_answer": sample.target,
        "question_domains": _fields(steps, "question"),
        "option_domains": _fields(steps, "option"),
        "question_analyses": [_opinion(step) for step in _of(steps, "analysis", "question")],
        "option_analyses": [_opinion(step) for step in _of(steps, "analysis", "option")],
        "syn_report": reports[-1] if reports else "",
        "vote_history": votes,
        "revision_history": _rounds(steps, "advice"),
        "syn_repo_history": reports,
        "raw_output": decision,
        "consensus": all(vote["vote"] == "yes" for vote in votes[-1]) if votes else None,
        "n_rounds": len(votes),
        "n_llm_calls": sum(step.purpose != "judge" for step in steps),
        "parse_flags": [
            {"branch": step.branch, "stage": step.remarks["stage"]}
            for step in steps
            if step.remarks.get("parsed") is False
        ],
        "stop": trajectory.stop,
        "error": trajectory.error,
        "calls": [_call(step, asked) for step, asked in _asked(steps)],
    }


def _of(steps: Sequence[Step], stage: str, side: str | None = None) -> Iterator[Step]:
    """The steps of a stage, and of one side where it is given."""
    return (one for one in steps if one.remarks.get("stage") == stage and side in (None, one.remarks.get("side")))


def _fields(steps: Sequence[Step], side: str) -> list[str]:
    return [str(one) for step in _of(steps, "experts", side) for one in step.remarks["fields"]]


def _rounds(steps: Sequence[Step], stage: str) -> list[list[dict[str, Any]]]:
    """What was said in each round: votes, or the advice of those against."""
    rounds: dict[int, list[dict[str, Any]]] = {}
    for step in _of(steps, stage):
        rounds.setdefault(step.remarks["round"], []).append(_opinion(step))
    return [rounds[number] for number in sorted(rounds)]


def _opinion(step: Step) -> dict[str, Any]:
    """Who said something in a step, and what it was."""
    known = {key: value for key, value in step.remarks.items() if key in ("expert", "field", "side", "vote", "parsed")}
    raw = step.action.answer if step.action is not None and step.action.answer is not None else step.reply.text
    return {**known, "raw": raw}


def _asked(steps: Sequence[Step]) -> Iterator[tuple[Step, Sequence[Message]]]:
    """Each step with all messages of its call, also those that the branch's call before had."""
    before: dict[str, Sequence[Message]] = {}
    for step in steps:
        before[step.branch] = [*before.get(step.branch, ())[: step.kept], *step.asked]
        yield step, before[step.branch]


def _call(step: Step, messages: Sequence[Message]) -> dict[str, Any]:
    """One model call; of an expert with tools the newest message of the user."""
    asked = {message.role: message.text for message in messages}
    return {
        "stage": step.remarks.get("stage", step.purpose),
        "expert_index": step.remarks.get("expert"),
        "field": step.remarks.get("field"),
        "system": asked.get("system", ""),
        "user": asked.get("user", ""),
        "reply": step.reply.text,
        "tool_calls": [
            {"name": one.call.name, "arguments": one.call.arguments, "returned": one.observation.text}
            for one in step.observed
            if not one.control
        ],
        "finish_reason": step.finish,
        "prompt_tokens": step.usage.input_tokens,
        "completion_tokens": step.usage.output_tokens,
        "seconds": step.seconds,
    }
