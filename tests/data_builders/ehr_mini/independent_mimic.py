"""The MIMIC-III-style questions answered without SQL."""

from collections import defaultdict
from datetime import datetime
from fractions import Fraction
from typing import Any

from tests.data_builders.ehr_mini.independent import (
    Row,
    Tables,
    answers,
    greatest,
    months_before,
    present,
    total,
)

CLOCK = datetime(2105, 12, 31, 23, 59)


def stays(db: Tables, subject: Any) -> list[Row]:
    """The admissions of a patient in the order of time."""
    return sorted((row for row in db.ADMISSIONS if row["SUBJECT_ID"] == str(subject)), key=lambda row: row["ADMITTIME"])


def coded(db: Tables, diagnosis: str, column: str = "HADM_ID") -> set[str]:
    """Admissions, or patients, with a diagnosis."""
    (code,) = [row["ICD9_CODE"] for row in db.D_ICD_DIAGNOSES if row["SHORT_TITLE"] == diagnosis]
    return {row[column] for row in db.DIAGNOSES_ICD if row["ICD9_CODE"] == code}


def items(db: Tables, label: str, linked: str) -> set[str]:
    return {row["ITEMID"] for row in db.D_ITEMS if row["LABEL"] == label and row["LINKSTO"] == linked}


def labs(db: Tables, label: str) -> set[str]:
    return {row["ITEMID"] for row in db.D_LABITEMS if row["LABEL"] == label}


@answers("M-I-1")
def gender(db, subject_id):
    return [row["GENDER"] for row in db.PATIENTS if row["SUBJECT_ID"] == str(subject_id)]


@answers("M-I-2")
def routes(db, drug):
    return [row["ROUTE"] for row in db.PRESCRIPTIONS if row["DRUG"] == drug]


@answers("M-I-3")
def admissions_of_a_type(db, admission_type, year):
    return [sum(row["ADMISSION_TYPE"] == admission_type and row["ADMITTIME"][:4] == year for row in db.ADMISSIONS)]


@answers("M-I-4")
def latest_insurance(db, subject_id):
    return [stays(db, subject_id)[-1]["INSURANCE"]]


@answers("M-I-5")
def longest_stay(db, subject_id):
    ended = [row for row in stays(db, subject_id) if row["DISCHTIME"]]
    return greatest(
        (datetime.fromisoformat(row["DISCHTIME"]) - datetime.fromisoformat(row["ADMITTIME"])).days for row in ended
    )


@answers("M-II-1")
def patients_with_a_recent_lab(db, lab_label, k):
    since, wanted = f"{months_before(CLOCK, k)}", labs(db, lab_label)
    return [len({row["SUBJECT_ID"] for row in db.LABEVENTS if row["ITEMID"] in wanted and row["CHARTTIME"] >= since})]


@answers("M-II-2")
def charges_of_a_drug(db, drug, year):
    keys = {row["ROW_ID"] for row in db.PRESCRIPTIONS if row["DRUG"] == drug}
    charged = [row for row in db.COST if row["EVENT_TYPE"] == "prescriptions" and row["CHARGETIME"][:4] == year]
    return present(row["COST"] for row in charged if row["EVENT_ID"] in keys)


@answers("M-II-3")
def diagnoses_of_an_admission(db, hadm_id):
    codes = {row["ICD9_CODE"] for row in db.DIAGNOSES_ICD if row["HADM_ID"] == str(hadm_id)}
    return [row["LONG_TITLE"] for row in db.D_ICD_DIAGNOSES if row["ICD9_CODE"] in codes]


@answers("M-II-4")
def first_drugs(db, subject_id):
    open_stays = {row["HADM_ID"] for row in stays(db, subject_id) if not row["DISCHTIME"]}
    given = [row for row in db.PRESCRIPTIONS if row["HADM_ID"] in open_stays]
    first = min(row["STARTDATE"] for row in given)
    return [row["DRUG"] for row in given if row["STARTDATE"] == first]


