"""How a panel of experts came to its report, how far several draws agree, and its episode in the published layout.

Source: Tang et al. 2024 (MedAgents), arXiv 2311.10537, algorithm 1, and the self-consistency of its baselines; the
numbers are this project's. They are read from what agents remark on their steps (``Step.remarks``):

- a vote ``{"stage": "vote", "round", "side", "expert", "field", "vote", "parsed"}``: rounds from 1, vote yes or no;
- a report ``{"stage": "report", "version", "parsed"}`` and a list of experts ``{"stage": "experts", "side",
  "fields", "wanted", "parsed"}``; ``parsed`` is False where a reply could not be read and a default is in its place,
  and missing in a report that ended the episode;
- a draw ``{"draw": int, "read": str or None}``.

In the published layout votes and advice are lists, since a field that is on both sides of the panel votes twice.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from components.core.messages import Message
from components.core.traits import ScorerTraits
from components.core.types import Sample, Score, Step, Trajectory
from components.text.values import share

_SEVERAL, _NESTED = "several discussions in one episode", "draws within draws"
LOWER = ("panel/default_votes", "panel/missing_experts", "panel/unread_reports", "draws/unreadable")
NEITHER = ("panel/rounds", "panel/consensus", "panel/dissent", "draws/n", "draws/agreement", "draws/tie")
UNITS = {"panel/rounds": "rounds", "panel/missing_experts": "experts", "panel/unread_reports": "reports"}
UNITS |= {"draws/n": "draws"}
_DRAWS = ("draws/n", "draws/unreadable", "draws/agreement", "draws/tie")


@dataclass(frozen=True)
class Panel:
    """``panel/...`` where experts were gathered, ``draws/...`` where answers were drawn, else no scores at all.

    ``panel/rounds`` of votes; ``panel/consensus``, 0 or 1: all voted yes in the last one; of all votes, shares 0 to 1:
    ``panel/dissent`` voted no and ``panel/default_votes`` were not readable. Counts: ``panel/missing_experts`` that
    were asked for and not named, and ``panel/unread_reports``. ``draws/n``; ``draws/unreadable``, a share; of those
    that are readable: ``draws/agreement``, the share of the most frequent one, and ``draws/tie``, 0 or 1: it is not
    alone. What an episode has no steps for is unscored, as is all of one that ended in an error; so are rounds and
    consensus where several panels met in one episode, and draws within draws.
    ``lower``: the scores that are better low; ``neither``: those that say how, and not how well, it was decided.
    """

    version: ClassVar[str] = "1"  # changes when a score can
    traits: ClassVar[ScorerTraits] = ScorerTraits(
        lower=LOWER,
        neither=NEITHER,
        units=UNITS,
        kinds={
            **dict.fromkeys(UNITS, "count"),
            **dict.fromkeys(("panel/consensus", "draws/tie"), "proportion"),
            **dict.fromkeys(("panel/dissent", "panel/default_votes", "draws/unreadable", "draws/agreement"), "share"),
        },
    )

    def score(self, sample: Sample, trajectory: Trajectory) -> Sequence[Score]:
        """Count what the agent remarked."""
        remarks = [step.remarks for step in trajectory.steps if step.remarks]
        values: dict[str, float | None] = {}
        votes, reports, experts = (
            [one for one in remarks if one.get("stage") == stage] for stage in ("vote", "report", "experts")
        )
        # Where an expert voted twice in a round, more than one panel met.
        several = len({(vote["round"], vote["side"], vote["expert"]) for vote in votes}) < len(votes)
        if votes or reports or experts:
            rounds = None if not votes or several else max(vote["round"] for vote in votes)
            last = [vote["vote"] == "yes" for vote in votes if vote["round"] == rounds]
            missing = sum(one["wanted"] - len(one["fields"]) for one in experts)
            values |= {
                "panel/rounds": None if rounds is None else float(rounds),
                "panel/consensus": float(all(last)) if last else None,
                "panel/dissent": share([vote["vote"] == "no" for vote in votes]),
                "panel/default_votes": share([not vote["parsed"] for vote in votes]),
                "panel/missing_experts": float(missing) if experts else None,
                "panel/unread_reports": float(sum(not one.get("parsed") for one in reports)) if reports else None,
            }
        drawn = [step for step in trajectory.steps if "draw" in step.remarks]
        if drawn:
            nested = any(step.branch.count("draw/") > 1 for step in drawn)
            values |= dict.fromkeys(_DRAWS) if nested else _draws([step.remarks for step in drawn])
        if trajectory.stop == "error":
            return [Score(name, None, "ended in an error") for name in values]
        cause = _SEVERAL if several else ""
        why = {"draws/n": _NESTED} if values.get("draws/n", 0.0) is None else {}
        return [Score(name, value, why.get(name, cause) if value is None else "") for name, value in values.items()]


def _draws(draws: Sequence[Mapping[str, Any]]) -> Mapping[str, float | None]:
    votes = Counter(one["read"] for one in draws if one["read"] is not None)
    readable, most = votes.total(), max(votes.values(), default=0)
    return {
        "draws/n": float(len(draws)),
        "draws/unreadable": 1 - readable / len(draws),
        "draws/agreement": most / readable if readable else None,
        "draws/tie": float([*votes.values()].count(most) > 1) if readable else None,
    }


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
