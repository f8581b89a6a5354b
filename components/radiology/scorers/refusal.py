"""RadABench's unsolvability metrics: whether it was noticed that the task cannot be done, and on the right grounds.

Source: Zheng et al. 2024, arXiv 2412.09529. ``strict`` asks for the grounds of the condition in full;
``code`` follows the reference implementation (MAGIC-AI4Med/RadABench, January 2025), which ignores category and
ability where no tool fits the patient. A refusal that is followed by a built tool still counts as a refusal.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from components.building import first_refusal
from components.core.traits import ScorerTraits
from components.core.types import Sample, Score, Trajectory
from components.radiology.execution import kind_of, task_of
from components.radiology.perfect import unscored
from components.radiology.switches import Switches

AWARE, GROUNDED = NAMES = ("refusal/uar", "refusal/ugr")
_INVALID = re.compile(r"<INVALID>([^<]+)</INVALID>")
_LIMITED, _UNFIT = "InsufficientCapability", "SpecificToolMissing"


def invalid_text(trajectory: Trajectory) -> str | None:
    """The part that the validation reply calls invalid; empty when it cannot be read, None when there is none."""
    replies = "\n".join(step.reply.text for step in trajectory.steps if step.purpose == "validate")
    if "<INVALID>" not in replies or "</INVALID>" not in replies:
        return None
    found = _INVALID.search(replies)
    return found[1] if found else ""


def grounded_strict(grounds: Mapping[str, str], facts: Mapping[str, Any]) -> bool:
    """Whether category and ability are the condition's, and the pair where tools of other pairs are offered."""
    given = {name: str(grounds.get(name, "")).strip() for name in ("category", "anatomy", "modality", "ability")}
    fits = given["category"] in facts["accepted"] and given["ability"] == facts["ability"]
    if facts["ability"] != _UNFIT:
        return fits
    return fits and given["anatomy"] == facts["anatomy"] and given["modality"] == facts["modality"]


def grounded_code(grounds: Mapping[str, str], facts: Mapping[str, Any], record: Mapping[str, Any]) -> bool:
    """Whether the reference's scripts would call these grounds right."""
    if facts["ability"] == _UNFIT:
        return all(grounds.get(name.lower()) in (record[name], "Universal") for name in ("Anatomy", "Modality"))
    if facts["ability"] == _LIMITED:
        text = "\n".join(map(str, grounds.values()))
        return _LIMITED in text and facts["ground_truth_code"] in text
    return facts["ground_truth_code"] in grounds.get("category", "")


def grounded_invalid(text: str, accepted: Collection[str]) -> bool:
    """Whether a validation reply blames the capability of the right category."""
    return "capability" in text.lower() and any(category in text for category in accepted)


@dataclass(frozen=True)
class Refusals:
    """Unsolvability awareness and grounding of a sample, 0 or 1; scored in insufficient conditions only."""

    switches: Switches
    version: str = "1"
    traits: ClassVar[ScorerTraits] = ScorerTraits(kinds=dict.fromkeys(NAMES, "proportion"))

    def score(self, sample: Sample, trajectory: Trajectory) -> Sequence[Score]:
        """A perfect agent refuses with the right grounds: both ceilings are 1."""
        if task_of(sample) is None or kind_of(trajectory) != "insufficient":
            return unscored(NAMES)
        invalid = invalid_text(trajectory) if trajectory.facts["ability"] == _LIMITED else None
        aware = first_refusal(trajectory) is not None or trajectory.stop == "refused" or invalid is not None
        grounded = self._grounded(sample, trajectory, invalid)
        return [Score(AWARE, float(aware), ceiling=1.0), Score(GROUNDED, float(grounded), ceiling=1.0)]

    def _grounded(self, sample: Sample, trajectory: Trajectory, invalid: str | None) -> bool:
        """Whether the refusal, or else the validation reply, has the right grounds."""
        facts, code = trajectory.facts, self.switches.ugr_mode == "code"
        if (refusal := first_refusal(trajectory)) is not None:
            grounds = refusal.grounds
            record = sample.metadata["record"]
            return grounded_code(grounds, facts, record) if code else grounded_strict(grounds, facts)
        if invalid is None:
            return False
        return grounded_invalid(invalid, [facts["ground_truth_code"]] if code else facts["accepted"])
