"""Tools whose documentation is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, ClassVar

from components.core.messages import ToolSpec
from components.core.tools import Offer
from components.core.types import Sample
from components.faults.cards import recarded
from components.faults.striking import Share

_INTERFACE = ("Category", "Compulsory Input", "Optional Input", "Output")  # of a radiology card; the rest is prose


@dataclass(frozen=True)
class Undocumented:
    """The share ``rate`` of tools is offered without a word of prose for the whole of an episode.

    Left are the name, and the names and types of parameters; of a radiology card its category, inputs and outputs.
    Each call of such a tool is marked.
    """

    rate: Share = 0.3
    tools: Sequence[str] = ()
    kind: ClassVar[str] = "undocumented"

    def offer(self, offer: Offer, sample: Sample, rng: Random) -> Offer:
        """Take the documentation away. Raises ConfigError when there is no such tool."""
        return recarded(self, offer, rng, lambda spec, _: bare(spec))


def bare(spec: ToolSpec) -> ToolSpec:
    """The spec without its prose."""
    card = spec.card and {key: value if key in _INTERFACE else "" for key, value in spec.card.items()}
    return replace(spec, description="", parameters=_wordless(spec.parameters), card=card)


def _wordless(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON schema without the descriptions of its parameters."""
    told = {key: value for key, value in schema.items() if key not in ("description", "examples")}
    properties = {name: _wordless(value) for name, value in schema.get("properties", {}).items()}
    return {**told, "properties": properties} if properties else told
