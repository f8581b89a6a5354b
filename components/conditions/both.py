"""Two conditions, one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from components.core.protocols import Condition
from components.core.tools import Offer
from components.core.types import Sample


@dataclass(frozen=True)
class Both:
    """What ``first`` makes of an offer, and then ``then`` of that; either may be another pair.

    ``first`` draws what it draws alone, so that its tools are those of a run without ``then``.
    """

    first: Condition
    then: Condition

    def offer(self, offer: Offer, sample: Sample, rng: Random) -> Offer:
        """Apply both. Raises ConfigError as they do."""
        return self.then.offer(self.first.offer(offer, sample, rng), sample, rng)
