"""Tools that answer with what is out of date."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from components.faults.altering import has_values, revalued
from components.faults.marks import marked
from components.faults.plausible import plausible
from components.faults.striking import Striking
from components.faults.wrapping import Struck
from components.radiology.memory import RadiologyMemory
from components.radiology.study import study_of
from components.types import Observation


@dataclass(frozen=True)
class Stale(Striking):
    """A struck call is answered from a cache: with what the same tool returned to this line's call before it.

    It is not made then, and nothing else of the sample changes; the first call of a tool is never struck. Tools that
    write to a radiology memory are asked once for each thing: those write what an earlier study might have shown.
    """

    kind: ClassVar[str] = "stale"

    async def strike(self, call: Struck) -> Observation:
        """Answer from before. Raises ToolError as the tool does."""
        state = call.context.state
        if isinstance(state, RadiologyMemory):
            study = study_of(call.sample)

            def before(name: str, _: Any) -> Any:
                return plausible(study, name, {}, call.rng)

            seen = await call.run()
            return revalued(self.kind, seen, state, before) if has_values(seen, state) else seen
        answered = [one.observation for one in call.context.past if one.error is None]
        if not answered:
            return await call.run()
        return marked(Observation(answered[-1].text, {}, answered[-1].images), self.kind, call=len(answered) - 1)
