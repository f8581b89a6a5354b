"""Asking for proposals of the next action, one by one or several at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from components.core.concurrency import together
from components.core.messages import Message, Sampling
from components.core.types import Action

if TYPE_CHECKING:
    from runner.episode import Episode


class Proposing:
    """What a verifier asks for proposals (see ``components.core.protocols.Propose``)."""

    def __init__(self, episode: Episode, messages: Sequence[Message], sampling: Sampling) -> None:
        self._episode, self._messages, self._sampling = episode, messages, sampling

    async def __call__(self, sampling: Sampling | None = None) -> Action:
        """One more proposal."""
        self._episode.attempt.admit()
        return await self._ask(sampling)

    async def at_once(self, n: int, sampling: Sampling | None = None) -> list[Action]:
        """``n`` proposals together: the budget has room for all or none is asked, and all come to their end."""
        self._episode.attempt.admit(n)
        return await together(self._ask(sampling) for _ in range(n))

    async def _ask(self, sampling: Sampling | None) -> Action:
        return await self._episode.suggest(
            self._messages, self._sampling.merged(sampling), "main", "act", admitted=True
        )
