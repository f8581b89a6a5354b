"""RadABench's tool cards: what each simulated tool takes, gives and scores, and how it is described to an agent.

Source: Zheng et al. 2024, arXiv 2412.09529; numbers as in the reference implementation
(MAGIC-AI4Med/RadABench, January 2025). Departure: the texts are our own and say outright that tools
bound to an anatomy and a modality do not take these two as inputs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from components.core.messages import ToolSpec
from components.radiology.switches import Switches
from components.radiology.tasks import AC, AD, BQ, DD, DI, IE, MC, OS, RG, TR, var

_PLACE = "Anatomy Modality"
_TEXT = "Information OrganObject AnomalyObject Disease OrganDim OrganQuant AnomalyDim AnomalyQuant IndicatorName"
_TREAT = "Disease OrganDim OrganQuant AnomalyDim AnomalyQuant IndicatorName"
_MASKS = "OrganMask OrganObject AnomalyMask AnomalyObject"
# (category, variant): compulsory inputs where it is not bound (bound: the image alone), outputs, what it does.
TOOLS: Mapping[tuple[str, str | None], tuple[str, str, str]] = {
    (AC, None): ("Image", "Anatomy", "Names the region of the body that the image shows."),
    (MC, None): ("Image", "Modality", "Names the imaging modality of the image."),
    (OS, None): (f"Image {_PLACE}", "OrganMask OrganObject", "Outlines the organ on the image and names it."),
    (AD, None): (
        f"Image {_PLACE}",
        "AnomalyMask AnomalyObject",
        "Locates the abnormality on the image and says what kind it is.",
    ),
    (DD, None): (f"Image {_PLACE}", "Disease", "Names the disease directly from the image."),
    (DI, None): (
        f"Image Information {_MASKS}",
        "Disease",
        "Infers the disease from the patient's information, the outlined organ and the located abnormality.",
    ),
    (BQ, "Organ"): (
        "Image OrganObject OrganMask",
        "OrganDim OrganQuant",
        "Measures one dimension of the outlined organ.",
    ),
    (BQ, "Anomaly"): (
        "Image AnomalyObject AnomalyMask",
        "AnomalyDim AnomalyQuant",
        "Measures one dimension of the located abnormality.",
    ),
    (IE, "Organ"): (
        "Image Information IndicatorName OrganObject OrganDim OrganQuant",
        "IndicatorValue",
        "Evaluates the named clinical indicator from the patient's information and the organ's measurement.",
    ),
    (IE, "Anomaly"): (
        "Image Information IndicatorName AnomalyObject AnomalyDim AnomalyQuant",
        "IndicatorValue",
        "Evaluates the named clinical indicator from the patient's information and the abnormality's measurement.",
    ),
    (RG, "Basic"): (f"Image {_PLACE}", "Report", "Writes the report of the study from the image alone."),
    (RG, "Text"): (
        f"Image {_PLACE}",
        "Report",
        "Writes the report of the study from the image and any earlier results in words that it is given.",
    ),
    (RG, "Mask"): (
        f"Image {_PLACE}",
        "Report",
        "Writes the report of the study from the image and any masks of organ and abnormality that it is given.",
    ),
    (RG, "Text and Mask"): (
        f"Image {_PLACE}",
        "Report",
        "Writes the report of the study from the image and any earlier results, in words or as masks, it is given.",
    ),
    (TR, None): (
        "Information Report",
        "Treatment",
        "Recommends a treatment from the patient's information and the report; other results help.",
    ),
}
# (category, variant): optional inputs; ValueName stands where the reference meant IndicatorValue.
OPTIONAL: Mapping[tuple[str, str | None], str] = {
    (BQ, "Organ"): "OrganDim",
    (BQ, "Anomaly"): "AnomalyDim",
    (RG, "Text"): f"{_TEXT} ValueName",
    (RG, "Mask"): _MASKS,
    (RG, "Text and Mask"): f"{_TEXT} ValueName OrganMask AnomalyMask",
    (TR, None): f"{_TREAT} ValueName",
}
# (category, variant): lower and upper bound unbound, lower and upper bound bound, step.
BOUNDS: Mapping[tuple[str, str | None], tuple[float, float, float, float, float]] = {
    (AC, None): (0.95, 0.95, 0.95, 0.95, 0.0),
    (MC, None): (0.95, 0.95, 0.95, 0.95, 0.0),
    (OS, None): (0.80, 0.80, 0.85, 0.85, 0.0),
    (AD, None): (0.75, 0.75, 0.80, 0.80, 0.0),
    (DD, None): (0.70, 0.70, 0.75, 0.75, 0.0),
    (DI, None): (0.80, 0.80, 0.80, 0.80, 0.0),
    (BQ, "Organ"): (0.75, 0.80, 0.75, 0.80, 0.05),
    (BQ, "Anomaly"): (0.75, 0.80, 0.75, 0.80, 0.05),
    (IE, "Organ"): (0.80, 0.80, 0.80, 0.80, 0.0),
    (IE, "Anomaly"): (0.80, 0.80, 0.80, 0.80, 0.0),
    (RG, "Basic"): (0.35, 0.35, 0.40, 0.40, 0.0),
    (RG, "Text"): (0.35, 0.65, 0.40, 0.70, 0.03),
    (RG, "Mask"): (0.35, 0.71, 0.40, 0.76, 0.09),
    (RG, "Text and Mask"): (0.35, 0.83, 0.40, 0.88, 0.04),
    (TR, None): (0.80, 0.98, 0.80, 0.98, 0.02),
}


VARIANTS = ("Basic", "Text", "Mask", "Text and Mask")
BINDABLE = frozenset({OS, AD, DD, RG})
RESTRICTABLE = frozenset({OS, AD, DD, DI, BQ, IE})
_PARAMETERS: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "purpose": {"type": "string", "description": "what this call is for, in one sentence"},
        "input": {
            "type": "array",
            "items": {"type": "string"},
            "description": 'names of the memory variables handed over, such as "$Image$"',
        },
    },
    "required": ["purpose", "input"],
}


@dataclass(frozen=True)
class Card:
    """One simulated tool. Variables are written with dollar signs; scores are in [0, 1].

    ``anatomy`` and ``modality`` are None for unbound tools, ``supported`` is None for unrestricted ones.
    """

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

    @cached_property
    def facts(self) -> dict[str, Any]:
        """The card for scorers, JSON-able; never shown to an agent."""
        return {
            "category": self.category,
            "variant": self.variant,
            "anatomy": self.anatomy,
            "modality": self.modality,
            "supported": None if self.supported is None else list(self.supported),
            "compulsory": list(self.compulsory),
            "optional": list(self.optional),
            "outputs": list(self.outputs),
            "lower": self.lower,
            "upper": self.upper,
            "step": self.step,
        }

    @cached_property
    def label(self) -> str:
        """The Property of the card: category and what it is bound to; for reports the extra inputs."""
        place = "universal" if self.anatomy is None else f"{self.anatomy}, {self.modality}"
        if self.category == RG:
            kind = "image only" if self.variant == "Basic" else f"takes {str(self.variant).lower()}"
            return f"{self.category} ({place}; {kind})"
        return f"{self.variant + ' ' if self.variant else ''}{self.category} ({place})"

    @cached_property
    def ability(self) -> str:
        """The Ability of the card in words; a restricted tool's ends with its list."""
        text = TOOLS[self.category, self.variant][2]
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
        return (
            f"{bounds}: the lower bound times the lowest score of its compulsory inputs, and each optional input"
            f" raises it by up to {self.step:g}."
        )

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
    """The bounds of a tool restricted to so many entries; fewer entries bring it closer to 0.95."""
    gap = 0.95 - upper
    if n_listed == 1:
        return round(lower + gap, 6), 0.95
    boost = gap * max(0, (11 - n_listed) / 10) if n_listed else 0.0
    return round(lower + boost, 6), round(upper + boost, 6)


