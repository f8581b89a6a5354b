"""A panel's episode in the published code's layout: one object per question, with more facts.

Source: Tang et al. 2024 (MedAgents), arXiv 2311.10537; the keys of the published records keep their names. Votes and
advice are lists, since a field that sits on both sides of the panel votes twice.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from components.core.messages import Message
from components.core.types import Sample, Step, Trajectory


def export_episode(sample: Sample, trajectory: Trajectory) -> Mapping[str, Any]:
    """The record of an episode; what a level leaves out is empty."""
    problem, steps = sample.problem, trajectory.steps
    stages: dict[str | None, list[Step]] = defaultdict(list)
    before: dict[str, Sequence[Message]] = {}  # branch -> all messages of its newest call
    calls = []
    for step in steps:
        stages[step.remarks.get("stage")].append(step)
        before[step.branch] = [*before.get(step.branch, ())[: step.kept], *step.asked]
        calls.append(_call(step, before[step.branch]))
    votes, reports = _rounds(stages["vote"]), [step.reply.text for step in stages["report"]]
    domains: dict[str, list[str]] = defaultdict(list)
    for step in stages["experts"]:
        domains[step.remarks["side"]] += map(str, step.remarks["fields"])
    analyses: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for step in stages["analysis"]:
        analyses[step.remarks["side"]].append(_opinion(step))
    return {
        "id": problem.id,
        "question": problem.question,
        "options": dict(problem.choices),
        "pred_answer": trajectory.answer or "",
        "gold_answer": sample.target,
        "question_domains": domains["question"],
        "option_domains": domains["option"],
        "question_analyses": analyses["question"],
        "option_analyses": analyses["option"],
        "syn_report": reports[-1] if reports else "",
        "vote_history": votes,
        "revision_history": _rounds(stages["advice"]),
        "syn_repo_history": reports,
        "raw_output": stages["decision"][0].reply.text if stages["decision"] else "",
        "consensus": all(vote["vote"] == "yes" for vote in votes[-1]) if votes else None,
        "n_rounds": len(votes),
        "n_llm_calls": sum(step.purpose != "judge" for step in steps),
        "parse_flags": [
            {"branch": one.branch, "stage": one.remarks["stage"]} for one in steps if one.remarks.get("parsed") is False
        ],
        "stop": trajectory.stop,
        "error": trajectory.error,
        "calls": calls,
    }


def _rounds(steps: Sequence[Step]) -> list[list[dict[str, Any]]]:
    """What was said in each round: votes, or the advice of those against."""
    rounds: dict[int, list[dict[str, Any]]] = {}
    for step in steps:
        rounds.setdefault(step.remarks["round"], []).append(_opinion(step))
    return [rounds[number] for number in sorted(rounds)]


def _opinion(step: Step) -> dict[str, Any]:
    """Who said something in a step, and what it was."""
    known = {key: value for key, value in step.remarks.items() if key in ("expert", "field", "side", "vote", "parsed")}
    raw = step.action.answer if step.action is not None and step.action.answer is not None else step.reply.text
    return {**known, "raw": raw}


def _call(step: Step, messages: Sequence[Message]) -> dict[str, Any]:
    """One model call; of an expert with tools the newest message of the user."""
    texts = {message.role: message.text for message in messages}
    return {
        "stage": step.remarks.get("stage", step.purpose),
        "expert_index": step.remarks.get("expert"),
        "field": step.remarks.get("field"),
        "system": texts.get("system", ""),
        "user": texts.get("user", ""),
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
