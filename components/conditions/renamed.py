"""Tools under names that say nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import ClassVar

from components.core.messages import ToolSpec
from components.core.tools import Offer
from components.core.types import Sample
from components.faults.cards import recarded
from components.faults.striking import Share


@dataclass(frozen=True)
class Renamed:
    """The share ``rate`` of tools is offered under a name of chance (``tool_3fa9``) for the whole of an episode.

    The rest of a card stays, and what the tool does. The old name is unknown. Each call of such a tool is marked.
    """

    rate: Share = 0.3
    tools: Sequence[str] = ()
    kind: ClassVar[str] = "renamed"

    def offer(self, offer: Offer, sample: Sample, rng: Random) -> Offer:
        """Rename tools. Raises ConfigError when there is no such tool."""
        taken = set(offer.tools)

        def renamed(spec: ToolSpec, draws: Random) -> ToolSpec:
            while (name := f"tool_{draws.getrandbits(16):04x}") in taken:
                pass
            taken.add(name)
            return replace(spec, name=name)

        return recarded(self, offer, rng, renamed)
