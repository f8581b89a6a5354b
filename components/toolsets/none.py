"""No tools, for agents that answer from the question alone."""

from __future__ import annotations

from dataclasses import dataclass

from components.core.tools import Offer
from components.core.types import Sample


@dataclass(frozen=True)
class NoTools:
    """An empty offer, whatever the sample."""

    def open(self, sample: Sample) -> Offer:
        """Offer nothing."""
        return Offer({})
