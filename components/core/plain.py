"""Parts that change nothing: any proposal is accepted, the offer stays as it is, no tool is offered."""

from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from components.core.messages import Message
from components.core.protocols import Episode, Propose
from components.core.tools import Offer
from components.core.types import Action, Sample


@dataclass(frozen=True)
class Accept:
    """A verifier that takes the first proposal as it is."""

    def choose(self, messages: Sequence[Message], propose: Propose, episode: Episode) -> Coroutine[Any, Any, Action]:
        """Propose once."""
        return propose()


@dataclass(frozen=True)
class Intact:
    """A condition that leaves the offer as the toolset opens it; for any toolset."""

    def offer(self, offer: Offer, sample: Sample, rng: Random) -> Offer:
        """Leave the tools as they are."""
        return replace(offer, facts={"kind": "intact", **offer.facts, "condition": "intact"})


@dataclass(frozen=True)
class NoTools:
    """A toolset without tools, for agents that answer from the question alone."""

    def open(self, sample: Sample) -> Offer:
        """Offer nothing, whatever the sample."""
        return Offer({})
