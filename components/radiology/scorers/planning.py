"""RadABench's planning metrics: how far ground truth, planned and executed chain are from each other.

Source: Zheng et al. 2024, arXiv 2412.09529; the reference implementation (MAGIC-AI4Med/RadABench,
January 2025) counts two of them otherwise, chosen by switches. Departure: the article does not say
whether false discovery and matching are taken on the plan or on the execution; both are reported.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache, partial
from typing import ClassVar

from Levenshtein import distance

from components.core.traits import ScorerTraits
from components.core.types import Sample, Score, Trajectory
from components.radiology.execution import Execution, decided, ground_truth, kind_of
from components.radiology.perfect import Attempt, grade
from components.radiology.switches import Switches
from components.radiology.tasks import AD, BQ, OS

DISTANCES = ("planning/levenshtein", "planning/levenshtein_decision", "planning/levenshtein_drift")
SHARES = ("planning/fdr", "planning/tma")
NAMES = (
    *DISTANCES, "planning/levenshtein_free", "planning/levenshtein_decision_free",
    *SHARES, "planning/fdr_decision", "planning/tma_decision",
)  # fmt: skip
LOWER = tuple(name for name in NAMES if "levenshtein" in name or "fdr" in name)
_NONE: Mapping[str, float | None] = dict.fromkeys(NAMES)


def free_distance(truth: Sequence[str], chain: Sequence[str]) -> int:
    """Levenshtein distance to the nearest order that the article allows: organ and anomaly may change places."""
    orders = [list(truth)]
    for first, second in ((OS, AD), (f"Organ {BQ}", f"Anomaly {BQ}")):
        if first in truth and second in truth:
            swap = {first: second, second: first}
            orders += [[swap.get(name, name) for name in order] for order in orders]
    return min(distance(order, chain) for order in orders)


def false_discovery_rate(truth: Sequence[str], chain: Sequence[str], denominator: str) -> float:
    """Share of the chain that does not occur in the ground truth; ``max_len`` divides by the longer of both."""
    false = sum(name not in truth for name in chain)
    return false / (max(len(chain), len(truth)) if denominator == "max_len" else len(chain)) if chain else 0.0


def tool_matching(truth: Sequence[str], chain: Sequence[str], mode: str) -> float:
    """Share of the ground truth that the chain has at the same position, or (``longest_run``) in one piece."""
    if mode == "positional":
        return sum(map(str.__eq__, truth, chain)) / len(truth)
    return SequenceMatcher(None, truth, chain, autojunk=False).find_longest_match().size / len(truth)


@lru_cache(maxsize=2048)
def planning(
    chain: str, decision: tuple[str, ...] | None, executed: tuple[str, ...], switches: Switches
) -> Mapping[str, float | None]:
    """All planning metrics of one episode, whatever is scored; without a ``decision`` those on it are None."""
    truth = ground_truth(chain, switches.category_typing)
    free = free_distance(truth, executed)
    values: dict[str, float | None] = dict(_NONE)
    values |= {
        "planning/levenshtein": free if switches.gt_order == "free" else distance(truth, executed),
        "planning/levenshtein_free": free,
        "planning/fdr": false_discovery_rate(truth, executed, switches.fdr_denominator),
        "planning/tma": tool_matching(truth, executed, switches.tma_mode),
    }
    if decision is not None:
        free = free_distance(truth, decision)
        values |= {
            "planning/levenshtein_decision": free if switches.gt_order == "free" else distance(truth, decision),
            "planning/levenshtein_decision_free": free,
            "planning/levenshtein_drift": distance(decision, executed),
            "planning/fdr_decision": false_discovery_rate(truth, decision, switches.fdr_denominator),
            "planning/tma_decision": tool_matching(truth, decision, switches.tma_mode),
        }
    return values


@dataclass(frozen=True)
class Chain:
    """Planning metrics of a sample: Levenshtein distances (steps) of ground truth, decision and execution, false
    discovery rate and tool matching accuracy (0 to 1)."""

    switches: Switches
    version: str = "1"
    traits: ClassVar[ScorerTraits] = ScorerTraits(
        lower=LOWER,
        units={name: "steps" for name in NAMES if "levenshtein" in name},
        kinds={name: "count" if "levenshtein" in name else "share" for name in NAMES},
    )

    def score(self, sample: Sample, trajectory: Trajectory) -> Sequence[Score]:
        """Unscored are metrics on the plan without a plan, and what the reference's scripts leave out (its profile)."""
        kind = kind_of(trajectory)
        if self.switches.planning_scope == "all":
            scored: Sequence[str] = NAMES if kind != "insufficient" else ()
        else:
            scored = {"baseline": DISTANCES, "redundant": (*DISTANCES, *SHARES)}.get(kind, ())
        return grade(sample, trajectory, self.switches, NAMES, scored, partial(_values, kind == "baseline"))


def _values(failures: bool, one: Attempt, execution: Execution) -> Mapping[str, float | None]:
    """The metrics of an execution; the reference leaves failures out, but for its baseline."""
    switches = one.switches
    if switches.planning_scope == "success_only" and not failures and not execution.success(switches):
        return _NONE
    decision = None if execution.plan is None else decided(execution.plan, switches)
    return planning(one.task.id, decision, execution.categories(switches), switches)
