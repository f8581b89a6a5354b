"""The six vocabularies from which RadABench's restriction lists are drawn.

Source: Zheng et al. 2024, arXiv 2412.09529. Departures: built from all records of the file at hand, and
topped up from our own terms, so that a small file has lists too; beside the reference's exclusion of the
record's own value (exact string) there is one that also drops other spellings, wider and narrower terms.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

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


def build_vocabulary(records: Iterable[Mapping[str, Any]], terms: Mapping[str, Sequence[str]]) -> Vocabulary:
    """The distinct values of the six fields over all records, in file order."""
    found: dict[str, dict[str, None]] = {name: {} for name in LISTS}
    for record in records:
        for entity, (name, _, _) in ENTITIES.items():
            found[name][entity_of(record, entity)] = None
    return Vocabulary({name: tuple(values) for name, values in found.items()}, terms)


def _fold(entries: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Entries beside their spelling for comparison."""
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