def card(
    category: str,
    variant: str | None = None,
    pair: tuple[str, str] | None = None,
    supported: Sequence[str] | None = None,
    *,
    switches: Switches,
) -> Card:
    """The card of a tool: ``variant`` Organ/Anomaly for quantifiers and evaluators or a report variant,
    ``pair`` (anatomy, modality) where it is bound, ``supported`` where it is restricted to a list.

    Raises ValueError for a tool that the benchmark does not have.
    """
    listed = tuple(supported) if supported else None
    return _card(category, variant, pair, listed, switches.indicator_value_optional)


@lru_cache(maxsize=8192)
def _card(
    category: str, variant: str | None, pair: tuple[str, str] | None, supported: tuple[str, ...] | None, value: bool
) -> Card:
    """Build a card; ``value`` makes $IndicatorValue$ an optional input of reports and treatment."""
    key = (category, variant)
    bindable, restrictable = category in BINDABLE, category in RESTRICTABLE
    if key not in TOOLS or (pair and not bindable) or (supported is not None and not restrictable):
        raise ValueError(f"there is no {category} with variant {variant!r}, pair {pair}, list {supported}")
    inputs, outputs, _ = TOOLS[key]
    optional = OPTIONAL.get(key, "").split()
    if value and "ValueName" in optional:
        optional.insert(optional.index("ValueName") + 1, "IndicatorValue")
    lower, upper, bound_lower, bound_upper, step = BOUNDS[key]
    if pair:
        inputs, lower, upper = "Image", bound_lower, bound_upper
    if supported:
        lower, upper = bounds(lower, upper, len(supported))
    anatomy, modality = pair or (None, None)
    compulsory = tuple(var(name) for name in inputs.split())
    written = tuple(var(name) for name in outputs.split())
    return Card(
        category, variant, anatomy, modality, supported, compulsory, tuple(var(name) for name in optional), written,
        lower, upper, step,
    )  # fmt: skip


@lru_cache(maxsize=4096)  # the redundant conditions have 28,000 pairs of card and name
def spec(card: Card, name: str) -> ToolSpec:
    """The tool as it is described to a model under this name."""
    return ToolSpec(name, card.description, _PARAMETERS, card.shown, card.facts)
