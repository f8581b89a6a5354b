"""A RadABench sample as toolset and conditions read it, and the six vocabularies of its restriction lists.

Source: Zheng et al. 2024, arXiv 2412.09529. Departures: vocabularies are built from all records of the file at hand,
and topped up from our own terms, so that a small file has lists too; besides the reference's exclusion of the record's
own value (exact string) there is one that also drops other spellings, wider and narrower terms.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from components.core.errors import ConfigError
from components.core.types import Sample
from components.radiology.tasks import TASKS, Task

ENOUGH = 20
# Entity of a restriction (its name in conditions): list of the term file, group and key in a record.
ENTITIES: Mapping[str, tuple[str, str | None, str]] = {
    "Organ": ("organ_list", "OrganBiomarker", "OrganObject"),
    "Anomaly": ("anomaly_list", "AnomalyBiomarker", "AnomalyObject"),
    "Disease": ("disease_list", None, "Disease"),
    "OrganBiomarker": ("organ_dim_list", "OrganBiomarker", "OrganDim"),
    "AnomalyBiomarker": ("anomaly_dim_list", "AnomalyBiomarker", "AnomalyDim"),
    "Indicator": ("indicator_list", "Indicator", "Name"),
}
LISTS = tuple(name for name, _, _ in ENTITIES.values())
_NESTED: Mapping[str, tuple[str, str]] = {
    "OrganObject": ("OrganBiomarker", "OrganObject"),
    "OrganDim": ("OrganBiomarker", "OrganDim"),
    "OrganQuant": ("OrganBiomarker", "OrganQuant"),
    "AnomalyObject": ("AnomalyBiomarker", "AnomalyObject"),
    "AnomalyDim": ("AnomalyBiomarker", "AnomalyDim"),
    "AnomalyQuant": ("AnomalyBiomarker", "AnomalyQuant"),
    "IndicatorName": ("Indicator", "Name"),
    "IndicatorValue": ("Indicator", "Value"),
}


def entity_of(record: Mapping[str, Any], entity: str) -> str:
    """The record's own value of an entity: its organ, disease, indicator's name, ..."""
    _, group, key = ENTITIES[entity]
    return str((record if group is None else record[group])[key])


@dataclass(frozen=True)
class Vocabulary:
    """``lists``: the values of a file's records, ``terms``: what they are topped up from; both by list name."""

    lists: Mapping[str, Sequence[str]]
    terms: Mapping[str, Sequence[str]]

    @cached_property
    def _folded(self) -> Mapping[str, tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]]:
        """Per list: entries and top-up terms, each with its spelling for comparison."""
        return {name: (_fold(self.lists.get(name, ())), _fold(self.terms.get(name, ()))) for name in LISTS}

    def others(self, entity: str, own: str, exact: bool = False) -> list[str]:
        """The entries that do not stand for the record's ``own`` value; at least 20 where the terms allow.

        ``exact`` drops equal strings only; otherwise equal ones whatever the case, those that contain
        the value or are contained in it, and second spellings.
        """
        entries, terms = self._folded[ENTITIES[entity][0]]
        found = dict.fromkeys(_without(entries, own, exact))
        if len(found) < ENOUGH:
            for term in _without(terms, own, exact):
                if len(found) < ENOUGH:
                    found.setdefault(term)
        return list(found) if exact else _one_spelling(found)


NO_VOCABULARY = Vocabulary({}, {})


def build_vocabulary(records: Iterable[Mapping[str, Any]], terms: Mapping[str, Sequence[str]]) -> Vocabulary:
    """The distinct values of the six fields over all records, in file order."""
    found: dict[str, dict[str, None]] = {name: {} for name in LISTS}
    for record in records:
        for entity, (name, _, _) in ENTITIES.items():
            found[name][entity_of(record, entity)] = None
    return Vocabulary({name: tuple(values) for name, values in found.items()}, terms)


def _fold(entries: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Entries with their spelling for comparison."""
    return tuple((entry, entry.strip().casefold()) for entry in entries)


def _without(entries: Iterable[tuple[str, str]], own: str, exact: bool) -> list[str]:
    """The entries that are not the own value."""
    if exact:
        return [entry for entry, _ in entries if entry != own]
    low = own.strip().casefold()
    return [entry for entry, other in entries if other and (not low or (low not in other and other not in low))]


def _one_spelling(entries: Iterable[str]) -> list[str]:
    """The first spelling of each entry."""
    first: dict[str, str] = {}
    for entry in entries:
        first.setdefault(entry.strip().casefold(), entry)
    return list(first.values())


@dataclass(frozen=True)
class Study:
    """The patient record behind a sample, its task, and the vocabulary of its file."""

    record: Mapping[str, Any]
    task: Task
    vocabulary: Vocabulary

    @property
    def pair(self) -> tuple[str, str]:
        """Anatomy and modality of the record."""
        return self.record["Anatomy"], self.record["Modality"]

    def own(self, entity: str) -> str:
        """The record's value of an entity of ``ENTITIES``."""
        return entity_of(self.record, entity)


def study_of(sample: Sample) -> Study:
    """Read a sample. Raises ConfigError when it is not one of RadABench's."""
    data = sample.metadata
    try:
        return Study(data["record"], TASKS[data["chain"]], data["vocabulary"])
    except KeyError:
        raise ConfigError(
            f"sample {sample.problem.id!r} has no patient record to image: toolset=radiology and its conditions"
            " work with dataset=radabench_mini or dataset=radabench"
        ) from None


def placeholder(name: str) -> str:
    """What stands for a value that is not kept; ``name`` with dollar signs."""
    return f"PLACEHOLDER_{name}"


def recorded(record: Mapping[str, Any], name: str) -> Any:
    """The value a tool writes for a variable (with dollar signs); masks exist as placeholders only."""
    bare = name.strip("$")
    if bare in _NESTED:
        group, key = _NESTED[bare]
        return record[group][key]
    if bare == "Report":
        return f"Findings: {record['Report']['Finding']} Impression: {record['Report']['Impression']}"
    return placeholder(name) if bare.endswith("Mask") else record[bare]
