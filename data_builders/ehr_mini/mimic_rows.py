"""The rows of the MIMIC-III-style database."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from data_builders.ehr_mini.course import (
    Person,
    Span,
    Tables,
    common,
    maybe,
    measured,
    part_of,
    person,
    price,
    several,
    volume,
    within,
    written,
)
from data_builders.ehr_mini.schema import table_of

_ICU_RATE = 0.7
_WARDS = {"micu": 23, "sicu": 33, "ccu": 7, "csru": 14, "tsicu": 15, "nicu": 56}
_VOLUMES = {"inputevents_cv": ("inputs", "amount"), "outputevents": ("outputs", "value")}


class Mimic:
    """Writes persons, stays and events; ``seed`` and ``n_patients`` decide everything."""

    def __init__(self, seed: int, n_patients: int) -> None:
        self.seed, self.n_patients = seed, n_patients
        self.titles, self.drugs, self.items = map(table_of, ("diagnoses.yaml", "drugs.yaml", "items.yaml"))
        self.words, self.tables = self.items["admission"], Tables()
        self.lab_ids = {label: 50801 + 7 * place for place, label in enumerate(self.items["labs"])}
        self.item_ids: dict[tuple[str, str], int] = {}

    def write(self) -> Tables:
        """All rows."""
        self._dictionaries()
        numbers = Random(f"{self.seed}/mimic_iii")
        subjects = numbers.sample(range(10_000, 99_999), self.n_patients)
        hadms = iter(numbers.sample(range(100_000, 199_999), 3 * self.n_patients))
        icus = iter(numbers.sample(range(200_000, 299_999), 3 * self.n_patients))
        for number, subject in enumerate(subjects):
            rng = Random(f"{self.seed}/mimic_iii/{number}")
            who = person(rng, number)
            dates = {"gender": who.sex, "dob": written(who.birth), "dod": written(who.death)}
            self.tables.add("patients", "row_id", {"subject_id": subject, **dates})
            for span in who.stays:
                ids = {"subject_id": subject, "hadm_id": next(hadms)}
                self._stay(rng, who, span, ids, next(icus))
        return self.tables

    def _dictionaries(self) -> None:
        for name in ("diagnoses", "procedures"):
            for code, (short, long, _) in self.titles[name].items():
                row = {"icd9_code": code, "short_title": short, "long_title": long}
                self.tables.add(f"d_icd_{name}", "row_id", row)
        for label, itemid in self.lab_ids.items():
            self.tables.add("d_labitems", "row_id", {"itemid": itemid, "label": label})
        sources = (("chartevents", "chart"), ("inputevents_cv", "inputs"), ("outputevents", "outputs"))
        labels = [(linked, label) for linked, kind in sources for label in self.items[kind]]
        for place, (linked, label) in enumerate(labels):
            self.item_ids[linked, label] = 220_003 + 11 * place
            row = {"itemid": self.item_ids[linked, label], "label": label, "linksto": linked}
            self.tables.add("d_items", "row_id", row)

    def _stay(self, rng: Random, who: Person, span: Span, ids: Mapping[str, int], icu: int) -> None:
        words, age = self.words, who.age(span.start)
        row = {
            **ids, "admittime": written(span.start), "dischtime": written(span.end),
            "admission_type": common(rng, words["types"]), "admission_location": rng.choice(words["sources"]),
            "discharge_location": maybe(rng, rng.choice(words["places"])) if span.end else None,
            "insurance": rng.choice(words["insurances"]), "language": maybe(rng, common(rng, words["languages"])),
            "marital_status": maybe(rng, rng.choice(words["marital"])),
            "ethnicity": rng.choice(words["ethnicities"]), "age": age,
        }  # fmt: skip
        self.tables.add("admissions", "row_id", row)
        self._titles(rng, span, ids)
        self._labs(rng, span, ids)
        self._drugs(rng, span, ids)
        self._cultures(rng, span, ids)
        unit = rng.choice(words["units"])
        inner = part_of(rng, span) if rng.random() < _ICU_RATE or span.end is None else None
        if inner:
            self._intensive(rng, inner, {**ids, "icustay_id": icu}, unit)
        self._transfers(span, inner, ids, icu, unit)

    def _charged(self, rng: Random, table: str, row: dict[str, Any], key: str, time: str | None) -> None:
        """Add a row, and what it costs."""
        number = self.tables.add(table, "row_id", row)
        ids = {name: row[name] for name in ("subject_id", "hadm_id")}
        charge = {"event_type": table, "event_id": number, "chargetime": time, "cost": price(rng, table, key)}
        self.tables.add("cost", "row_id", {**ids, **charge})

    def _titles(self, rng: Random, span: Span, ids: Mapping[str, int]) -> None:
        for name, least, most, hours in (("diagnoses", 1, 3, 24), ("procedures", 0, 2, None)):
            for code in several(rng, list(self.titles[name]), least, most):
                time = written(within(rng, span, hours))
                row = {**ids, "icd9_code": code, "charttime": time}
                self._charged(rng, f"{name}_icd", row, code, time)

    def _labs(self, rng: Random, span: Span, ids: Mapping[str, int]) -> None:
        panel = several(rng, list(self.items["labs"]), 2, 4)
        for _ in range(rng.randint(3, 8)):
            label, time = rng.choice(panel), written(within(rng, span))
            unit, low, high, digits = self.items["labs"][label][2:6]
            value = measured(rng, low, high, digits)
            row: dict[str, Any] = {**ids, "itemid": self.lab_ids[label], "charttime": maybe(rng, time)}
            row |= {"valuenum": maybe(rng, value), "valueuom": maybe(rng, unit)}
            self._charged(rng, "labevents", row, label, time)

    def _drugs(self, rng: Random, span: Span, ids: Mapping[str, int]) -> None:
        first = within(rng, span, 24)
        for drug in several(rng, list(self.drugs), 1, 4):
            doses, unit, routes = self.drugs[drug]
            start = first if rng.random() < 0.4 else within(rng, span)
            end = written(within(rng, Span(start, span.end))) if span.end or rng.random() < 0.5 else None
            row = {**ids, "startdate": written(start), "enddate": maybe(rng, end), "drug": drug}
            row |= {"dose_val_rx": rng.choice(doses), "dose_unit_rx": unit, "route": rng.choice(routes)}
            self._charged(rng, "prescriptions", row, drug, written(start))

    def _cultures(self, rng: Random, span: Span, ids: Mapping[str, int]) -> None:
        for specimen in several(rng, list(self.items["cultures"]), 0, 2):
            found = maybe(rng, common(rng, self.items["cultures"][specimen]))
            row = {**ids, "charttime": written(within(rng, span)), "spec_type_desc": maybe(rng, specimen)}
            self.tables.add("microbiologyevents", "row_id", {**row, "org_name": found})

    def _intensive(self, rng: Random, inner: Span, ids: Mapping[str, int], unit: str) -> None:
        last = unit if rng.random() < 0.8 else rng.choice(self.words["units"])
        row = {**ids, "first_careunit": unit, "last_careunit": last}
        row |= {"first_wardid": _WARDS[unit], "last_wardid": _WARDS[last]}
        self.tables.add("icustays", "row_id", {**row, "intime": written(inner.start), "outtime": written(inner.end)})
        charted = several(rng, list(self.items["chart"]), 2, 5)
        for _ in range(rng.randint(4, 10)):
            label = rng.choice(charted)
            uom, low, high, digits = self.items["chart"][label]
            row = {**ids, "itemid": self.item_ids["chartevents", label], "charttime": written(within(rng, inner))}
            value = maybe(rng, measured(rng, low, high, digits))
            self.tables.add("chartevents", "row_id", {**row, "valuenum": value, "valueuom": maybe(rng, uom)})
        for table, (kind, column) in _VOLUMES.items():
            labels = self._volumes_of(rng, self.items[kind])
            for label in labels:
                row = {**ids, "charttime": written(within(rng, inner)), "itemid": self.item_ids[table, label]}
                self.tables.add(table, "row_id", {**row, column: maybe(rng, volume(rng))})

    @staticmethod
    def _volumes_of(rng: Random, labels: Sequence[str]) -> list[str]:
        """Two to four labels, of which one may come twice."""
        chosen = several(rng, labels, 2, 3)
        return [*chosen, *rng.choices(chosen, k=rng.randint(0, 1))]

    def _transfers(self, span: Span, inner: Span | None, ids: Mapping[str, int], icu: int, unit: str) -> None:
        def moved(kind: str, start: str | None, end: str | None, **place: Any) -> None:
            row = {**ids, "eventtype": kind, "intime": start, "outtime": end, **place}
            self.tables.add("transfers", "row_id", row)

        start, end = written(span.start), written(span.end)
        moved("admit", start, written(inner.start) if inner else end)
        if inner:
            place = {"icustay_id": icu, "careunit": unit, "wardid": _WARDS[unit]}
            moved("transfer", written(inner.start), written(inner.end), **place)
        if span.end:
            moved("discharge", end, None)
