"""The eICU-style rows keep the rules of the generator."""

import re
from collections import Counter, defaultdict
from itertools import pairwise

import pytest

from data_builders.ehr_mini.eicu_rows import Eicu
from tests.data_builders.ehr_mini.shipped import tables

CLOCK = "2105-12-31 23:59:00"
DB = tables("eicu")
UNITS = {row["patientunitstayid"]: row for row in DB["patient"]}
KEYS = {"diagnosis": "diagnosisid", "treatment": "treatmentid", "lab": "labid", "medication": "medicationid"}
TIMED = {
    "diagnosis": "diagnosistime", "treatment": "treatmenttime", "lab": "labresulttime", "medication": "drugstarttime",
    "allergy": "allergytime", "intakeoutput": "intakeoutputtime", "microlab": "culturetakentime",
    "vitalperiodic": "observationtime",
}  # fmt: skip


def test_there_are_a_hundred_patients_with_one_to_three_hospital_stays():
    stays = {row["patienthealthsystemstayid"]: row["uniquepid"] for row in UNITS.values()}
    per_patient = Counter(stays.values())
    assert len(per_patient) == 100 and set(per_patient.values()) == {1, 2, 3}
    assert all(re.fullmatch(r"\d{3}-\d{5}", name) for name in per_patient)
    assert set(Counter(row["patienthealthsystemstayid"] for row in UNITS.values()).values()) == {1, 2}


@pytest.mark.parametrize("table", TIMED)
def test_events_lie_within_their_unit_stay(table):
    for row in DB[table]:
        unit, time = UNITS[row["patientunitstayid"]], row[TIMED[table]]
        end = row.get("drugstoptime")
        assert time is None or unit["unitadmittime"] <= time <= _until(unit, "unit"), row
        assert end is None or (time or unit["unitadmittime"]) <= end <= _until(unit, "unit"), row


def _until(unit, kind):
    return unit[f"{kind}dischargetime"] or CLOCK


def test_unit_stays_are_consecutive_within_their_hospital_stay():
    of = defaultdict(list)
    for row in UNITS.values():
        assert row["hospitaladmittime"] <= row["unitadmittime"] < _until(row, "unit") <= _until(row, "hospital")
        of[row["uniquepid"]].append(row)
    for rows in of.values():
        ordered = sorted(rows, key=lambda row: row["unitadmittime"])
        assert all(_until(one, "unit") <= other["unitadmittime"] for one, other in pairwise(ordered))
        for one, other in pairwise(ordered):
            same = one["patienthealthsystemstayid"] == other["patienthealthsystemstayid"]
            assert same or _until(one, "hospital") < other["hospitaladmittime"]
        for name in ("gender", "ethnicity", "hospitalid", "admissionheight"):
            assert len({row[name] for row in rows}) == 1


def test_inpatients_have_no_status_and_expired_patients_no_later_stay():
    ongoing = [row for row in UNITS.values() if row["hospitaldischargetime"] is None]
    assert 8 <= len({row["uniquepid"] for row in ongoing}) <= 13
    assert all(row["hospitaldischargestatus"] is None for row in ongoing)
    assert {row["hospitaldischargestatus"] for row in UNITS.values()} == {"alive", "expired", None}
    last = {
        row["uniquepid"]: row["hospitaladmittime"]
        for row in sorted(UNITS.values(), key=lambda row: row["hospitaladmittime"])
    }
    expired = [row for row in UNITS.values() if row["hospitaldischargestatus"] == "expired"]
    assert all(row["hospitaladmittime"] == last[row["uniquepid"]] for row in expired)


def test_each_cost_belongs_to_one_row_and_a_stay_of_the_patient():
    charged = Counter((row["eventtype"], row["eventid"]) for row in DB["cost"])
    assert charged == Counter((table, row[key]) for table, key in KEYS.items() for row in DB[table])
    of = {(table, row[key]): row["patientunitstayid"] for table, key in KEYS.items() for row in DB[table]}
    for row in DB["cost"]:
        unit = UNITS[of[row["eventtype"], row["eventid"]]]
        assert row["uniquepid"] == unit["uniquepid"]
        assert row["patienthealthsystemstayid"] == unit["patienthealthsystemstayid"]
        assert (row["cost"] * 4).is_integer()


def test_volumes_are_quarters_and_their_path_gives_the_direction():
    for row in DB["intakeoutput"]:
        assert (row["cellvaluenumeric"] * 4).is_integer()
        assert ("intake" in row["cellpath"]) != ("output (ml)" in row["cellpath"])
        assert row["cellpath"].endswith(f"|{row['celllabel']}")


def test_vital_signs_except_temperature_are_integers():
    for row in DB["vitalperiodic"]:
        assert isinstance(row["sao2"], int | None) and isinstance(row["temperature"], float | None)
        assert row["sao2"] is None or row["sao2"] <= 100


def test_rows_depend_on_the_seed_and_the_number_of_patients():
    assert Eicu(1, 5).write() == Eicu(1, 5).write() != Eicu(2, 5).write()
