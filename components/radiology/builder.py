"""The builder on RadABench's side of the offer: it knows the removed tools, and provides one on the right request.

Source: Zheng et al. 2024, arXiv 2412.09529: a request in natural language names the tool's category, modality, anatomy,
labels and range, and one that is specific enough is assumed to succeed. The check is not published; the rule
(``autotb_match: oracle``) is ours: the missing category, and the patient's anatomy and modality where tools for others
are offered, or the entity that the offered tools' lists lack. The built tool is the unbound, unrestricted one.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from components.core.errors import ToolError
from components.core.messages import ToolSpec
from components.core.tools import Context, Effect
from components.core.types import Observation
from components.radiology.cards import VARIANTS, card, spec
from components.radiology.sets import REMOVED
from components.radiology.study import Study
from components.radiology.switches import Switches
from components.radiology.tasks import ANATOMIES, BQ, CATEGORIES, IE, MODALITIES, PLANNING_NAMES, RG
from components.radiology.toolset import RadiologyTool

_SPEC = ToolSpec("build", "Ask for a tool that is missing.")
_TYPES = ("Organ", "Anomaly")
_TYPED = (BQ, IE)
_CATEGORY_OF = {
    **{name.lower(): category for name, (category, _) in PLANNING_NAMES.items()},
    "biomarker quantification tool": BQ,
    **{category.lower(): category for category in CATEGORIES},
}


def _any(names: Sequence[str]) -> re.Pattern[str]:
    """Any of the names as a word, ignoring case, the longest first."""
    ordered = sorted(names, key=len, reverse=True)
    return re.compile(rf"(?<!\w)({'|'.join(map(re.escape, ordered))})s?(?!\w)", re.IGNORECASE)


_CATEGORY = _any(tuple(_CATEGORY_OF))
_ANATOMY, _MODALITY = _any(ANATOMIES), _any(MODALITIES)


class Request(NamedTuple):
    """The category that a request names (None: none), and the type: organ or anomaly (None: open)."""

    category: str | None
    kind: str | None
    anatomy: str
    modality: str
    text: str


def read_request(text: str) -> Request:
    """Read a request: lines that begin with a point's name, as in ``Anatomy: Chest``, else the first names in it."""
    named = _CATEGORY.search(line := _line(text, "Category"))
    category = _CATEGORY_OF[named[1].lower()] if named else None
    before = line[: named.end()] if named else ""
    kinds = [kind for kind in _TYPES if category in _TYPED and re.search(rf"\b{kind}\b", before, re.IGNORECASE)]
    anatomy, modality = _ANATOMY.search(_line(text, "Anatomy")), _MODALITY.search(_line(text, "Modality"))
    place, image = (found[0].lower() if found else "" for found in (anatomy, modality))
    return Request(category, kinds[0] if len(kinds) == 1 else None, place, image, text)


def _line(text: str, point: str) -> str:
    """What the text says on a point, or all of it."""
    before = r"^[^\w\n]*+(?:\d+[.)][^\w\n]*+)?(?:tool )?"  # a bullet or a number
    found = re.search(rf"{before}{point}[^\w\n:]*+:(.*)$", text, re.IGNORECASE | re.MULTILINE)
    return found[1] if found else text


@dataclass(frozen=True)
class Builder:
    """A control of insufficient offers; ``missing`` are the categories of which one tool each can be built, in the
    order of their names from ``TOOL<first>``. ``kind``: the missing type, None for both. A request must also name
    ``place`` and ``entity`` where they are not None."""

    missing: Sequence[str]
    kind: str | None
    place: tuple[str, str] | None
    entity: str | None
    first: int
    switches: Switches
    spec: ToolSpec = _SPEC
    effect: Effect = "episode"

    async def __call__(self, context: Context, /, request: str = "", **_: Any) -> Observation:
        """Build the tool that a request asks for. ``data.build``: ``mode``, ``specified`` (the request was right),
        ``passed`` (a tool was added), ``reason``, ``name`` and ``card``."""
        asked = read_request(request)
        lacks = [*self._lacks(asked)]
        facts = {"mode": "simulated", "specified": not lacks, "passed": False, "reason": "; ".join(lacks), "name": ""}
        if lacks or asked.category is None:
            return Observation("", {"build": facts})
        name = f"TOOL{self.first + self.missing.index(asked.category)}"
        kind = self.kind or asked.kind or _TYPES[0]
        variant = VARIANTS[-1] if asked.category == RG else kind if asked.category in _TYPED else None
        one = card(asked.category, variant, switches=self.switches)
        built = spec(one, name)
        try:
            marked = replace(built, facts={**built.facts, "built": True})  # for scorers and readers
            context.add(RadiologyTool(marked, one, self.switches))
        except ToolError:  # one per category
            return Observation("", {"build": {**facts, "reason": f"there is a built {asked.category} already"}})
        return Observation(built.card_text, {"build": {**facts, "passed": True, "name": name, "card": built.card_text}})

    def _lacks(self, asked: Request) -> Iterator[str]:
        if asked.category not in self.missing:
            yield f"asks for {asked.category or 'no category'}, missing is {' or '.join(self.missing)}"
        elif self.kind is not None and asked.kind not in (None, self.kind):
            yield f"asks for {asked.kind}, missing is the one for {self.kind}"
        if self.place is not None and (asked.anatomy, asked.modality) != tuple(one.lower() for one in self.place):
            yield f"does not ask for {' '.join(self.place)}"
        if self.entity is not None and not _any([self.entity.strip()]).search(asked.text):
            yield f"does not name {self.entity}"


def builder(study: Study, facts: Mapping[str, Any], n_tools: int, switches: Switches) -> Builder:
    """The builder of an insufficient offer with so many tools, from the facts of what was removed."""
    argument, ability = facts["argument"], facts["ability"]
    kind = REMOVED[argument][1] if argument in REMOVED else argument.removesuffix("Biomarker")
    return Builder(
        tuple(facts["accepted"]),
        kind if kind in _TYPES and BQ in facts["accepted"] else None,
        study.pair if ability == "SpecificToolMissing" else None,
        study.own(argument) if ability == "InsufficientCapability" else None,
        n_tools + 1,
        switches,
    )
