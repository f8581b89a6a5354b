"""Write the invented hospital's stays down in the tables of MIMIC and of eICU.

A row holds the names of both MIMIC generations (``icd_code`` and ``icd9_code``, ``starttime`` and
``startdate``, ...); a database takes the columns that its schema has.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import timedelta
from itertools import groupby
from typing import Any

from data_builders.cab_mini.hospital import Event, Stay, text

Row = dict[str, Any]
Tables = dict[str, list[Row]]
CAREUNITS = {
    "ccu": "coronary care unit (ccu)",
    "micu": "medical intensive care unit (micu)",
    "sicu": "surgical intensive care unit (sicu)",
}
WARDS = {"ccu": 7, "micu": 50, "sicu": 33}


class Mimic:
    """Tables of MIMIC-IV (``modern``) or MIMIC-III. ``first``: the lowest patient id; invented ids start with 9."""

    def __init__(self, tables: Mapping[str, Any], first: int, modern: bool) -> None:
        self.source, self.first, self.modern = tables, first, modern
        self.tables: Tables = defaultdict(list)

    def write(self, stays: Sequence[Stay]) -> Tables:
        """All rows."""
        self._dictionaries()
        for stay in stays:
            if stay.person.number not in {row["number"] for row in self.tables["patients"]}:
                self._patient(stay)
            keys = self._admission(stay)
            self._coded(stay, keys)
            self._measured(stay, keys)
            if stay.unit_start:
                self._unit(stay, keys)
        return self.tables

    def _add(self, table: str, **row: Any) -> int:
        number = len(self.tables[table]) + 1
        self.tables[table].append({"row_id": number, **row})
        return number

    def _dictionaries(self) -> None:
        for kind in ("diagnoses", "procedures"):
            for icd9, icd10, short, long, _ in self.source[kind].values():
                self._add(f"d_icd_{kind}", icd_code=icd10, icd9_code=icd9, short_title=short, long_title=long)
        for label, (item, *_) in self.source["labs"].items():
            self._add("d_labitems", itemid=item, label=label)
        links = {"vitals": "chartevents", "inputs": self._inputs, "outputs": "outputevents"}
        for kind, link in links.items():
            for label, (item, short, *_) in self.source[kind].items():
                self._add("d_items", itemid=item, label=label, abbreviation=short, linksto=link)

    @property
    def _inputs(self) -> str:
        return "inputevents" if self.modern else "inputevents_cv"

    def _patient(self, stay: Stay) -> None:
        person = stay.person
        row = {"gender": person.sex, "dob": text(person.birth), "dod": text(person.death)}
        self._add("patients", number=person.number, subject_id=self._subject(stay), **row)

    def _subject(self, stay: Stay) -> int:
        return self.first + 137 * stay.person.number

    def _admission(self, stay: Stay) -> Row:
        number = len(self.tables["admissions"]) + 1
        keys = {"subject_id": self._subject(stay), "hadm_id": (29000000 if self.modern else 190000) + 211 * number}
        traits = {**stay.traits, "discharge_location": stay.traits["discharge_location"] if stay.end else None}
        span = {"admittime": text(stay.start), "dischtime": text(stay.end)}
        self._add("admissions", **keys, **span, **traits, age=stay.age)
        self._moved(keys, "admit", "emergency department", stay, None)
        return keys

    def _moved(self, keys: Row, kind: str, unit: str, stay: Stay, stay_id: int | None) -> None:
        start, end = (stay.unit_start, stay.unit_end) if stay_id else (stay.start, stay.unit_start or stay.end)
        number = len(self.tables["transfers"]) + 1
        ids = {
            "transfer_id": 39000000 + 17 * number,
            "icustay_id": stay_id,
            "wardid": WARDS[stay.unit] if stay_id else 12,
        }
        self._add("transfers", **keys, **ids, eventtype=kind, careunit=unit, intime=text(start), outtime=text(end))

    def _coded(self, stay: Stay, keys: Row) -> None:
        for kind in ("diagnoses", "procedures"):
            for event in stay.events[kind]:
                icd9, icd10 = self.source[kind][event.key][:2]
                row = {"icd_code": icd10, "icd9_code": icd9, "charttime": text(event.time)}
                self._charge(keys, f"{kind}_icd", self._add(f"{kind}_icd", **keys, **row), event)

    def _measured(self, stay: Stay, keys: Row) -> None:
        for event in stay.events["labs"]:
            item, unit = self.source["labs"][event.key][:2]
            row = {"itemid": item, "charttime": text(event.time), "valuenum": event.value, "valueuom": unit}
            self._charge(keys, "labevents", self._add("labevents", **keys, **row), event)
        for event in stay.events["drugs"]:
            dose, unit, route = self.source["drugs"][event.key]
            row = {"drug": event.key, "dose_val_rx": dose, "dose_unit_rx": unit, "route": route}
            times = {"starttime": text(event.time), "stoptime": text(event.end)}
            old = {"startdate": times["starttime"], "enddate": times["stoptime"]}
            self._charge(keys, "prescriptions", self._add("prescriptions", **keys, **times, **old, **row), event)
        for event in stay.events["cultures"]:
            row = {"charttime": text(event.time), "spec_type_desc": event.key, "org_name": event.found}
            self._add("microbiologyevents", **keys, **row, test_name=self.source["cultures"][event.key][0])

    def _charge(self, keys: Row, table: str, number: int, event: Event) -> None:
        self._add(
            "cost", **keys, event_type=table, event_id=number, chargetime=text(event.time), cost=price(table, number)
        )

    def _unit(self, stay: Stay, keys: Row) -> None:
        number = (38000000 if self.modern else 280000) + 19 * (len(self.tables["icustays"]) + 1)
        ids = {**keys, "stay_id": number, "icustay_id": number}
        unit = CAREUNITS[stay.unit] if self.modern else stay.unit
        units = {"first_careunit": unit, "last_careunit": unit}
        wards = {"first_wardid": WARDS[stay.unit], "last_wardid": WARDS[stay.unit]}
        span = {"intime": text(stay.unit_start), "outtime": text(stay.unit_end)}
        self._add("icustays", **ids, **units, **wards, **span)
        self._moved(keys, "transfer", unit, stay, number)
        for event in stay.events["vitals"]:
            item, _, measure = self.source["vitals"][event.key][:3]
            row = {"itemid": item, "charttime": text(event.time), "valuenum": event.value, "valueuom": measure}
            self._add("chartevents", **ids, **row)
        for kind, table in (("inputs", self._inputs), ("outputs", "outputevents")):
            for event in stay.events[kind]:
                row = {"itemid": self.source[kind][event.key][0], "charttime": text(event.time), "valueuom": "ml"}
                amounts = {"value": event.value, "amount": event.value, "totalamount": event.value}
                self._add(table, **ids, **row, **amounts, starttime=text(event.time), totalamountuom="ml")


def price(table: str, number: int) -> float:
    """A charge: a multiple of 0.25 that depends on the row only."""
    base = {"diagnoses_icd": 40, "procedures_icd": 400, "labevents": 12, "prescriptions": 9}
    return base[table] + (number * 37 % 29) / 4


EICU_PARTS = {"diagnoses": "diagnosis", "procedures": "treatment", "labs": "lab", "drugs": "medication"}
COSTED = {
    "diagnosis": "diagnoses_icd",
    "treatment": "procedures_icd",
    "lab": "labevents",
    "medication": "prescriptions",
}


def write_eicu(source: Mapping[str, Any], stays: Sequence[Stay]) -> Tables:
    """Tables of eICU: one unit stay for each hospital stay; invented patient ids start with 900-."""
    tables: Tables = defaultdict(list)
    for number, stay in enumerate(stays, start=1):
        unit_stay, hospital_stay = 3900000 + 23 * number, 990000 + 7 * number
        person = f"900-{10000 + 77 * stay.person.number}"
        tables["patient"].append(eicu_patient(stay, person, unit_stay, hospital_stay))
        for table, rows in eicu_events(source, stay).items():
            for row in rows:
                key, time = len(tables[table]) + 1, row[TIMES[table]]
                tables[table].append({f"{table}id": key, "patientunitstayid": unit_stay, **row})
                if table in COSTED:
                    charge = {"eventtype": table, "eventid": key, "chargetime": time, "cost": price(COSTED[table], key)}
                    ids = {"costid": len(tables["cost"]) + 1, "uniquepid": person}
                    tables["cost"].append({**ids, "patienthealthsystemstayid": hospital_stay, **charge})
    return tables


TIMES = {
    "diagnosis": "diagnosistime", "treatment": "treatmenttime", "lab": "labresulttime",
    "medication": "drugstarttime", "allergy": "allergytime", "intakeoutput": "intakeoutputtime",
    "microlab": "culturetakentime", "vitalperiodic": "observationtime",
}  # fmt: skip


def eicu_patient(stay: Stay, person: str, unit_stay: int, hospital_stay: int) -> Row:
    """The row of a unit stay."""
    weight = 52 + (unit_stay * 13 % 97) / 2
    dies = stay.person.death is not None and stay.end is not None and stay.person.death < stay.end + timedelta(days=1)
    return {
        "patientunitstayid": unit_stay, "uniquepid": person, "patienthealthsystemstayid": hospital_stay,
        "gender": {"m": "male", "f": "female"}[stay.person.sex], "age": stay.age, "ethnicity": stay.traits["ethnicity"],
        "hospitalid": 142 + stay.person.number % 4, "wardid": 400 + WARDS[stay.unit],
        "admissionheight": 154.0 + stay.person.number % 38, "admissionweight": weight,
        "dischargeweight": weight - 1.5 if stay.unit_end else None,
        "hospitaladmittime": text(stay.start), "hospitaladmitsource": "emergency department",
        "unitadmittime": text(stay.unit_start), "unitdischargetime": text(stay.unit_end),
        "hospitaldischargetime": text(stay.end),
        "hospitaldischargestatus": None if stay.end is None else "expired" if dies else "alive",
    }  # fmt: skip


def eicu_events(source: Mapping[str, Any], stay: Stay) -> Tables:
    """The rows of one stay without their keys."""
    rows: Tables = defaultdict(list)
    for kind, table in EICU_PARTS.items():
        for event in stay.events[kind]:
            rows[table].append({TIMES[table]: text(event.time), **eicu_details(source, kind, event)})
    if stay.person.allergy:
        allergy = {"drugname": None, "allergyname": stay.person.allergy, "allergytime": text(stay.unit_start)}
        rows["allergy"].append(allergy)
    for kind in ("inputs", "outputs"):
        for event in stay.events[kind]:
            cell = {"cellpath": source[kind][event.key][2], "celllabel": event.key, "cellvaluenumeric": event.value}
            rows["intakeoutput"].append({**cell, "intakeoutputtime": text(event.time)})
    for event in stay.events["cultures"]:
        found = {"culturesite": event.key, "organism": event.found or "no growth"}
        rows["microlab"].append({**found, "culturetakentime": text(event.time)})
    for time, group in groupby(stay.events["vitals"], key=lambda event: event.time):
        values = {source["vitals"][event.key][6]: event.value for event in group}
        rows["vitalperiodic"].append({**values, "observationtime": text(time)})
    return rows


def eicu_details(source: Mapping[str, Any], kind: str, event: Event) -> Row:
    """What eICU keeps of a diagnosis, treatment, laboratory result or medication."""
    details = source[kind][event.key]
    if kind == "diagnoses":
        return {"diagnosisname": details[4].lower(), "icd9code": details[0]}
    if kind == "procedures":
        return {"treatmentname": details[4].lower()}
    if kind == "labs":
        return {"labname": details[5], "labresult": event.value}
    dose, unit, route = details
    return {"drugname": event.key, "dosage": f"{dose} {unit}", "routeadmin": route, "drugstoptime": text(event.end)}
