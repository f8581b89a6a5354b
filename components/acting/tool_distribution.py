"""Which tools were used, counted over the committed actions of many episodes.

Source: Liao et al. 2024, arXiv 2410.17657, figure 5. Departures, where the article is silent: malformed and
unknown actions are counted apart, and what a verifier proposed or tried and did not commit is not counted.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from components.core.types import Trajectory

INNER = frozenset({"Plan", "Think", "Finish"})
FINISH, MALFORMED = "Finish", ""
MIXED = "trust"  # a dimension whose tasks overlap those of the others: no kind of tool is theirs alone


@dataclass(frozen=True)
class Distribution:
    """``height``: tool actions among all actions, ``segments`` and ``shares``: those of each tool that was used
    among all actions and among tool actions, all 0 to 1. ``n_ignored`` are malformed or unknown actions."""

    total_actions: int
    height: float
    segments: Mapping[str, float]
    shares: Mapping[str, float]
    n_ignored: int

    @property
    def malformed_rate(self) -> float:
        """Malformed and unknown actions among all that were attempted."""
        return self.n_ignored / max(1, self.n_ignored + self.total_actions)


def distribution(trajectories: Iterable[Iterable[str]], tools: Collection[str]) -> Distribution:
    """Pool the names of actions; a name that is neither an inner action nor among the tools is ignored."""
    counts = Counter(name for names in trajectories for name in names)
    used = {name: counts[name] for name in tools if counts[name] and name not in INNER}
    n_tools = sum(used.values())
    total = n_tools + sum(counts[name] for name in INNER)
    return Distribution(
        total,
        n_tools / max(1, total),
        {name: count / total for name, count in used.items()},
        {name: count / n_tools for name, count in used.items()},
        counts.total() - total,
    )


def action_names(trajectory: Trajectory) -> list[str]:
    """The names of the committed actions: one per call, ``Finish`` for an end, empty for a malformed one.

    An agent that tries several times in branches of its own is counted by its final trial: the branch of the
    episode's last action.
    """
    acted = [(step.branch, step.action) for step in trajectory.steps if step.action is not None and step.committed]
    final = [action for branch, action in acted if branch == acted[-1][0]]
    names: list[str] = []
    for action in final:
        if action.error is not None:
            names.append(MALFORMED)
        elif action.answer is not None or action.refusal is not None:
            names.append(FINISH)
        else:
            names += [call.name for call in action.calls]
    return names


def is_misuse(facts: Mapping[str, Any], kinds: Collection[str]) -> bool:
    """Whether a tool (by the facts of its spec) needs a kind of input that is not among these."""
    return facts.get("needs") is not None and facts["needs"] not in kinds
