"""Tools whose cards say less: names that mean nothing, or no documentation, for the whole of an episode."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, ClassVar

from components.core.messages import ToolSpec
from components.core.tools import Offer
from components.core.types import Sample
from components.faults.cards import change_cards
from components.faults.wrapping import Share

_INTERFACE = ("Category", "Compulsory Input", "Optional Input", "Output")  # of a radiology card; the rest is prose


@dataclass(frozen=True)
class Renamed:
    """The share ``rate`` of tools is offered under a random name (``tool_3fa9``).

    The rest of a card stays, and what the tool does. The old name is unknown. Each call of such a tool is marked.
    """

    rate: Share = 0.3
    tools: Sequence[str] = ()
    kind: ClassVar[str] = "renamed"

    def offer(self, offer: Offer, sample: Sample, rng: Random) -> Offer:
        """Rename tools. Raises ConfigError when there is no such tool."""
        taken = set(offer.tools)

        def rename(spec: ToolSpec, draws: Random) -> ToolSpec:
            while (name := f"tool_{draws.getrandbits(16):04x}") in taken:
                pass
            taken.add(name)
            return replace(spec, name=name)

        return change_cards(self, offer, rng, rename)


@dataclass(frozen=True)
class Undocumented:
    """The share ``rate`` of tools is offered without a word of prose.

    Left are the name, and the names and types of parameters; of a radiology card its category, inputs and outputs.
    Each call of such a tool is marked.
    """

    rate: Share = 0.3
    tools: Sequence[str] = ()
    kind: ClassVar[str] = "undocumented"

    def offer(self, offer: Offer, sample: Sample, rng: Random) -> Offer:
        """Take the documentation away. Raises ConfigError when there is no such tool."""
        return change_cards(self, offer, rng, lambda spec, _: bare(spec))


def bare(spec: ToolSpec) -> ToolSpec:
    """The spec without its prose."""
    card = spec.card and {key: value if key in _INTERFACE else "" for key, value in spec.card.items()}
    return replace(spec, description="", parameters=_without_prose(spec.parameters), card=card)


def _without_prose(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON schema without the descriptions of its parameters."""
    left = {key: value for key, value in schema.items() if key not in ("description", "examples")}
    properties = {name: _without_prose(value) for name, value in schema.get("properties", {}).items()}
    return {**left, "properties": properties} if properties else left
