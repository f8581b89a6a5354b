"""Where a call stands: what a tool that wraps another one gets beside a tool's ordinary context."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeGuard

from components.core.messages import ToolCall
from components.core.tools import Context, Tool
from components.core.types import Observation, Observed


class Placed(Context, Protocol):
    """The context of a call that an agent made (``runner.episode.calls.Context``).

    ``line`` is the branch whose call it is, ``past`` what came of that branch's earlier calls of the same name, and
    ``number`` how many those are, with those before it in its own step: none depends on what runs beside it.
    """

    @property
    def call(self) -> ToolCall: ...

    @property
    def line(self) -> str: ...

    @property
    def past(self) -> Sequence[Observed]: ...

    @property
    def number(self) -> int: ...

    async def use(self, tool: Tool) -> Observation:
        """Run another tool on this call, through the door, as if it had been called itself. Raises ToolError."""

    async def wait(self, seconds: float) -> None:
        """Let time pass, except in a replay."""


def placed(context: Context, tool: Tool) -> Placed:
    """The context of a call that has a place. Raises TypeError for any other: a tool that wraps needs one."""
    if not _is_placed(context):
        raise TypeError(f"{tool.spec.name} is called where its call has no place")
    return context


def _is_placed(context: Context) -> TypeGuard[Placed]:
    return hasattr(context, "use")
