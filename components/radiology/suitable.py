"""Which of the offered tools can do a step of a task on a patient, and how they rank.

Source: Zheng et al. 2024, arXiv 2412.09529, who leave the criterion open. Ours: suitable is a tool of
the category (and type) that is unbound or bound to the record's pair and unrestricted or listing what
the record is about; the higher upper bound is better.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from components.core.messages import ToolSpec
from components.radiology.tasks import AD, BQ, DD, DI, IE, OS, lookup

_ENTITY: Mapping[str, str] = {
    OS: "OrganObject",
    AD: "AnomalyObject",
    DD: "Disease",
    DI: "Disease",
    IE: "IndicatorName",
}


class Suitable:
    """The suitable tools among those offered for a patient, looked for once per step."""

    def __init__(self, offered: Iterable[ToolSpec], record: Mapping[str, Any]) -> None:
        self._record = record
        self._found: dict[tuple[str, str | None], list[ToolSpec]] = {}
        self._by_category: dict[str, list[ToolSpec]] = {}
        for spec in offered:
            self._by_category.setdefault(spec.facts.get("category", ""), []).append(spec)

    def tools(self, category: str, variant: str | None = None) -> Sequence[ToolSpec]:
        """The suitable tools for a step in the order of the offer; ``variant`` None leaves the type open."""
        key = (category, variant)
        if (found := self._found.get(key)) is None:
            found = self._found[key] = [
                spec
                for spec in self._by_category.get(category, ())
                if (variant is None or spec.facts["variant"] == variant) and is_suitable(spec.facts, self._record)
            ]
        return found

    def best(self, category: str, variant: str | None = None) -> ToolSpec | None:
        """The one with the highest upper bound, of equals the last; None when there is none."""
        tools = self.tools(category, variant)
        return tools[0] if len(tools) == 1 else max(reversed(tools), key=_upper, default=None)


def _upper(spec: ToolSpec) -> float:
    """What tools are ranked by."""
    return float(spec.facts["upper"])


def is_suitable(facts: Mapping[str, Any], record: Mapping[str, Any]) -> bool:
    """Whether the tool of these facts works on this patient's record."""
    if facts["anatomy"] not in (None, record["Anatomy"]) or facts["modality"] not in (None, record["Modality"]):
        return False
    if not facts["supported"]:
        return True
    category = facts["category"]
    name = f"{facts['variant']}Dim" if category == BQ else _ENTITY[category]
    entity = str(lookup(record, name)).strip().casefold()
    return entity in (entry.strip().casefold() for entry in facts["supported"])
