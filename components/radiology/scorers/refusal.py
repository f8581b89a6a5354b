"""RadABench's unsolvability metrics: whether it was noticed that the task cannot be done, and on the right grounds.

Source: Zheng et al. 2024, arXiv 2412.09529. ``strict`` asks for the grounds of the condition in full;
``code`` follows the reference implementation (MAGIC-AI4Med/RadABench, January 2025), which ignores category and
ability where no tool fits the patient. A refusal that is followed by a built tool still counts as a refusal.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from components.building import first_refusal
from components.core.traits import ScorerTraits
from components.core.types import Sample, Score, Trajectory
from components.radiology.execution import kind_of, task_of
from components.radiology.switches import Switches

AWARE, GROUNDED = NAMES = ("refusal/uar", "refusal/ugr")
_INVALID = re.compile(r"<INVALID>([^<]+)</INVALID>")
_LIMITED, _UNFIT = "InsufficientCapability", "SpecificToolMissing"


@dataclass(frozen=True)
class Refusals:
    """Unsolvability awareness and grounding of a sample, 0 or 1; scored in insufficient conditions only."""

    switches: Switches
    version: str = "1"
    traits: ClassVar[ScorerTraits] = ScorerTraits(kinds=dict.fromkeys(NAMES, "proportion"))

    def score(self, sample: Sample, trajectory: Trajectory) -> Sequence[Score]:
        """A perfect agent refuses with the right grounds: both ceilings are 1."""
        if task_of(sample) is None or kind_of(trajectory) != "insufficient":
            return [Score(name, None) for name in NAMES]
        facts, code = trajectory.facts, self.switches.ugr_mode == "code"
        invalid = None  # the part that the validation reply calls invalid; empty when it cannot be read
        replies = "\n".join(step.reply.text for step in trajectory.steps if step.purpose == "validate")
        if facts["ability"] == _LIMITED and "<INVALID>" in replies and "</INVALID>" in replies:
            invalid = found[1] if (found := _INVALID.search(replies)) else ""
        refusal = first_refusal(trajectory)
        if refusal is not None:
            record = sample.metadata["record"]
            grounded = (_as_published if code else _in_full)(refusal.grounds, facts, record)
        else:
            accepted = [facts["ground_truth_code"]] if code else facts["accepted"]
            grounded = "capability" in (invalid or "").lower() and any(one in (invalid or "") for one in accepted)
        aware = refusal is not None or trajectory.stop == "refused" or invalid is not None
        return [Score(AWARE, float(aware), ceiling=1.0), Score(GROUNDED, float(grounded), ceiling=1.0)]


def _in_full(grounds: Mapping[str, str], facts: Mapping[str, Any], record: Mapping[str, Any]) -> bool:
    """Whether category and ability are the condition's, and the pair where tools of other pairs are offered."""
    given = {name: str(grounds.get(name, "")).strip() for name in ("category", "anatomy", "modality", "ability")}
    exact = ("ability", "anatomy", "modality") if facts["ability"] == _UNFIT else ("ability",)
    return given["category"] in facts["accepted"] and all(given[name] == facts[name] for name in exact)


def _as_published(grounds: Mapping[str, str], facts: Mapping[str, Any], record: Mapping[str, Any]) -> bool:
    """Whether the reference's scripts would call these grounds right."""
    if facts["ability"] == _UNFIT:
        return all(grounds.get(name.lower()) in (record[name], "Universal") for name in ("Anatomy", "Modality"))
    if facts["ability"] == _LIMITED:
        text = "\n".join(map(str, grounds.values()))
        return _LIMITED in text and facts["ground_truth_code"] in text
    return facts["ground_truth_code"] in grounds.get("category", "")
