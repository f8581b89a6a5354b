"""Self-consistency: several attempts of one agent at once, and the answer that most of them give.

Source: Wang et al. 2023, ICLR, arXiv 2203.11171; as a baseline in Tang et al. 2024 (MedAgents), arXiv 2311.10537,
with 5 samples at temperature 0.7. Departure: any agent may be sampled, with tools too.
"""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge

from components.acting.voting import Outcome, Temperature, Wrapping, draw, settle
from components.core.protocols import Episode


@dataclass(frozen=True)
class SelfConsistency(Wrapping):
    """``draws`` attempts of ``inner`` at ``temperature`` (None: the model's), each with fresh tools."""

    draws: Annotated[int, Ge(1)] = 5
    temperature: Temperature | None = 0.7

    async def solve(self, episode: Episode) -> Outcome:
        """The most frequent answer; of a tie the first."""
        return settle(await draw(episode, self.inner, range(1, self.draws + 1), self.temperature))