@answers("M-II-5")
def patients_of_an_age_in_a_unit(db, unit, lo, hi):
    of_age = {row["HADM_ID"] for row in db.ADMISSIONS if lo <= int(row["AGE"]) <= hi}
    return [
        len({row["SUBJECT_ID"] for row in db.ICUSTAYS if row["FIRST_CAREUNIT"] == unit and row["HADM_ID"] in of_age})
    ]


@answers("M-III-1")
def cost_of_a_diagnosis(db, diagnosis):
    wanted = coded(db, diagnosis)
    return total(row["COST"] for row in db.COST if row["HADM_ID"] in wanted)


@answers("M-III-2")
def last_lab_of_the_first_stay(db, subject_id, lab_label):
    first, wanted = stays(db, subject_id)[0]["HADM_ID"], labs(db, lab_label)
    found = [row for row in db.LABEVENTS if row["HADM_ID"] == first and row["ITEMID"] in wanted and row["VALUENUM"]]
    last = max(row["CHARTTIME"] for row in found)
    return present(row["VALUENUM"] for row in found if row["CHARTTIME"] == last)


@answers("M-III-3")
def procedures_in_a_year(db, subject_id, year):
    done = [row for row in db.PROCEDURES_ICD if row["SUBJECT_ID"] == str(subject_id) and row["CHARTTIME"][:4] == year]
    codes = {row["ICD9_CODE"] for row in done}
    return [row["SHORT_TITLE"] for row in db.D_ICD_PROCEDURES if row["ICD9_CODE"] in codes]


@answers("M-III-4")
def patients_with_drug_and_diagnosis(db, drug, diagnosis):
    wanted = coded(db, diagnosis)
    return [len({row["SUBJECT_ID"] for row in db.PRESCRIPTIONS if row["DRUG"] == drug and row["HADM_ID"] in wanted})]


@answers("M-III-5")
def deaths_with_a_diagnosis(db, diagnosis):
    wanted = coded(db, diagnosis, "SUBJECT_ID")
    return [sum(row["SUBJECT_ID"] in wanted and row["DOD"] != "" for row in db.PATIENTS)]


@answers("M-IV-1")
def highest_vital_of_the_first_icu_stay(db, subject_id, vital):
    mine = [row for row in db.ICUSTAYS if row["SUBJECT_ID"] == str(subject_id)]
    first, wanted = min(mine, key=lambda row: row["INTIME"])["ICUSTAY_ID"], items(db, vital, "chartevents")
    return greatest(
        present(row["VALUENUM"] for row in db.CHARTEVENTS if row["ICUSTAY_ID"] == first and row["ITEMID"] in wanted)
    )


@answers("M-IV-2")
def output_in_a_year(db, subject_id, output, year):
    wanted = items(db, output, "outputevents")
    mine = [row for row in db.OUTPUTEVENTS if row["SUBJECT_ID"] == str(subject_id) and row["ITEMID"] in wanted]
    return total(row["VALUE"] for row in mine if row["CHARTTIME"][:4] == year)


@answers("M-IV-3")
def input_in_the_ongoing_stay(db, subject_id, input):
    open_stays = {row["HADM_ID"] for row in stays(db, subject_id) if not row["DISCHTIME"]}
    wanted = items(db, input, "inputevents_cv")
    return [any(row["HADM_ID"] in open_stays and row["ITEMID"] in wanted for row in db.INPUTEVENTS_CV)]


@answers("M-IV-4")
def dearest_admission(db, drug, diagnosis):
    given = {row["HADM_ID"] for row in db.PRESCRIPTIONS if row["DRUG"] == drug}
    bills: dict[str, Fraction] = defaultdict(Fraction)
    for row in db.COST:
        bills[row["HADM_ID"]] += Fraction(row["COST"])
    return greatest(bills[stay] for stay in given & coded(db, diagnosis) if stay in bills)


@answers("M-IV-5")
def organisms(db, specimen, diagnosis, place):
    went = {row["HADM_ID"] for row in db.ADMISSIONS if row["DISCHARGE_LOCATION"] == place} & coded(db, diagnosis)
    taken = [row for row in db.MICROBIOLOGYEVENTS if row["SPEC_TYPE_DESC"] == specimen and row["HADM_ID"] in went]
    return [row["ORG_NAME"] for row in taken]
