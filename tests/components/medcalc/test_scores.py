import pytest

from components.core.errors import ToolError
from components.medcalc.calculators import CALCULATORS
from tests.table import each_row


@each_row(
    "name, given, expected",
    [
        ("cha2ds2_vasc", {"sex": "male", "age": 64}, 0),
        ("cha2ds2_vasc", {"sex": "female", "age": 65, "hypertension": True, "tia": True, "stroke": True}, 5),
        (
            "cha2ds2_vasc",
            {
                "sex": "female", "age": 75, "heart_failure": True, "hypertension": True, "diabetes": True,
                "thromboembolism": True, "vascular_disease": True,
            },
            9,
        ),
        ("has_bled", {"age": 65}, 0),
        ("has_bled", {"age": 66, "drinks_per_week": 8, "labile_inr": True}, 3),
        (
            "has_bled",
            {
                "age": 80, "drinks_per_week": 7, "hypertension": True, "renal_disease": True, "liver_disease": True,
                "stroke": True, "prior_bleeding": True, "bleeding_medication": True,
            },
            7,
        ),
        ("revised_cardiac_risk_index", {}, 0),
        ("revised_cardiac_risk_index", {"creatinine": 2.0, "insulin_treatment": True}, 1),
        (
            "revised_cardiac_risk_index",
            {
                "creatinine": "200 umol/L", "elevated_risk_surgery": True, "ischemic_heart_disease": True,
                "heart_failure": True, "cerebrovascular_disease": True,
            },
            5,
        ),
        ("heart_score", {"age": 44}, 0),
        ("heart_score", {"age": 45, "smoking": True, "obesity": True}, 2),
        ("heart_score", {"age": 30, "hypertension": True, "diabetes": True, "family_history": True}, 2),
        ("heart_score", {"age": 30, "atherosclerotic_disease": True, "hypercholesterolemia": True}, 2),
        (
            "heart_score",
            {
                "age": 65, "history": "Highly suspicious", "ecg": "significant ST deviation", "troponin": ">3x normal",
                "atherosclerotic_disease": True,
            },
            10,
        ),
        (
            "heart_score",
            {
                "age": 20, "history": "moderately suspicious", "troponin": "1-3x normal",
                "ecg": "non-specific repolarization disturbance",
            },
            3,
        ),
    ],
)  # fmt: skip
def test_cardiac_scores(name, given, expected):
    assert CALCULATORS[name](**given) == expected


NAMES = ["qtc_bazett", "qtc_fridericia", "qtc_framingham", "qtc_hodges", "qtc_rautaharju"]


@each_row("name", NAMES)
def test_at_sixty_beats_the_interval_stays(name):
    assert CALCULATORS[name](qt=400, heart_rate=60) == pytest.approx(400)


@each_row(
    "name, qt, heart_rate, expected",
    [
        ("qtc_bazett", 200, 240, 400),
        ("qtc_fridericia", 300, 60 / 0.216, 500),
        ("qtc_framingham", 400, 120, 477),
        ("qtc_hodges", 400, 100, 470),
        ("qtc_rautaharju", 300, 150, 450),
    ],
)
def test_faster_hearts_are_corrected(name, qt, heart_rate, expected):
    assert CALCULATORS[name](qt=qt, heart_rate=heart_rate) == pytest.approx(expected)


WELL = {"heart_rate": 80, "respiratory_rate": 16, "temperature": 37}


