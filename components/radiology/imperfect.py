"""Radiology tools that are right as often as their cards say, and otherwise plausibly wrong."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar

from components.core.tools import Offer
from components.core.traits import innermost
from components.core.types import Observation, Sample
from components.faults.marks import change_values
from components.faults.wrapping import Share, Striking, Struck
from components.radiology.cards import Card
from components.radiology.memory import RadiologyMemory, read_inputs
from components.radiology.toolset import RadiologyTool, memory_of, study_behind


@dataclass(frozen=True)
class Imperfect(Striking):
    """A call is right with the score that its card gives for right inputs; otherwise all that it writes is wrong.

    That is the lower bound, and a step more for each right optional input, up to the upper bound. A call on a wrong
    compulsory input is always wrong, so errors propagate. ``rate`` 0.5 halves the chance of a tool's own error.
    For toolset=radiology only.
    """

    rate: Share = 1.0
    kind: ClassVar[str] = "imperfect"

    def offer(self, offer: Offer, sample: Sample, rng: Random) -> Offer:
        """Apply the fault to the tools. Raises ConfigError for another toolset."""
        study_behind(offer, sample, self.kind)
        return super().offer(offer, sample, rng)

    def strikes(self, call: Struck) -> bool:
        """Whether this call is wrong; a tool that cannot be called reports that itself."""
        tool, memory = innermost(call.tool), memory_of(call.context.state)
        if not isinstance(tool, RadiologyTool):
            return False
        if any(name in memory.wrong for name in tool.card.compulsory):
            return True
        given = read_inputs(call.context.call.parsed.get("input", ""))
        return call.rng.random() < self.rate * (1 - certainty(tool.card, memory, given))

    async def strike(self, call: Struck) -> Observation:
        """Run the tool and write wrong values. Raises ToolError as the tool does."""
        memory = memory_of(call.context.state)
        wrong = dict(memory.wrong)

        def other(name: str, _: Any) -> Any:
            wrong[name] = memory.plausible(name, wrong, call.rng)
            return wrong[name]

        return change_values(self.kind, await call.run(), memory, other)


def certainty(card: Card, memory: RadiologyMemory, given: Sequence[str]) -> float:
    """The probability that a call with right compulsory inputs is right, 0 to 1, by its card."""
    right = [name for name in given if name in card.optional and name in memory.values and name not in memory.wrong]
    return min(card.lower + card.step * len(right), card.upper)
