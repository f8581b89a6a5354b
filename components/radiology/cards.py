"""RadABench's tool cards: inputs, outputs and scores of each simulated tool, and its description for an agent.

Source: Zheng et al. 2024, arXiv 2412.09529; numbers as in the reference implementation
(MAGIC-AI4Med/RadABench, January 2025). Departure: the texts are our own and say outright that tools
bound to an anatomy and a modality do not take these two as inputs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypedDict

from components.core.cached import cached_property
from components.core.messages import ToolSpec
from components.radiology.switches import Switches
from components.radiology.tasks import AD, BQ, DD, DI, IE, OS, RG, Pair, Step, var
from components.text.structured import read_yaml


class ToolRow(TypedDict):
    """A row of ``cards.yaml``, which explains the fields."""

    category: str
    variant: str | None
    inputs: list[str]
    optional: list[str]
    outputs: list[str]
    description: str
    bounds: list[float]


_ROWS: Sequence[ToolRow] = read_yaml(Path(__file__).with_name("cards.yaml"))
TOOLS: Mapping[Step, ToolRow] = {(row["category"], row["variant"]): row for row in _ROWS}
VARIANTS = ("Basic", "Text", "Mask", "Text and Mask")
BINDABLE = frozenset({OS, AD, DD, RG})
RESTRICTABLE = frozenset({OS, AD, DD, DI, BQ, IE})
_INPUT = {"type": "array", "items": {"type": "string"}}
_PARAMETERS: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "purpose": {"type": "string", "description": "what this call is for, in one sentence"},
        "input": {**_INPUT, "description": 'names of the memory variables handed over, such as "$Image$"'},
    },
    "required": ["purpose", "input"],
}


@dataclass(frozen=True)
class Card:
    """One simulated tool. Variables are written with dollar signs; scores are in [0, 1]. ``anatomy`` and ``modality``
    are None for unbound tools, ``supported`` is None for unrestricted ones."""

    category: str
    variant: str | None
    anatomy: str | None
    modality: str | None
    supported: tuple[str, ...] | None
    compulsory: tuple[str, ...]
    optional: tuple[str, ...]
    outputs: tuple[str, ...]
    lower: float
    upper: float
    step: float

    def __hash__(self) -> int:
        return hash((self.category, self.variant, self.anatomy, self.lower, self.upper))  # differs for nearly all

    @cached_property
    def facts(self) -> dict[str, Any]:
        """The card for scorers, JSON-able; never shown to an agent."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

    @cached_property
    def label(self) -> str:
        """The Property of the card: category and what it is bound to; for reports the extra inputs."""
        place = "universal" if self.anatomy is None else f"{self.anatomy}, {self.modality}"
        if self.category == RG:
            kind = "image only" if self.variant == "Basic" else f"takes {str(self.variant).lower()}"
            return f"{self.category} ({place}; {kind})"
        return f"{self.variant or ''} {self.category} ({place})".lstrip()

    @cached_property
    def ability(self) -> str:
        """The Ability of the card in words; a restricted tool's ends with its list."""
        text = TOOLS[self.category, self.variant]["description"]
        if self.anatomy is not None:
            text += (
                f" Works on {self.modality} images of {self.anatomy} only, once memory holds these two as $Modality$"
                " and $Anatomy$; it does not take $Anatomy$ or $Modality$ as inputs."
            )
        elif self.category in BINDABLE:
            text += " Works on images of every anatomy and modality, which it takes as inputs."
        if self.supported:
            text += f" Supported list: [{'; '.join(self.supported)}]"
        return text

    @cached_property
    def performance(self) -> str:
        """The Performance of the card in words."""
        bounds = f"Score from lower bound {self.lower:g} to upper bound {self.upper:g}"
        if not self.optional:
            return f"{bounds}, times the lowest score of its inputs; it takes no optional inputs."
        scored = "the lower bound times the lowest score of its compulsory inputs"
        return f"{bounds}: {scored}, and each optional input raises it by up to {self.step:g}."

    @cached_property
    def shown(self) -> dict[str, Any]:
        """The fields an agent sees, without the name."""
        return {
            "Category": self.category,
            "Ability": self.ability,
            "Property": self.label,
            "Compulsory Input": self.compulsory,
            "Optional Input": self.optional,
            "Output": self.outputs,
            "Performance": self.performance,
        }

    @cached_property
    def description(self) -> str:
        """The same for native tool calls, in one text."""
        optional = f" Optional inputs: {', '.join(self.optional)}." if self.optional else ""
        return (
            f"{self.label}. {self.ability} Compulsory inputs: {', '.join(self.compulsory)}.{optional}"
            f" Outputs: {', '.join(self.outputs)}. {self.performance}"
        )


def bounds(lower: float, upper: float, n_listed: int) -> tuple[float, float]:
    """The bounds of a tool restricted to so many entries; with fewer entries it is closer to 0.95."""
    gap = 0.95 - upper
    if n_listed == 1:
        return round(lower + gap, 6), 0.95
    boost = gap * max(0, (11 - n_listed) / 10) if n_listed else 0.0
    return round(lower + boost, 6), round(upper + boost, 6)


def card(
    category: str,
    variant: str | None = None,
    pair: Pair | None = None,
    supported: Sequence[str] | None = None,
    *,
    switches: Switches,
) -> Card:
    """The card of a tool: ``variant`` Organ/Anomaly for quantifiers and evaluators or a report variant, ``pair``
    (anatomy, modality) where it is bound, ``supported`` where it is restricted to a list. Raises ValueError for a tool
    that the benchmark does not have."""
    row = TOOLS.get((category, variant))
    if row is None or (pair and category not in BINDABLE) or (supported and category not in RESTRICTABLE):
        raise ValueError(f"there is no {category} with variant {variant!r}, pair {pair}, list {supported}")
    optional = [name for name in row["optional"] if switches.indicator_value_optional or name != "IndicatorValue"]
    inputs, (lower, upper, bound_lower, bound_upper, step) = row["inputs"], row["bounds"]
    if pair:
        inputs, lower, upper = ["Image"], bound_lower, bound_upper
    if supported:
        lower, upper = bounds(lower, upper, len(supported))
    anatomy, modality = pair or (None, None)
    compulsory, extra, outputs = (tuple(map(var, names)) for names in (inputs, optional, row["outputs"]))
    listed = tuple(supported) if supported else None
    return Card(category, variant, anatomy, modality, listed, compulsory, extra, outputs, lower, upper, step)


def spec(card: Card, name: str) -> ToolSpec:
    """The tool as it is described to a model under this name."""
    return ToolSpec(name, card.description, _PARAMETERS, card.shown, card.facts)
