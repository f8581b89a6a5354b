"""Self-consistency: several attempts of one agent at once, and the answer that most of them give.

Source: Wang et al. 2023, ICLR, arXiv 2203.11171; as a baseline in Tang et al. 2024 (MedAgents), arXiv 2311.10537,
with 5 samples at temperature 0.7. Departure: any agent may be sampled, with tools too.

``Matched`` has as many calls, or as many tokens, as another agent spends on the same question: what a panel gains over
one call may be no more than its calls (Wang et al. 2024, ACL, arXiv 2402.18272; Snell et al. 2024, arXiv 2408.03314).
The other agent runs in parallel, in an episode of its own that is neither charged nor recorded here; where its own run
was made, the journal answers it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge

from components.acting.voting import Outcome, Temperature, Unit, Vote, Wrapping, draw, settle, spent
from components.core.protocols import Agent, Episode


@dataclass(frozen=True)
class SelfConsistency(Wrapping):
    """``draws`` attempts of ``inner`` at ``temperature`` (None: the model's), each with fresh tools."""

    draws: Annotated[int, Ge(1)] = 5
    temperature: Temperature | None = 0.7

    async def solve(self, episode: Episode) -> Outcome:
        """The most frequent answer; of a tie the first."""
        return settle(await draw(episode, self.inner, range(1, self.draws + 1), self.temperature))


@dataclass(frozen=True)
class Matched(Wrapping):
    """Samples ``inner`` as long as another attempt fits into what ``to`` spent ``by`` calls or tokens, at least once.

    The most expensive attempt so far predicts the cost of the next one. At most ``most`` attempts.
    """

    to: Agent
    by: Unit = "calls"
    temperature: Temperature | None = 0.7
    most: Annotated[int, Ge(1)] = 200

    async def solve(self, episode: Episode) -> Outcome:
        """The most frequent answer; of a tie the first."""
        allowed = spent(await episode.beside(self.to), self.by)
        votes: list[Vote] = []
        number = 1
        while number:
            numbers = range(len(votes) + 1, len(votes) + number + 1)
            votes += await draw(episode, self.inner, numbers, self.temperature)
            number = self._more(episode, votes, allowed)
        episode.branch("draw/1").remark(matched=self.by, allowed=allowed)
        return settle(votes)

    def _more(self, episode: Episode, votes: Sequence[Vote], allowed: int) -> int:
        """How many more attempts fit."""
        costs = [spent(episode.trajectory, self.by, one.branch) for one in votes]
        left, dearest = allowed - sum(costs), max(costs)
        return min(max(left // dearest, 0), self.most - len(votes)) if dearest else 0
