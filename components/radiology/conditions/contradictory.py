"""Tools that disagree: a second one is asked the same, and says something else."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from components.core.types import Observation
from components.faults.altering import has_values, revalued
from components.faults.marks import marked
from components.faults.numbers import shifted
from components.faults.plausible import plausible
from components.faults.striking import Striking
from components.faults.wrapping import Struck
from components.radiology.study import study_of

_LONGEST = 400  # characters of a second answer in full; of longer ones the line that differs first


@dataclass(frozen=True)
class Contradictory(Striking):
    """A struck call comes back with two answers, the tool's own and one that another offered tool is said to give.

    The other answer is made here: other numbers, or, where there are none, that nothing confirms the first. In a
    radiology memory both values stand, in an order of chance, each with its tool. Nothing says which one is right.
    """

    kind: ClassVar[str] = "contradictory"

    async def strike(self, call: Struck) -> Observation:
        """Add the answer that disagrees. Raises ToolError as the tool does."""
        other = call.rng.choice(call.others) if call.others else f"a second run of {call.name}"
        seen = await call.run()
        if has_values(seen, call.context.state):
            return self._values(call, seen, other)
        told = shifted(seen.text, 0.5, call.rng)
        says = f"answers: {_differing(seen.text, told.text)}" if told.n else "does not confirm this."
        return marked(replace(seen, text=f"{seen.text}\n\n{other}, asked the same, {says}"), self.kind, other=other)

    def _values(self, call: Struck, seen: Observation, other: str) -> Observation:
        study, seconds = study_of(call.sample), dict[str, Any]()

        def both(name: str, value: Any) -> str | None:
            second = seconds[name] = plausible(study, name, {}, call.rng)
            if second == value:
                return None
            said = [f"{value} ({call.name})", f"{second} ({other})"]
            call.rng.shuffle(said)
            return "; ".join(said)

        return revalued(self.kind, seen, call.context.state, both, seconds, other=other)


def _differing(right: str, other: str) -> str:
    """The other answer; of a long one the first line that differs."""
    if len(other) <= _LONGEST:
        return other
    pairs = zip(right.split("\n"), other.split("\n"), strict=True)
    return next(second for first, second in pairs if first != second)[:_LONGEST]
