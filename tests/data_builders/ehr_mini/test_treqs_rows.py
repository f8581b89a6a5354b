"""The TREQS-style rows are derived from the finished MIMIC-III-style stays."""

from datetime import datetime

import pytest

from data_builders.ehr_mini.mimic_rows import Mimic
from data_builders.ehr_mini.treqs_rows import Treqs
from tests.data_builders.ehr_mini.shipped import tables

MIMIC, DB = tables("mimic_iii"), tables("treqs")
STAYS = {str(row["hadm_id"]): row for row in MIMIC["admissions"] if row["dischtime"]}
SOURCES = {
    "DIAGNOSES": "diagnoses_icd", "PROCEDURES": "procedures_icd", "PRESCRIPTIONS": "prescriptions", "LAB": "labevents",
}  # fmt: skip


def test_every_finished_stay_has_one_row():
    assert [row["HADM_ID"] for row in DB["DEMOGRAPHIC"]] == list(STAYS)
    assert all(row["SUBJECT_ID"] == str(STAYS[row["HADM_ID"]]["subject_id"]) for row in DB["DEMOGRAPHIC"])


@pytest.mark.parametrize("table", SOURCES)
def test_every_event_of_a_finished_stay_has_one_row(table):
    expected = [str(row["hadm_id"]) for row in MIMIC[SOURCES[table]] if str(row["hadm_id"]) in STAYS]
    assert [row["HADM_ID"] for row in DB[table]] == expected


def test_demographic_columns_follow_from_the_stay_and_the_patient():
    patients = {str(row["subject_id"]): row for row in MIMIC["patients"]}
    for row in DB["DEMOGRAPHIC"]:
        stay, who = STAYS[row["HADM_ID"]], patients[row["SUBJECT_ID"]]
        length = datetime.fromisoformat(stay["dischtime"]) - datetime.fromisoformat(stay["admittime"])
        assert row["DAYS_STAY"] == length.days and row["AGE"] == stay["age"]
        assert row["NAME"] == f"Patient {row['SUBJECT_ID']}"
        assert row["EXPIRE_FLAG"] == (who["dod"] is not None) and row["DOD"] == who["dod"]
        assert row["DOD_YEAR"] == (who["dod"] and float(who["dod"][:4]))
        assert (row["DOB_YEAR"], row["ADMITYEAR"]) == (int(row["DOB"][:4]), int(row["ADMITTIME"][:4]))
        assert row["ADMISSION_TYPE"] == stay["admission_type"].upper() and row["GENDER"] in ("M", "F")


def test_a_person_has_one_religion():
    assert len({(row["SUBJECT_ID"], row["RELIGION"]) for row in DB["DEMOGRAPHIC"]}) == len(
        {row["SUBJECT_ID"] for row in DB["DEMOGRAPHIC"]}
    )


def test_titles_and_codes_match_the_dictionaries():
    for table, name in (("DIAGNOSES", "d_icd_diagnoses"), ("PROCEDURES", "d_icd_procedures")):
        known = {row["icd9_code"].upper(): row["short_title"] for row in MIMIC[name]}
        assert all(row["SHORT_TITLE"].lower() == known[row["ICD9_CODE"]] for row in DB[table])


def test_value_has_its_unit_and_is_abnormal_outside_its_range():
    source = Mimic(3, 1).write()
    stay = next(row for row in source["admissions"])
    stay |= {"hadm_id": 7, "dischtime": stay["dischtime"] or "2105-12-31 23:00:00"}
    source["admissions"][:] = [stay]
    source["diagnoses_icd"][0]["hadm_id"] = 7
    sodium = next(row["itemid"] for row in source["d_labitems"] if row["label"] == "sodium")
    lab = {"subject_id": stay["subject_id"], "hadm_id": 7, "itemid": sodium, "charttime": None}
    cases = [(150.0, "meq/l", "150meq/l", "abnormal"), (140.0, None, "140", None), (None, "meq/l", None, None)]
    source["labevents"][:] = [{**lab, "valuenum": value, "valueuom": unit} for value, unit, _, _ in cases]
    found = Treqs(3, source).write()["LAB"]
    assert [(row["VALUE_UNIT"], row["FLAG"]) for row in found] == [(text, flag) for _, _, text, flag in cases]
    assert {(row["LABEL"], row["FLUID"], row["CATEGORY"]) for row in found} == {("Sodium", "Blood", "Chemistry")}


def test_doses_are_a_value_and_a_unit_in_one_text():
    doses = {row["DRUG_DOSE"] for row in DB["PRESCRIPTIONS"]}
    assert "40MG" in doses and {row["DRUG_TYPE"] for row in DB["PRESCRIPTIONS"]} == {"MAIN", "BASE"}
