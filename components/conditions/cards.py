"""Tools whose cards say less for a whole episode: names without meaning, or no documentation."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import count
from random import Random
from typing import Any, ClassVar

from components.core.errors import ToolError
from components.core.messages import ToolSpec
from components.core.tools import Context, Offer, Tool
from components.core.traits import own_name
from components.core.types import Observation, Sample
from components.faults.marks import add_mark, with_mark
from components.faults.wrapping import OnTools, Wrapper, call_context, fallible, with_fault

Change = Callable[[ToolSpec, Random], ToolSpec]
_INTERFACE = ("Category", "Compulsory Input", "Optional Input", "Output")  # of a radiology card; the rest is prose


@dataclass(frozen=True)
class Recarded(Wrapper):
    """A tool that is shown as ``spec``; its calls are marked with ``kind``."""

    spec: ToolSpec
    kind: str

    async def __call__(self, context: Context, /, **_: Any) -> Observation:
        was = self.wraps.spec.name
        try:
            return add_mark(await call_context(context, self).use(self.wraps), self.kind, was=was)
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


@dataclass(frozen=True)
class Renamed(OnTools):
    """The share ``rate`` of tools is offered under a random name (``tool_3fa9``). The rest of a card stays, and what
    the tool does. The old name is unknown. Each call of such a tool is marked."""

    kind: ClassVar[str] = "renamed"

    def offer(self, offer: Offer, sample: Sample, rng: Random) -> Offer:
        """Rename tools. Raises ConfigError when there is no such tool."""
        taken = set(offer.tools)

        def rename(spec: ToolSpec, draws: Random) -> ToolSpec:
            names = (f"tool_{draws.getrandbits(16):04x}" for _ in count())
            taken.add(name := next(name for name in names if name not in taken))
            return replace(spec, name=name)

        return change_cards(self, offer, rng, rename)


@dataclass(frozen=True)
class Undocumented(OnTools):
    """The share ``rate`` of tools is offered without prose: with the name, and the names and types of parameters. A
    radiology card keeps its category, inputs and outputs. Each call of such a tool is marked."""

    kind: ClassVar[str] = "undocumented"

    def offer(self, offer: Offer, sample: Sample, rng: Random) -> Offer:
        """Take the documentation away. Raises ConfigError when there is no such tool."""
        return change_cards(self, offer, rng, lambda spec, _: bare(spec))


def bare(spec: ToolSpec) -> ToolSpec:
    """The spec without its prose."""
    card = spec.card and {key: value if key in _INTERFACE else "" for key, value in spec.card.items()}
    return replace(spec, description="", parameters=_without_prose(spec.parameters), card=card)


def _without_prose(schema: Mapping[str, Any]) -> dict[str, Any]:
    left = {key: value for key, value in schema.items() if key not in ("description", "examples")}
    properties = {name: _without_prose(value) for name, value in schema.get("properties", {}).items()}
    return {**left, "properties": properties} if properties else left
