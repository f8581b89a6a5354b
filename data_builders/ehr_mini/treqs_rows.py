"""The rows of the TREQS-style database, derived from the finished stays of the MIMIC-III-style one."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from random import Random
from typing import Any

from data_builders.ehr_mini.course import Tables, maybe
from data_builders.ehr_mini.schema import Row, Rows, table_of

_ADMITTED = (
    "marital_status", "language", "admission_type", "insurance", "ethnicity", "admission_location",
    "discharge_location",
)  # fmt: skip


class Treqs:
    """Writes the five tables from MIMIC-III-style rows; what these lack (religion) comes from the seed."""

    def __init__(self, seed: int, source: Rows) -> None:
        self.seed, self.source, self.tables = seed, source, Tables()
        self.stays = {row["hadm_id"]: row for row in source["admissions"] if row["dischtime"] is not None}
        self.labs = table_of("items.yaml")["labs"]

    def write(self) -> Tables:
        """All rows."""
        self._demographic()
        for table, name in (("DIAGNOSES", "diagnoses"), ("PROCEDURES", "procedures")):
            titles = {row["icd9_code"]: row for row in self.source[f"d_icd_{name}"]}
            for row in self._finished(f"{name}_icd"):
                title = titles[row["icd9_code"]]
                self.tables[table].append({
                    **_ids(row), "ICD9_CODE": row["icd9_code"].upper(), "SHORT_TITLE": _capital(title["short_title"]),
                    "LONG_TITLE": _capital(title["long_title"]),
                })  # fmt: skip
        self._prescriptions()
        self._lab()
        return self.tables

    def _finished(self, table: str) -> list[Row]:
        return [row for row in self.source[table] if row["hadm_id"] in self.stays]

    def _demographic(self) -> None:
        patients = {row["subject_id"]: row for row in self.source["patients"]}
        titles = {row["icd9_code"]: row["long_title"] for row in self.source["d_icd_diagnoses"]}
        first: dict[int, str] = {}
        for row in self.source["diagnoses_icd"]:
            first.setdefault(row["hadm_id"], titles[row["icd9_code"]].upper())
        religions = table_of("items.yaml")["admission"]["religions"]
        for stay in self.stays.values():
            who = patients[stay["subject_id"]]
            rng = Random(f"{self.seed}/treqs/{who['subject_id']}")
            admitted = {name.upper(): stay[name] and stay[name].upper() for name in _ADMITTED}
            dod, religion = who["dod"], maybe(rng, rng.choice(religions))
            self.tables["DEMOGRAPHIC"].append({
                **_ids(stay), "NAME": f"Patient {who['subject_id']}", **admitted, "AGE": stay["age"],
                "DOB": who["dob"], "GENDER": who["gender"].upper(), "RELIGION": religion and religion.upper(),
                "DAYS_STAY": _whole_days(stay["admittime"], stay["dischtime"]), "EXPIRE_FLAG": int(dod is not None),
                "DIAGNOSIS": first[stay["hadm_id"]], "DOD": dod, "DOB_YEAR": int(who["dob"][:4]),
                "DOD_YEAR": None if dod is None else float(dod[:4]), "ADMITTIME": stay["admittime"],
                "DISCHTIME": stay["dischtime"], "ADMITYEAR": int(stay["admittime"][:4]),
            })  # fmt: skip

    def _prescriptions(self) -> None:
        icu = {row["hadm_id"]: str(row["icustay_id"]) for row in self.source["icustays"]}
        for row in self._finished("prescriptions"):
            kind = "BASE" if "sodium chloride" in row["drug"] or "dextrose" in row["drug"] else "MAIN"
            letters = "".join(letter for letter in row["drug"] if letter.isalpha())[:4].upper()
            self.tables["PRESCRIPTIONS"].append({
                **_ids(row), "ICUSTAY_ID": icu.get(row["hadm_id"]), "DRUG_TYPE": kind, "DRUG": _capital(row["drug"]),
                "FORMULARY_DRUG_CD": f"{letters}{row['dose_val_rx'].replace('.', '')}", "ROUTE": row["route"].upper(),
                "DRUG_DOSE": f"{row['dose_val_rx']}{row['dose_unit_rx'].upper()}",
            })  # fmt: skip

    def _lab(self) -> None:
        labels = {row["itemid"]: row["label"] for row in self.source["d_labitems"]}
        for row in self._finished("labevents"):
            label, value = labels[row["itemid"]], row["valuenum"]
            entry: Sequence[Any] = self.labs[label]
            abnormal = value is not None and not entry[6] <= value <= entry[7]
            self.tables["LAB"].append({
                **_ids(row), "ITEMID": str(row["itemid"]), "CHARTTIME": row["charttime"],
                "FLAG": "abnormal" if abnormal else None,
                "VALUE_UNIT": None if value is None else f"{value:g}{row['valueuom'] or ''}",
                "LABEL": _capital(label), "FLUID": _capital(entry[0]), "CATEGORY": _capital(entry[1]),
            })  # fmt: skip


def _ids(row: Mapping[str, Any]) -> dict[str, str]:
    """Both identifiers, as texts."""
    return {name.upper(): str(row[name]) for name in ("subject_id", "hadm_id")}


def _capital(text: str) -> str:
    """With a capital first letter."""
    return text[:1].upper() + text[1:]


def _whole_days(start: str, end: str) -> int:
    return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).days
