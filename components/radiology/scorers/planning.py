"""RadABench's planning metrics: how far ground truth, planned and executed chain are from each other.

Source: Zheng et al. 2024, arXiv 2412.09529; the reference implementation (MAGIC-AI4Med/RadABench,
January 2025) counts two of them otherwise, chosen by switches. Departure: the article does not say
whether false discovery and matching are taken on the plan or on the execution; both are reported.
"""

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import ClassVar

from components.core.traits import ScorerTraits
from components.radiology.attempt import Attempt, Graded, Published
from components.radiology.execution import Execution, ground_truth, planned_chain
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
    from Levenshtein import distance  # the first score needs it, not the first call

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
    from Levenshtein import distance

    truth = ground_truth(chain, switches.category_typing)
    values = dict(_NONE)
    for suffix, found in (("", executed), ("_decision", decision)):
        if found is not None:
            free = free_distance(truth, found)
            values |= {
                f"planning/levenshtein{suffix}": free if switches.gt_order == "free" else distance(truth, found),
                f"planning/levenshtein{suffix}_free": free,
                f"planning/fdr{suffix}": false_discovery_rate(truth, found, switches.fdr_denominator),
                f"planning/tma{suffix}": tool_matching(truth, found, switches.tma_mode),
            }
    if decision is not None:
        values["planning/levenshtein_drift"] = distance(decision, executed)
    return values


class Chain(Graded):
    """Planning metrics of a sample: Levenshtein distances (steps) of ground truth, decision and execution, false
    discovery rate and tool matching accuracy (0 to 1). Unscored are metrics on the plan without a plan."""

    traits: ClassVar[ScorerTraits] = ScorerTraits(
        lower=LOWER,
        units={name: "steps" for name in NAMES if "levenshtein" in name},
        kinds={name: "count" if "levenshtein" in name else "share" for name in NAMES},
    )
    names = NAMES
    published: ClassVar[Published] = {"baseline": DISTANCES, "redundant": (*DISTANCES, *SHARES)}

    def values(self, one: Attempt, execution: Execution) -> Mapping[str, float | None]:
        """The metrics of an execution; the reference leaves failures out, but for its baseline."""
        switches = self.switches
        failures = switches.planning_scope == "all" or self.kind(one.trajectory) == "baseline"
        if not failures and not execution.success(switches):
            return _NONE
        decision = None if execution.plan is None else planned_chain(execution.plan, switches)
        return planning(one.task.id, decision, execution.categories(switches), switches)
