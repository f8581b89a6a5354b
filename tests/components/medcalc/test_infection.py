import pytest

from components.medcalc.registry import CALCULATORS

WELL = {"heart_rate": 80, "respiratory_rate": 16, "temperature": 37}


@pytest.mark.parametrize(
    "name,given,expected",
    [
        ("centor", {"age": 20, "temperature": 38, "cough": True}, 0),
        ("centor", {"age": 14, "temperature": 38.1, "tender_lymph_nodes": True, "tonsil_exudate": True}, 5),
        ("centor", {"age": 45, "temperature": 37, "cough": True}, -1),
        ("centor", {"age": 2, "temperature": "101 F"}, 2),
        ("fever_pain", {}, 0),
        ("fever_pain", {"fever_24_hours": True, "purulent_tonsils": True, "onset_within_3_days": True}, 3),
        ("fever_pain", {"cough_and_coryza_absent": True, "severe_tonsil_inflammation": True}, 2),
        ("sirs", {**WELL, "white_cells": 12}, 0),
        ("sirs", {**WELL, "white_cells": "3500 /uL", "paco2": 31}, 2),
        ("sirs", {"heart_rate": 91, "respiratory_rate": 21, "temperature": 35.9, "white_cells": 13}, 4),
        (
            "curb65",
            {"age": 64, "urea_nitrogen": 19, "respiratory_rate": 29, "systolic": 90, "diastolic": 61},
            0,
        ),
        (
            "curb65",
            {
                "age": 65, "urea_nitrogen": "7.5 mmol/L", "respiratory_rate": 30, "systolic": 120, "diastolic": 60,
                "confusion": True,
            },
            5,
        ),
        ("pneumonia_severity_index", {**WELL, "sex": "male", "age": 50, "systolic": 120}, 50),
        (
            "pneumonia_severity_index",
            {
                **WELL, "sex": "female", "age": 80, "systolic": 89, "ph": 7.3, "pao2": 59, "glucose": 250,
                "nursing_home": True,
            },
            150,  # 80 - 10 + 20 + 30 + 10 + 10 + 10
        ),
        (
            "pneumonia_severity_index",
            {
                "sex": "male", "age": 60, "heart_rate": 125, "respiratory_rate": 30, "systolic": 90, "temperature": 40,
                "urea_nitrogen": 30, "sodium": 129, "hematocrit": 29, "neoplastic_disease": True,
                "liver_disease": True, "heart_failure": True, "cerebrovascular_disease": True, "renal_disease": True,
                "altered_mental_status": True, "pleural_effusion": True,
            },
            60 + 10 + 20 + 15 + 20 + 20 + 10 + 30 + 20 + 10 + 10 + 10 + 20 + 10,
        ),
    ],
)  # fmt: skip
def test_infection_scores(name, given, expected):
    assert CALCULATORS[name](**given) == expected
