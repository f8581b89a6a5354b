"""What a tool gets in addition to its arguments."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Protocol

from components.core import types as t
from components.core.messages import Message, Purpose, Sampling
from components.core.types import Problem

if TYPE_CHECKING:
    from components.core.protocols import Tool


class Context(Protocol):
    """The episode as a tool sees it: its state and problem, a way to ask, and what is offered."""

    @property
    def state(self) -> t.State: ...

    @property
    def problem(self) -> Problem: ...

    @property
    def offered(self) -> Collection[str]:
        """The names of the tools that the episode offers by now."""

    def add(self, tool: Tool) -> None:
        """Offer one more tool for the rest of the episode. Raises ToolError (name_taken)."""

    async def ask(
        self, messages: Sequence[Message], purpose: Purpose = "tool", sampling: Sampling | None = None,
        role: str = "tool",
    ) -> Message:  # fmt: skip
        """Ask a model through the episode's door; what is not a tool's own question on a branch of its purpose."""
