"""The verifier that checks nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from components.core.messages import Message
from components.core.protocols import Episode, Propose
from components.core.types import Action


@dataclass(frozen=True)
class Accept:
    """Takes the first proposal as it is."""

    async def choose(self, messages: Sequence[Message], propose: Propose, episode: Episode) -> Action:
        """Propose once."""
        return await propose()
