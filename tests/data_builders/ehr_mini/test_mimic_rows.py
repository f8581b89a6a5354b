"""The MIMIC-III-style rows keep the rules of the generator; rules shared with eICU are checked for both."""

from collections import Counter, defaultdict
from itertools import pairwise

import pytest

from data_builders.ehr_mini.mimic_rows import Mimic
from data_builders.ehr_mini.schema import Schema
from tests.data_builders.ehr_mini.shipped import tables

CLOCK = "2105-12-31 23:59:00"
DB = tables("mimic_iii")
STAYS = {row["hadm_id"]: row for row in DB["admissions"]}
ICU = {row["icustay_id"]: row for row in DB["icustays"]}
COSTED = ("diagnoses_icd", "procedures_icd", "labevents", "prescriptions")
TIMED = {
    "diagnoses_icd": "charttime", "procedures_icd": "charttime", "labevents": "charttime", "prescriptions": "startdate",
    "microbiologyevents": "charttime", "icustays": "intime", "transfers": "intime", "cost": "chargetime",
}  # fmt: skip
ENDS = {"prescriptions": "enddate", "icustays": "outtime", "transfers": "outtime"}
IN_ICU = ("chartevents", "inputevents_cv", "outputevents")
PER_STAY = {
    "diagnoses_icd": (1, 3), "procedures_icd": (0, 2), "labevents": (3, 8), "prescriptions": (1, 4),
    "microbiologyevents": (0, 2), "icustays": (0, 1),
}  # fmt: skip
PER_ICU_STAY = {"chartevents": (4, 10), "inputevents_cv": (1, 4), "outputevents": (1, 4)}


def test_small_set_has_the_stated_size():
    assert len(DB["patients"]) == 100 and 180 <= len(STAYS) <= 220
    assert 6_500 <= sum(map(len, DB.values())) <= 8_000
    assert 0.6 <= len(ICU) / len(STAYS) <= 0.8
    assert {Counter(row["subject_id"] for row in DB["admissions"])[one["subject_id"]] for one in DB["patients"]} == {
        1, 2, 3,
    }  # fmt: skip


@pytest.mark.parametrize(("table", "least", "most"), [(table, *size) for table, size in PER_STAY.items()])
def test_number_of_events_per_stay(table, least, most):
    found = Counter(row["hadm_id"] for row in DB[table])
    counts = {found[stay] for stay in STAYS}
    assert (min(counts), max(counts)) == (least, most)


@pytest.mark.parametrize(("table", "least", "most"), [(table, *size) for table, size in PER_ICU_STAY.items()])
def test_number_of_events_per_intensive_care_stay(table, least, most):
    found = Counter(row["icustay_id"] for row in DB[table])
    assert all(least <= found[stay] <= most for stay in ICU)


@pytest.mark.parametrize("table", TIMED)
def test_events_lie_within_their_stay(table):
    for row in DB[table]:
        stay, time = STAYS[row["hadm_id"]], row[TIMED[table]]
        end = row.get(ENDS.get(table, ""))
        assert time is None or stay["admittime"] <= time <= (stay["dischtime"] or CLOCK), row
        assert end is None or time <= end <= (stay["dischtime"] or CLOCK), row


@pytest.mark.parametrize("table", IN_ICU)
def test_intensive_care_events_lie_within_their_stay(table):
    for row in DB[table]:
        stay = ICU[row["icustay_id"]]
        assert stay["intime"] <= row["charttime"] <= (stay["outtime"] or CLOCK), row


def test_rows_of_a_stay_name_its_patient():
    for table, rows in DB.items():
        for row in rows:
            assert "hadm_id" not in row or row["subject_id"] == STAYS[row["hadm_id"]]["subject_id"], table
            if row.get("icustay_id") is not None:
                assert row["hadm_id"] == ICU[row["icustay_id"]]["hadm_id"], table


def test_stays_of_a_patient_do_not_overlap_and_death_follows_them():
    dod = {row["subject_id"]: row["dod"] for row in DB["patients"]}
    of = defaultdict(list)
    for row in sorted(STAYS.values(), key=lambda row: row["admittime"]):
        of[row["subject_id"]].append(row)
        assert "2100-01-01" <= row["admittime"] < (row["dischtime"] or CLOCK) <= CLOCK
        assert not dod[row["subject_id"]] or row["dischtime"] < dod[row["subject_id"]] <= CLOCK
    assert all(one["dischtime"] < other["admittime"] for rows in of.values() for one, other in pairwise(rows))
    ongoing = [row for row in STAYS.values() if row["dischtime"] is None]
    assert 8 <= len(ongoing) <= 13 and all(row["discharge_location"] is None for row in ongoing)


@pytest.mark.parametrize("database", ["mimic_iii", "eicu", "treqs"])
def test_values_are_missing_only_in_nullable_columns(database):
    rows = tables(database)
    for table, columns in Schema.of(database).tables.items():
        for column in columns:
            n_missing = sum(row[column.name] is None for row in rows[table])
            assert (n_missing > 0) == (column.rule == "?"), (table, column.name)
            assert n_missing < len(rows[table]), (table, column.name)
            assert all(row[column.name] != "" for row in rows[table])


@pytest.mark.parametrize(("table", "column"), [("labevents", "valuenum"), ("chartevents", "valueuom")])
def test_about_one_value_in_twenty_is_missing(table, column):
    assert 0.02 < sum(row[column] is None for row in DB[table]) / len(DB[table]) < 0.08


@pytest.mark.parametrize("database", ["mimic_iii", "eicu"])
def test_every_text_is_in_lower_case(database):
    assert not [
        value
        for rows in tables(database).values()
        for row in rows
        for value in row.values()
        if isinstance(value, str) and value != value.lower()
    ]


def test_costs_belong_to_one_row_each_and_sums_are_exact():
    charged = Counter((row["event_type"], row["event_id"]) for row in DB["cost"])
    assert charged == Counter((table, row["row_id"]) for table in COSTED for row in DB[table])
    of = {(table, row["row_id"]): row["hadm_id"] for table in COSTED for row in DB[table]}
    assert all(of[row["event_type"], row["event_id"]] == row["hadm_id"] for row in DB["cost"])
    volumes = [row["amount"] for row in DB["inputevents_cv"]] + [row["value"] for row in DB["outputevents"]]
    for value in (*(row["cost"] for row in DB["cost"]), *(value for value in volumes if value is not None)):
        assert value > 0 and (value * 4).is_integer()


def test_terms_follow_the_conventions():
    assert {row["gender"] for row in DB["patients"]} == {"m", "f"}
    assert {row["admission_type"] for row in STAYS.values()} == {"emergency", "urgent", "elective"}
    assert {row["linksto"] for row in DB["d_items"]} == set(IN_ICU)
    assert {row["eventtype"] for row in DB["transfers"]} == {"admit", "transfer", "discharge"}
    items = {row["itemid"]: row["linksto"] for row in DB["d_items"]}
    assert all(items[row["itemid"]] == table for table in IN_ICU for row in DB[table])


def test_rows_depend_on_the_seed_and_the_number_of_patients():
    assert Mimic(1, 5).write() == Mimic(1, 5).write() != Mimic(2, 5).write()
    assert len(Mimic(1, 12).write()["patients"]) == 12