@each_row(
    "name, given, expected",
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


NORMAL = {
    "age": 40, "temperature": 37, "systolic": 120, "diastolic": 80, "heart_rate": 80, "respiratory_rate": 16,
    "fio2": 21, "pao2": 90, "ph": 7.4, "sodium": 140, "potassium": 4, "creatinine": 1, "hematocrit": 42,
    "white_cells": 8, "coma_score": 15,
}  # fmt: skip
LUNGS = {"pao2": 90, "fio2": 21, "platelets": 250, "bilirubin": 0.8}
COMORBID = {fact: True for fact, kind in CALCULATORS["charlson"].kinds.items() if kind is bool}


@each_row(
    "given, expected",
    [
        ({}, 15),
        ({"eye": "no eye opening", "verbal": "no verbal response", "motor": "no motor response"}, 3),
        ({"eye": "eye opening to pain", "verbal": "inappropriate words", "motor": "withdrawal from pain"}, 9),
        ({"eye": "not testable", "verbal": "Confused", "motor": "Localizes pain"}, 13),
        ({"eye": "eye opening to verbal command", "verbal": "incomprehensible sounds", "motor": "flexion to pain"}, 8),
        ({"motor": "extension to pain", "verbal": "not testable"}, 11),
    ],
)
def test_coma_score(given, expected):
    assert CALCULATORS["glasgow_coma_score"](**given) == expected


@each_row(
    "changed, expected",
    [
        ({}, 0),
        ({"age": 54, "coma_score": 10}, 7),
        ({"age": 75, "temperature": 39.5, "heart_rate": 150}, 12),
        ({"temperature": 29, "systolic": 60, "diastolic": 30}, 8),
        ({"systolic": 200, "diastolic": 140, "respiratory_rate": 30, "ph": 7.2}, 8),
        ({"pao2": 65}, 1),
        ({"pao2": 57}, 3),
        ({"pao2": 50}, 4),
        ({"fio2": 50, "a_a_gradient": 199}, 0),
        ({"fio2": 60, "a_a_gradient": 350}, 3),
        ({"sodium": 119, "potassium": 6.5, "hematocrit": 25, "white_cells": 2}, 10),
        ({"creatinine": 0.5}, 2),
        ({"creatinine": 2.5}, 3),
        ({"creatinine": 2.5, "acute_renal_failure": True}, 6),
        ({"organ_failure_or_immunocompromise": True}, 5),
        ({"organ_failure_or_immunocompromise": True, "surgery": "elective"}, 2),
    ],
)
def test_apache_adds_what_departs_from_normal(changed, expected):
    assert CALCULATORS["apache_ii"](**{**NORMAL, **changed}) == expected


def test_apache_needs_the_oxygenation_that_decides():
    with pytest.raises(ToolError, match="needs a_a_gradient"):
        CALCULATORS["apache_ii"](**{**NORMAL, "fio2": 50})
    with pytest.raises(ToolError, match="needs pao2"):
        CALCULATORS["apache_ii"](**{name: value for name, value in NORMAL.items() if name != "pao2"})


@each_row(
    "changed, expected",
    [
        ({}, 0),
        ({"pao2": 63}, 1),  # 300
        ({"pao2": 40, "fio2": 50}, 2),  # 80, without support
        ({"pao2": 40, "fio2": 50, "respiratory_support": True}, 4),
        ({"platelets": "90000 /uL", "bilirubin": 6, "coma_score": 5}, 9),
        ({"creatinine": 3.5}, 3),
        ({"creatinine": 1.5, "urine_output": 450}, 3),
        ({"urine_output": 150}, 4),
        ({"urine_output": 900}, 0),
        ({"systolic": 80, "diastolic": 60}, 1),
        ({"systolic": 110, "diastolic": 70}, 0),
        ({"dopamine": 5}, 2),
        ({"dobutamine": 1, "systolic": 80, "diastolic": 60}, 2),
        ({"dopamine": 6}, 3),
        ({"norepinephrine": 0.1}, 3),
        ({"epinephrine": 0.11}, 4),
        ({"dopamine": 16}, 4),
    ],
)
def test_sofa_adds_what_fails(changed, expected):
    assert CALCULATORS["sofa"](**{**LUNGS, **changed}) == expected


@each_row(
    "given, expected",
    [
        ({"age": 49}, 0),
        ({"age": 50, "stroke": True, "tia": True}, 2),
        ({"age": 80, "liver_disease": "mild", "diabetes": "Uncomplicated", "solid_tumor": "localized"}, 8),
        ({"age": 65, "liver_disease": "moderate to severe", "diabetes": "end-organ damage"}, 7),
        # 8 of 1 point (stroke and TIA together), 4 of 2, AIDS 6, metastatic tumor 6
        ({"age": 40, **COMORBID, "solid_tumor": "metastatic"}, 8 + 8 + 6 + 6),
    ],
)
def test_charlson_adds_comorbidity_and_age(given, expected):
    assert CALCULATORS["charlson"](**given) == expected


EVERY = {
    name: {fact: True for fact, kind in CALCULATORS[name].kinds.items() if kind is bool}
    for name in ("wells_pe", "wells_dvt", "perc", "caprini")
}


@each_row(
    "name, given, expected",
    [
        ("wells_pe", {"heart_rate": 100}, 0),
        ("wells_pe", {"heart_rate": 101, "previous_dvt": True, "surgery_4_weeks": True, "hemoptysis": True}, 5.5),
        ("wells_pe", {"heart_rate": 120, **EVERY["wells_pe"]}, 12.5),
        ("wells_dvt", {}, 0),
        ("wells_dvt", {"other_diagnosis_likely": True}, -2),
        ("wells_dvt", {"bedridden_3_days": True, "surgery_12_weeks": True, "calf_swelling": True}, 2),
        ("wells_dvt", {**EVERY["wells_dvt"], "other_diagnosis_likely": False}, 9),
        ("perc", {"age": 49, "heart_rate": 99, "oxygen_saturation": 95}, 0),
        ("perc", {"age": 50, "heart_rate": 100, "oxygen_saturation": 94, **EVERY["perc"]}, 8),
        ("caprini", {"age": 40}, 0),
        ("caprini", {"age": 60, "surgery": "minor", "mobility": "on bed rest", "body_mass_index": 24.9}, 3),
        ("caprini", {"age": 74, "surgery": "laparoscopic", "previous_dvt": True, "previous_pe": True}, 7),
        ("caprini", {"age": 75, "surgery": "arthroplasty", "mobility": "confined to bed >72 hours"}, 10),
        ("caprini", {"age": 75, "stroke": True, "malignancy": True, "body_mass_index": 25}, 11),
        # 5 events of 1, 4 of 5, 5 other of 1, 2 of 2, 9 of 3 (DVT and PE together)
        ("caprini", {"age": 30, **EVERY["caprini"]}, 5 + 20 + 5 + 4 + 27),
    ],
)
def test_thrombosis_scores(name, given, expected):
    assert CALCULATORS[name](**given) == expected
