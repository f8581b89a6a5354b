"""Which of the offered tools can do a step of a task on a patient, and how they rank.

Source: Zheng et al. 2024, arXiv 2412.09529, who leave the criterion open. Ours: suitable is a tool of
the category (and type) that is unbound or bound to the record's pair and unrestricted or listing what
the record is about; the higher upper bound is better.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from components.messages import ToolSpec
from components.radiology.tasks import AD, BQ, DD, DI, IE, OS, lookup

_ENTITY: Mapping[str, str] = {
    OS: "OrganObject",
    AD: "AnomalyObject",
    DD: "Disease",
    DI: "Disease",
    IE: "IndicatorName",
}


@dataclass(frozen=True, eq=False)
class _Same:
    """Stands for an object by identity, so that lists of tools can be looked up in a cache."""

    value: Any

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.value is other.value


def by_category(offered: tuple[ToolSpec, ...]) -> Mapping[str, Sequence[ToolSpec]]:
    """The offered tools of every category, in their order."""
    return _by_category(_Same(offered))


@lru_cache(maxsize=16)
def _by_category(offered: _Same) -> dict[str, list[ToolSpec]]:
    """Sort the tools once per offer."""
    sorted_: dict[str, list[ToolSpec]] = {}
    for spec in offered.value:
        sorted_.setdefault(spec.facts.get("category", ""), []).append(spec)
    return sorted_


def is_suitable(facts: Mapping[str, Any], record: Mapping[str, Any]) -> bool:
    """Whether the tool of these facts works on this patient's record."""
    if facts["anatomy"] is not None and (facts["anatomy"], facts["modality"]) != (record["Anatomy"], record["Modality"]):
        return False
    if not facts["supported"]:
        return True
    category = facts["category"]
    name = f"{facts['variant']}Dim" if category == BQ else _ENTITY[category]
    entity = str(lookup(record, name)).strip().casefold()
    return entity in (entry.strip().casefold() for entry in facts["supported"])


def suitable(
    offered: tuple[ToolSpec, ...], category: str, variant: str | None, record: Mapping[str, Any]
) -> list[ToolSpec]:
    """The suitable tools for a step; ``variant`` None leaves the type open."""
    return [
        spec
        for spec in by_category(offered).get(category, ())
        if (variant is None or spec.facts["variant"] == variant) and is_suitable(spec.facts, record)
    ]


def best(tools: Sequence[ToolSpec]) -> ToolSpec | None:
    """The tool with the highest upper bound, of equals the last; None when there is none."""
    return max(reversed(tools), key=lambda spec: spec.facts["upper"], default=None)
