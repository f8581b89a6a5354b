"""Scorers that ask a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from components.protocols import Episode, Scorer
from components.types import Sample, Trajectory


@runtime_checkable
class Consulting(Scorer, Protocol):
    """Asks a model of the role ``asks`` when an episode is over and the scores that need no model are known.

    What it asks are steps at the trajectory's end, which other scorers and exports do not see; ``score`` reads them
    there, so that records are scored again without asking. The model under test is refused unless ``allow_self``.
    """

    @property
    def asks(self) -> str: ...

    @property
    def allow_self(self) -> bool: ...

    async def consult(
        self, sample: Sample, trajectory: Trajectory, scores: Mapping[str, float | None], episode: Episode
    ) -> None:
        """Ask on branches of ``episode``. Raises ModelError, which errors the sample, and ConfigError."""
