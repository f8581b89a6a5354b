"""Offer a whole toolset, a part of it, or the result of two conditions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

from components.acting.tool_names import known_names, resolve_names
from components.core.errors import ConfigError
from components.core.protocols import Condition
from components.core.tools import Offer
from components.core.types import Sample
from components.faults.wrapping import names_of_tool


@dataclass(frozen=True)
class Withhold:
    """The offer without some of its tools; for any toolset. ``tools``: names in whatever case, whatever a tool is
    renamed to, or categories where their cards have such. A task that could not be done before still cannot, so after
    an insufficient condition its refusals are scored."""

    tools: Sequence[str] = ()

    def offer(self, offer: Offer, sample: Sample, rng: Random) -> Offer:
        """Leave tools out. Raises ConfigError when there is no such tool, or none is named."""
        names = resolve_names(self.tools, known_names(offer.tools, offer), "condition withhold")
        if not names:
            raise ConfigError("condition withhold removes nothing: name tools, as in condition.tools=[Calculator]")
        left = {name: tool for name, tool in offer.tools.items() if not {name, *names_of_tool(tool)} & {*names}}
        of = {"condition": "withhold", "kind": "withhold"} if offer.facts.get("kind") != "insufficient" else {}
        return replace(offer, tools=left, facts={**offer.facts, **of, "withheld": names})


@dataclass(frozen=True)
class Both:
    """What ``first`` makes of an offer, and then ``then`` of that; either may be another pair. ``first`` samples what
    it samples alone, so that its tools are those of a run without ``then``."""

    first: Condition
    then: Condition

    def offer(self, offer: Offer, sample: Sample, rng: Random) -> Offer:
        """Apply both. Raises ConfigError as they do."""
        return self.then.offer(self.first.offer(offer, sample, rng), sample, rng)
