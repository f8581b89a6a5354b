"""RadABench's categories, pairs, variables and the eleven tasks with their ground-truth chains (``tasks.yaml``).

Source: Zheng et al. 2024, arXiv 2412.09529; chains as in the reference implementation
(MAGIC-AI4Med/RadABench, January 2025), which agree with the article's question-generation list.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from components.core.cached import cached_property
from components.text.structured import read_yaml

TABLES: Mapping[str, Any] = read_yaml(Path(__file__).with_name("tasks.yaml"))
AC, MC, OS, AD, DD, DI, BQ, IE, RG, TR = CATEGORIES = tuple(TABLES["categories"])
Step = tuple[str, str | None]  # category, and Organ or Anomaly where the type is fixed
Pair = tuple[str, str]  # anatomy and modality

PLANNING_NAMES: Mapping[str, Step] = {name: (step[0], step[1]) for name, step in TABLES["planning_names"].items()}
VARIABLES: Sequence[str] = tuple(TABLES["variables"])
RECORD_KEYS: Mapping[str, Sequence[str] | None] = TABLES["record"]  # None: the value is a text, else the keys in it
ANATOMIES = tuple(TABLES["modalities"])
MODALITIES = ("X-ray", "CT", "MRI", "Ultrasound", "Mammography")
PAIRS: Sequence[Pair] = tuple((anatomy, one) for anatomy, found in TABLES["modalities"].items() for one in found)

# Refusal: the five fields and their allowed values (empty = free text).
ABILITIES = ("CategoryMissing", "SpecificToolMissing", "InsufficientCapability")
REFUSAL_FIELDS: Mapping[str, Sequence[str]] = {
    "purpose": (),
    "category": CATEGORIES,
    "anatomy": ("Universal", *ANATOMIES),
    "modality": ("Universal", *MODALITIES),
    "ability": ABILITIES,
}


def var(name: str) -> str:
    """The variable as written in memory and in cards."""
    return f"${name}$"


@dataclass(frozen=True)
class Task:
    """One of the eleven tasks; ``tasks.yaml`` explains the fields."""

    id: str
    letter: str
    name: str
    milestone: str
    milestone_code: str
    removed: str
    replaced: str
    restricted: str
    best_code: Sequence[int]

    @cached_property
    def chain(self) -> Sequence[Step]:
        """Category and type per step; quantification is one step per type unless the task has only one of them."""
        types = {"0126": ("Organ",), "0136": ("Anomaly",)}.get(self.id, ("Organ", "Anomaly"))
        categories = [CATEGORIES[int(digit)] for digit in self.id]
        return tuple((one, kind) for one in categories for kind in (types if one == BQ else (None,)))

    @property
    def complexity(self) -> str:
        """Simple below 4 steps, moderate 4 or 5, complex from 6, counted by chain id."""
        return "simple" if len(self.id) < 4 else "moderate" if len(self.id) < 6 else "complex"

    @property
    def categories(self) -> tuple[str, ...]:
        """The chain without types."""
        return tuple(category for category, _ in self.chain)

    @cached_property
    def steps(self) -> str:
        """The chain with types, in words."""
        return " -> ".join(f"{kind or ''} {category}".strip() for category, kind in self.chain)


TASKS: Mapping[str, Task] = {digits: Task(digits, **fields) for digits, fields in TABLES["tasks"].items()}


_KEYS = {"IndicatorName": "Name", "IndicatorValue": "Value"}


def lookup(record: Mapping[str, Any], variable: str) -> Any:
    """Find a variable (without dollar signs) in a record, depth first from the top; None when absent."""
    key = _KEYS.get(variable, variable)
    if key in record:
        return record[key]
    for value in record.values():
        if isinstance(value, dict):
            found = value[key] if key in value else lookup(value, key)
            if found is not None:
                return found
    return None


def supported_entity(record: Mapping[str, Any], category: str, kind: str | None) -> str | None:
    """What a tool that is restricted to a list has to support on a record; None for tools without lists."""
    names = {OS: "OrganObject", AD: "AnomalyObject", DD: "Disease", DI: "Disease", IE: "IndicatorName"}
    name = f"{kind}Dim" if category == BQ else names.get(category)
    value = lookup(record, name) if name else None
    return None if value is None else str(value)


def supports(listed: Iterable[str] | None, record: Mapping[str, Any], category: str, kind: str | None) -> bool:
    """Whether a tool's list, where it has one, holds what the record is about, ignoring case."""
    entity = "" if listed is None else (supported_entity(record, category, kind) or "").strip().casefold()
    return listed is None or entity in (one.strip().casefold() for one in listed)
