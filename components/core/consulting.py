"""Scorers that need more than an episode: a model to ask, or how right others found it."""

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from components.core.protocols import Episode, Scorer
from components.core.types import Sample, Score, Trajectory


@runtime_checkable
class Consulting(Scorer, Protocol):
    """Asks a model of a role (``ScorerTraits.asks``) when an episode is over and the other scores are known.

    What it asks are steps at the trajectory's end, which other scorers and exports do not see; ``score`` reads them
    there, so that records are scored again without asking.
    """

    async def consult(
        self, sample: Sample, trajectory: Trajectory, scores: Mapping[str, float | None], episode: Episode
    ) -> None:
        """Ask on branches of ``episode``. Raises ModelError, which errors the sample, and ConfigError."""


@runtime_checkable
class Following(Scorer, Protocol):
    """Scores an episode when the scores that need no model are known, by the one of them that decides
    (``ScorerTraits.follows``)."""

    def follow(self, sample: Sample, trajectory: Trajectory, right: float | None) -> Sequence[Score]:
        """``right``: how right the episode was, 0 to 1; None where it is not known."""
