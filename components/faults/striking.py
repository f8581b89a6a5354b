"""What conditions with faults have in common: a rate, the tools that they are on, and calls struck by chance."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Annotated, ClassVar

from annotated_types import Ge, Le

from components.core.tools import Offer
from components.core.types import Observation, Sample
from components.faults.wrapping import Struck, faulty

Share = Annotated[float, Ge(0), Le(1)]


@dataclass(frozen=True)
class Striking(ABC):
    """A condition that strikes every call of its tools with probability ``rate``.

    ``tools``: names of tools, or categories where their cards have such; all where it is empty.
    """

    rate: Share = 0.3
    tools: Sequence[str] = ()
    kind: ClassVar[str] = ""

    def offer(self, offer: Offer, sample: Sample, rng: Random) -> Offer:
        """Put the fault on the tools. Raises ConfigError when there is no such tool."""
        return faulty(self, offer, sample, rng)

    def strikes(self, call: Struck) -> bool:
        """Whether this call is struck."""
        return call.rng.random() < self.rate

    @abstractmethod
    async def strike(self, call: Struck) -> Observation:
        """What the call returns in place of what it should; each condition says it. Raises ToolError, marked."""
