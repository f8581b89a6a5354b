"""Who the patients of a dataset are: sex and age, by each stratum that is a property of the patient, as the anatomy is.

Source: Zheng et al. 2024, arXiv 2412.09529, Figure 2a-b, which has both by anatomy.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from runner.results.page.parts import Cell, Column, Sheet
from runner.results.statistics.pairing import cluster_of

SEX, AGE = "sex", "age, years"  # facts of ``Sample.card``
Record = Mapping[str, Any]


def sheets_of(dataset: str, records: Sequence[Record]) -> list[Sheet]:
    """A table per stratum; none where the samples say neither sex nor age."""
    patients: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        if not {SEX, AGE}.isdisjoint(record.get("card") or {}):
            patients[cluster_of(record)].append(record)
    names = dict.fromkeys(name for of in patients.values() for record in of for name in record["strata"])
    found = (_values(patients, name) for name in names)
    return [
        _sheet(dataset, name, patients, of) for name, of in zip(names, found, strict=True) if len({*of.values()}) > 1
    ]


def _values(patients: Mapping[str, Sequence[Record]], stratum: str) -> dict[str, str]:
    """Patient -> value of a stratum; empty where some patient has several."""
    values = {name: {record["strata"].get(stratum) for record in of} for name, of in patients.items()}
    if any(len(of) > 1 for of in values.values()):
        return {}
    return {name: str(value) for name, of in values.items() for value in of if value is not None}


def _sheet(dataset: str, stratum: str, patients: Mapping[str, Sequence[Record]], value_of: Mapping[str, str]) -> Sheet:
    """A row per value, in the order of the dataset: patients, those of each sex, median and range of the age."""
    cards = {name: patients[name][0].get("card") or {} for name in value_of}
    sexes = sorted({str(card[SEX]) for card in cards.values() if SEX in card})
    columns = [Column(stratum), Column("patients", "n"), *(Column(sex, "n") for sex in sexes)]
    columns += [Column(f"age, {what}", "years") for what in ("median", "lowest", "highest")]
    rows: list[list[Cell]] = []
    for value in dict.fromkeys(value_of.values()):
        of = [cards[name] for name in value_of if value_of[name] == value]
        ages = [card[AGE] for card in of if isinstance(card.get(AGE), int | float)]
        counts = [sum(card.get(SEX) == sex for card in of) for sex in sexes]
        rows.append([value, len(of), *counts, *([median(ages), min(ages), max(ages)] if ages else [None] * 3)])
    return Sheet(f"{dataset}: patients by {stratum}", columns, rows)
