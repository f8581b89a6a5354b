"""Some of a toolset's tools are missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

from components.errors import ConfigError
from components.types import Offer, Sample


@dataclass(frozen=True)
class Withhold:
    """The offer without the tools of these names; for any toolset.

    A toolset that does not offer all of its tools to every sample names all in the fact ``toolset``.
    """

    names: str | Sequence[str] = ()

    def offer(self, offer: Offer, sample: Sample, rng: Random) -> Offer:
        """Leave tools out. Raises ConfigError when one of them is not offered, or none is named."""
        names = [self.names] if isinstance(self.names, str) else list(self.names)
        known = offer.facts.get("toolset", list(offer.tools))
        if not names or (unknown := [name for name in names if name not in known]):
            raise ConfigError(f"cannot withhold {unknown if names else names}: the toolset has {list(known)}")
        tools = {name: tool for name, tool in offer.tools.items() if name not in names}
        facts = {**offer.facts, "condition": "withhold", "kind": "withhold", "withheld": names}
        return replace(offer, tools=tools, facts=facts)
