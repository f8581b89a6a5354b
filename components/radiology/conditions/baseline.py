"""RadABench's baseline: what is necessary and sufficient.

Source: Zheng et al. 2024, arXiv 2412.09529.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from components.core.tools import Offer
from components.core.types import Sample
from components.radiology.offers import rebuilt, study_behind
from components.radiology.sets import baseline
from components.radiology.switches import Switches


@dataclass(frozen=True)
class Baseline:
    """One tool per category and type, none bound: 12."""

    switches: Switches = field(default_factory=Switches)

    def offer(self, offer: Offer, sample: Sample, rng: Random) -> Offer:
        """Name the tools in the profile's order. Raises ConfigError for another toolset."""
        study_behind(offer, sample, "baseline")
        facts = {"condition": "baseline", "kind": "baseline"}
        return rebuilt(offer, baseline(self.switches), rng, self.switches, facts)
