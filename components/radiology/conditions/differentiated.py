"""RadABench's differentiated condition: several tools fit, and they differ in performance.

Source: Zheng et al. 2024, arXiv 2412.09529.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from components.core.tools import Offer
from components.core.types import Sample
from components.radiology.offers import rebuilt, study_behind
from components.radiology.removal import CONFIG3
from components.radiology.sets import differentiated
from components.radiology.switches import Switches


@dataclass(frozen=True)
class Differentiated:
    """Unbound, bound, and restricted tools whose list holds the record's entity and which are best: 17 or 18."""

    switches: Switches = field(default_factory=Switches)

    def offer(self, offer: Offer, sample: Sample, rng: Random) -> Offer:
        """Build the set. Raises ConfigError for another toolset."""
        study = study_behind(offer, sample, "differentiated")
        argument = CONFIG3[study.task.id]
        facts = {"condition": "differentiated", "kind": "differentiated", "argument": argument}
        return rebuilt(offer, differentiated(study, rng, self.switches), rng, self.switches, facts)
