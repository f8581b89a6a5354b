"""Tools that go down in the course of an episode and stay down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from annotated_types import Ge

from components.core.types import Observation
from components.faults.marks import failed
from components.faults.striking import Striking
from components.faults.wrapping import Struck


@dataclass(frozen=True)
class Unavailable(Striking):
    """Every call of a struck tool fails from its ``from_call``-th on, counted in each line of work of an episode.

    ``rate``: the share of tools that go down in an episode, drawn for each tool alone.
    """

    from_call: Annotated[int, Ge(1)] = 1
    kind: ClassVar[str] = "unavailable"

    def strikes(self, call: Struck) -> bool:
        """Whether the tool is one that goes down, and is down by now."""
        return call.fixed.random() < self.rate and call.context.number + 1 >= self.from_call

    async def strike(self, call: Struck) -> Observation:
        """Nobody answers. Raises ToolError."""
        raise failed(self.kind, f"{call.name} is unavailable: the service does not respond.")
