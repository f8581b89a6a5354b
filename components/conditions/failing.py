"""Tools whose calls fail or are late: without permission, down, or slow."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from annotated_types import Ge, Gt

from components.core.traits import ToolTraits, declared
from components.core.types import Observation
from components.faults.marks import add_mark, marked_failure
from components.faults.wrapping import Striking, Struck


@dataclass(frozen=True)
class Denied(Striking):
    """A struck call is not made: the model hears that access is denied. The next call may be granted."""

    kind: ClassVar[str] = "denied"

    async def strike(self, call: Struck) -> Observation:
        """Refuse the call. Raises ToolError."""
        raise marked_failure(self.kind, f"Access denied: no permission to use {call.name} for this request.")


@dataclass(frozen=True)
class Unavailable(Striking):
    """Every call of a struck tool fails from its ``from_call``-th on, counted in each line of work of an episode.
    ``rate``: the share of tools that go down in an episode, drawn for each tool alone. They stay unavailable."""

    from_call: Annotated[int, Ge(1)] = 1
    kind: ClassVar[str] = "unavailable"

    def strikes(self, call: Struck) -> bool:
        """Whether the tool is one that goes down, and is down by now."""
        return call.fixed.random() < self.rate and call.context.number + 1 >= self.from_call

    async def strike(self, call: Struck) -> Observation:
        """Fail. Raises ToolError."""
        raise marked_failure(self.kind, f"{call.name} is unavailable: the service does not respond.")


@dataclass(frozen=True)
class Slow(Striking):
    """A struck call takes ``seconds`` longer. Where that reaches the tool's timeout it fails then, without an answer.
    ``timeout_seconds``: of all tools; None = each tool's own, where it declares one. A replay does not wait."""

    seconds: Annotated[float, Ge(0)] = 2.0
    timeout_seconds: Annotated[float, Gt(0)] | None = None
    kind: ClassVar[str] = "slow"

    async def strike(self, call: Struck) -> Observation:
        """Wait, then call; or give up waiting. Raises ToolError."""
        limit = self.timeout_seconds or declared(call.tool, ToolTraits).timeout_seconds
        if limit is not None and self.seconds >= limit:
            await call.context.wait(limit)
            raise marked_failure(self.kind, f"{call.name} timed out: no answer within {limit:g} s.", seconds=limit)
        await call.context.wait(self.seconds)
        return add_mark(await call.run(), self.kind, seconds=self.seconds)
