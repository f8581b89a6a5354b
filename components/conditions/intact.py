"""What a toolset offers, unchanged."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from components.core.tools import Offer
from components.core.types import Sample


@dataclass(frozen=True)
class Intact:
    """The offer as the toolset opens it; for any toolset."""

    def offer(self, offer: Offer, sample: Sample, rng: Random) -> Offer:
        """Leave the tools as they are."""
        return replace(offer, facts={"kind": "intact", **offer.facts, "condition": "intact"})
