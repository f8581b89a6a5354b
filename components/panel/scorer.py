"""How a panel of experts came to its report, and how far several draws agree.

Source: Tang et al. 2024 (MedAgents), arXiv 2311.10537, algorithm 1, and the self-consistency of its baselines; the
numbers are this project's. They are read from what agents remark on their steps (``Step.remarks``):

- a vote ``{"stage": "vote", "round", "side", "expert", "field", "vote", "parsed"}``: rounds from 1, vote yes or no;
- a report ``{"stage": "report", "version", "parsed"}`` and a list of experts ``{"stage": "experts", "side",
  "fields", "wanted", "parsed"}``; ``parsed`` is False where a reply could not be read and a default is in its place,
  and missing in a report that ended the episode;
- a draw ``{"draw": int, "read": str or None}``.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from components.core.traits import ScorerTraits
from components.core.types import Sample, Score, Trajectory
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

    @property
    def version(self) -> str:
        """Changes when a score can."""
        return "1"

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
