"""How long conversations get: what the window of a model has to hold.

Source: Zheng et al. 2024, arXiv 2412.09529, supplement 4.3, who report lengths in tokens and the windows they take.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from components.core.traits import ScorerTraits
from components.core.types import CONTEXT_LENGTH, Sample, Score, Trajectory

LONGEST, CALLS = "conversation/tokens", "conversation/calls"


@dataclass(frozen=True)
class Length:
    """``conversation/tokens`` of the longest call of an episode, question and reply together, of whichever model;
    unscored where a call reports no tokens, and where one was longer than the model takes, so that its length is
    unknown. ``conversation/calls``: how many were answered."""

    version = "2"
    traits: ClassVar[ScorerTraits] = ScorerTraits(
        neither=(LONGEST, CALLS), units={LONGEST: "tokens", CALLS: "calls"}, kinds={LONGEST: "count", CALLS: "count"}
    )

    def score(self, sample: Sample, trajectory: Trajectory) -> Sequence[Score]:
        """Measure the calls."""
        used = [step.usage for step in trajectory.steps]
        pairs = [(one.input_tokens, one.output_tokens) for one in used]
        lengths = [asked + replied for asked, replied in pairs if asked is not None and replied is not None]
        if trajectory.failure == CONTEXT_LENGTH:
            return [Score(LONGEST, None, "longer than the model takes"), Score(CALLS, float(len(used)))]
        if trajectory.stop == "error" or not used:
            return [Score(LONGEST, None), Score(CALLS, None)]
        longest = float(max(lengths)) if len(lengths) == len(used) else None
        return [Score(LONGEST, longest), Score(CALLS, float(len(used)))]
