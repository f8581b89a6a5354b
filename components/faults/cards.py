"""Tools whose cards are changed for a whole episode: the model sees another card than the tool's own."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from components.core.errors import ToolError
from components.core.messages import ToolSpec
from components.core.tools import Context, Effect, Offer, Tool, own_name
from components.core.traits import ToolTraits, tool_traits
from components.core.types import Observation
from components.faults.marks import marked, with_mark
from components.faults.wrapping import OnTools, call_context, fallible, with_fault

Change = Callable[[ToolSpec, Random], ToolSpec]


@dataclass(frozen=True)
class Recarded:
    """A tool in the place of ``wraps``, shown as ``spec``; its calls are marked with ``kind``."""

    wraps: Tool
    spec: ToolSpec
    kind: str

    @property
    def effect(self) -> Effect:
        """That of the tool itself."""
        return self.wraps.effect

    @property
    def traits(self) -> ToolTraits:
        """The tool that it stands for."""
        return replace(tool_traits(self.wraps), wrapped=self.wraps)

    async def __call__(self, context: Context, **_: Any) -> Observation:
        """Run the tool itself. Raises ToolError as it does."""
        was = self.wraps.spec.name
        try:
            return marked(await call_context(context, self).use(self.wraps), self.kind, was=was)
        except ToolError as error:
            raise ToolError(str(error), error.label, with_mark(error.data, self.kind, {"was": was})) from None


def change_cards(fault: OnTools, offer: Offer, rng: Random, change: Change) -> Offer:
    """The offer with the cards of some tools changed, each with probability ``fault.rate``. Raises ConfigError."""
    draws, tools, cards = f"{rng.getrandbits(64):x}/{fault.kind}", dict[str, Tool](), list[str]()
    names = set(fallible(fault, offer))
    for name, tool in offer.tools.items():
        own = Random(f"{draws}/{own_name(tool)}")
        if name not in names or own.random() >= fault.rate:
            tools[name] = tool
            continue
        spec = change(tool.spec, own)
        tools[spec.name] = Recarded(tool, spec, fault.kind)
        cards.append(spec.name)
    return replace(offer, tools=tools, facts=with_fault(offer, fault, cards=cards))
