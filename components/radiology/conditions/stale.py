"""Tools that answer with what is out of date."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from components.core.types import Observation
from components.faults.altering import has_values, revalued
from components.faults.marks import marked
from components.faults.numbers import shifted
from components.faults.plausible import plausible
from components.faults.striking import Striking
from components.faults.wrapping import Struck
from components.radiology.memory import RadiologyMemory
from components.radiology.study import study_of

_OFF = (0.2, 0.4)  # share of itself by which an earlier value differs


@dataclass(frozen=True)
class Stale(Striking):
    """A struck call is answered with what is out of date.

    That is what the same tool said to this line's last call of other arguments; the call is not made then, and nothing
    else of the sample changes. Where there is none, the answer has the numbers of an earlier time, made here: off by a
    fifth to two fifths of themselves; one without numbers is not struck then. Tools that write to a radiology memory
    write what an earlier study might have shown.
    """

    kind: ClassVar[str] = "stale"

    async def strike(self, call: Struck) -> Observation:
        """Answer from before. Raises ToolError as the tool does."""
        if not isinstance(call.context.state, RadiologyMemory):
            now, past = call.context.call.parsed, call.context.past
            said = [one for one in past if one.error is None and one.call.parsed != now]
            if said:
                before = said[-1].observation
                return marked(Observation(before.text, {}, before.images), self.kind, call=past.index(said[-1]))
        return self._earlier(call, await call.run())

    def _earlier(self, call: Struck, seen: Observation) -> Observation:
        """What a tool said, as it might have said it earlier."""
        if has_values(seen, call.context.state):
            study = study_of(call.sample)
            return revalued(self.kind, seen, call.context.state, lambda name, _: plausible(study, name, {}, call.rng))
        told = shifted(seen.text, call.rng.uniform(*_OFF), call.rng)
        return marked(replace(seen, text=told.text), self.kind, numbers=told.n) if told.n else seen
