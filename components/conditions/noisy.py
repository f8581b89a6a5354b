"""Tools whose numbers are off by a stated amount."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

from annotated_types import Gt, Le

from components.core.types import Observation
from components.faults.altering import has_values, revalued
from components.faults.marks import marked
from components.faults.numbers import shifted
from components.faults.striking import Striking
from components.faults.wrapping import Struck


@dataclass(frozen=True)
class Noisy(Striking):
    """Every number of a struck call's result is off by ``amount`` of itself (0.2: a fifth), up or down by chance.

    Dates, times and identifiers stay; a result without a number is as it is and counts as not struck. Where tools
    write to a memory the numbers are wrong there.
    """

    amount: Annotated[float, Gt(0), Le(1)] = 0.2
    kind: ClassVar[str] = "noisy"

    async def strike(self, call: Struck) -> Observation:
        """Put the numbers off. Raises ToolError as the tool does."""

        def off(_: str, value: Any) -> str | None:
            found = shifted(str(value), self.amount, call.rng)
            return found.text if found.n else None

        seen = await call.run()
        if has_values(seen, call.context.state):
            return revalued(self.kind, seen, call.context.state, off, amount=self.amount)
        told = shifted(seen.text, self.amount, call.rng)
        if not told.n:
            return seen
        return marked(replace(seen, text=told.text), self.kind, numbers=told.n, amount=self.amount)
