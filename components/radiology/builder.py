"""The builder on RadABench's side of the offer: it knows what was taken away, and gives it on the right request.

Source: Zheng et al. 2024, arXiv 2412.09529: a request in natural language names the tool's category, modality, anatomy,
labels and range, and one that says enough is assumed to succeed. How that is checked is not said; the rule
(``autotb_match: oracle``) is ours: the missing category, next to it the patient's anatomy and modality where tools for
others are offered, or the entity that the offered tools' lists lack. The built tool is the unbound, unrestricted one.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from components.core.errors import ToolError
from components.core.messages import ToolSpec
from components.core.tools import Context, Effect
from components.core.types import Observation
from components.radiology.cards import VARIANTS, Card, card, spec
from components.radiology.sets import REMOVED
from components.radiology.study import Study
from components.radiology.switches import Switches
from components.radiology.tasks import ANATOMIES, BQ, CATEGORIES, IE, MODALITIES, PLANNING_NAMES, RG
from components.radiology.tool import RadiologyTool

_SPEC = ToolSpec("build", "Ask for a tool that is missing.")
_TYPES = ("Organ", "Anomaly")
_TYPED = (BQ, IE)
_CATEGORY_OF = {
    **{name.lower(): category for name, (category, _) in PLANNING_NAMES.items()},
    "biomarker quantification tool": BQ,
    **{category.lower(): category for category in CATEGORIES},
}


def _any(names: Sequence[str]) -> re.Pattern[str]:
    """Any of the names as a word, in whatever case, the longest first."""
    ordered = sorted(names, key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, ordered))})s?(?!\w)", re.IGNORECASE)


_CATEGORY = _any(tuple(_CATEGORY_OF))
_ANATOMY, _MODALITY = _any(ANATOMIES), _any(MODALITIES)


@dataclass(frozen=True)
class Request:
    """What a request names: the category (None: none) and, where it says so, whether for the organ or the anomaly."""

    category: str | None
    kind: str | None
    anatomy: str
    modality: str
    text: str

    def names(self, entity: str) -> bool:
        """Whether an entity stands in the text, in whatever case."""
        return bool(_any([entity.strip()]).search(self.text))


def read_request(text: str) -> Request:
    """Read a request. A line that begins with a point's name, as in ``Anatomy: Chest``, states it; else the whole text
    does, by what it names first."""
    named = _CATEGORY.search(line := _line(text, "Category"))
    category = _category(named[0]) if named else None
    before = line[: named.end()] if named else ""
    kinds = [kind for kind in _TYPES if category in _TYPED and re.search(rf"\b{kind}\b", before, re.IGNORECASE)]
    anatomy, modality = _ANATOMY.search(_line(text, "Anatomy")), _MODALITY.search(_line(text, "Modality"))
    return Request(
        category,
        kinds[0] if len(kinds) == 1 else None,
        anatomy[0].lower() if anatomy else "",
        modality[0].lower() if modality else "",
        text,
    )


def _category(name: str) -> str:
    """The category of a name as it was found, with or without the plural's s."""
    plain = name.lower()
    return _CATEGORY_OF.get(plain) or _CATEGORY_OF[plain.removesuffix("s")]


def _line(text: str, point: str) -> str:
    """What the text says on a point, or all of it."""
    before = r"^[^\w\n]*+(?:\d+[.)][^\w\n]*+)?(?:tool )?"  # a bullet or a number
    found = re.search(rf"{before}{point}[^\w\n:]*+:(.*)$", text, re.IGNORECASE | re.MULTILINE)
    return found[1] if found else text


@dataclass(frozen=True)
class Builder:
    """A control of insufficient offers; ``missing`` are the categories of which one tool each can be had, in the order
    of their names from ``TOOL<first>``. ``kind``: the type that is missing, None for both. ``place`` and ``entity`` are
    what a request must name besides the category; None: it need not.
    """

    missing: Sequence[str]
    kind: str | None
    place: tuple[str, str] | None
    entity: str | None
    first: int
    switches: Switches
    spec: ToolSpec = _SPEC
    effect: Effect = "episode"

    async def __call__(self, context: Context, request: str = "", **_: Any) -> Observation:
        """Build the tool that a request asks for. ``data.build``: ``mode``, ``specified`` (the request was right),
        ``passed`` (a tool was added), ``reason``, ``name`` and ``card``."""
        asked = read_request(request)
        lacks = [*self._lacks(asked)]
        facts = {"mode": "simulated", "specified": not lacks, "passed": False, "reason": "; ".join(lacks), "name": ""}
        if lacks or asked.category is None:
            return Observation("", {"build": facts})
        name = f"TOOL{self.first + self.missing.index(asked.category)}"
        one = self._card(asked)
        built = spec(one, name)
        try:
            context.add(RadiologyTool(_marked(built), one, self.switches))
        except ToolError:  # one per category
            return Observation("", {"build": {**facts, "reason": f"there is a built {asked.category} already"}})
        return Observation(built.card_text, {"build": {**facts, "passed": True, "name": name, "card": built.card_text}})

    def _lacks(self, asked: Request) -> Iterator[str]:
        """What a request does not say, or says wrongly."""
        if asked.category not in self.missing:
            yield f"asks for {asked.category or 'no category'}, missing is {' or '.join(self.missing)}"
        elif self.kind is not None and asked.kind not in (None, self.kind):
            yield f"asks for {asked.kind}, missing is the one for {self.kind}"
        if self.place is not None and (asked.anatomy, asked.modality) != tuple(one.lower() for one in self.place):
            yield f"does not ask for {' '.join(self.place)}"
        if self.entity is not None and not asked.names(self.entity):
            yield f"does not name {self.entity}"

    def _card(self, asked: Request) -> Card:
        """The unbound, unrestricted tool of the category."""
        category = asked.category or ""
        variant = (self.kind or asked.kind or _TYPES[0]) if category in _TYPED else None
        return card(category, VARIANTS[-1] if category == RG else variant, switches=self.switches)


def _marked(built: ToolSpec) -> ToolSpec:
    """The tool, marked as built for scorers and readers."""
    return ToolSpec(built.name, built.description, built.parameters, built.card, {**built.facts, "built": True})


def builder(study: Study, facts: Mapping[str, Any], n_tools: int, switches: Switches) -> Builder:
    """The builder of an insufficient offer with so many tools, from the facts of what was taken away."""
    argument, ability = facts["argument"], facts["ability"]
    restricted = ability == "InsufficientCapability"
    kind = REMOVED[argument][1] if argument in REMOVED else argument.removesuffix("Biomarker")
    return Builder(
        tuple(facts["accepted"]),
        kind if kind in _TYPES and BQ in facts["accepted"] else None,
        study.pair if ability == "SpecificToolMissing" else None,
        study.own(argument) if restricted else None,
        n_tools + 1,
        switches,
    )
