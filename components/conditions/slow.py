"""Tools that take their time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from annotated_types import Ge, Gt

from components.core.types import Observation
from components.faults.marks import failed, marked
from components.faults.striking import Striking
from components.faults.wrapping import Struck, innermost

_LIMITS = ("timeout_seconds", "seconds")  # what tools call the time that they allow themselves


@dataclass(frozen=True)
class Slow(Striking):
    """A struck call takes ``seconds`` longer. Where that reaches the tool's timeout it fails then, without an answer.

    ``timeout_seconds``: of all tools; None = each tool's own, where it has one. A replay says the same at once.
    """

    seconds: Annotated[float, Ge(0)] = 2.0
    timeout_seconds: Annotated[float, Gt(0)] | None = None
    kind: ClassVar[str] = "slow"

    async def strike(self, call: Struck) -> Observation:
        """Wait, then call; or give up waiting. Raises ToolError."""
        own = innermost(call.tool)
        limits = (self.timeout_seconds, *(getattr(own, name, None) for name in _LIMITS))
        limit = next((float(one) for one in limits if one is not None), None)
        if limit is not None and self.seconds >= limit:
            await call.context.wait(limit)
            raise failed(self.kind, f"{call.name} timed out: no answer within {limit:g} s.", seconds=limit)
        await call.context.wait(self.seconds)
        return marked(await call.run(), self.kind, seconds=self.seconds)
