"""RadABench's redundant conditions: more tools than needed, in three degrees.

Source: Zheng et al. 2024, arXiv 2412.09529; sets and departures in ``components.radiology.sets``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from components.core.tools import Offer
from components.core.types import Sample
from components.radiology.offers import rebuilt, study_behind
from components.radiology.sets import high, medium, regular
from components.radiology.switches import Switches


@dataclass(frozen=True)
class RedundantRegular:
    """The baseline's tools and at most one extra, for another pair, per category: 12 to 15."""

    switches: Switches = field(default_factory=Switches)

    def offer(self, offer: Offer, sample: Sample, rng: Random) -> Offer:
        """Build the set. Raises ConfigError for another toolset."""
        study = study_behind(offer, sample, "redundant_regular")
        facts = {"condition": "redundant_regular", "kind": "redundant"}
        return rebuilt(offer, regular(study.pair, rng, self.switches), rng, self.switches, facts)


@dataclass(frozen=True)
class RedundantMedium:
    """Tools bound to the record's pair and to pairs like it: 23 to 34."""

    switches: Switches = field(default_factory=Switches)

    def offer(self, offer: Offer, sample: Sample, rng: Random) -> Offer:
        """Build the set. Raises ConfigError for another toolset."""
        study = study_behind(offer, sample, "redundant_medium")
        facts = {"condition": "redundant_medium", "kind": "redundant"}
        return rebuilt(offer, medium(study.pair, rng, self.switches), rng, self.switches, facts)


@dataclass(frozen=True)
class RedundantHigh:
    """Every tool there is: 169."""

    switches: Switches = field(default_factory=Switches)

    def offer(self, offer: Offer, sample: Sample, rng: Random) -> Offer:
        """Build the set. Raises ConfigError for another toolset."""
        study_behind(offer, sample, "redundant_high")
        facts = {"condition": "redundant_high", "kind": "redundant"}
        return rebuilt(offer, high(self.switches), rng, self.switches, facts)
