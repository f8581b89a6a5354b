import pytest

from components.core.errors import ToolError
from components.medcalc.registry import CALCULATORS

NORMAL = {
    "age": 40, "temperature": 37, "systolic": 120, "diastolic": 80, "heart_rate": 80, "respiratory_rate": 16,
    "fio2": 21, "pao2": 90, "ph": 7.4, "sodium": 140, "potassium": 4, "creatinine": 1, "hematocrit": 42,
    "white_cells": 8, "coma_score": 15,
}  # fmt: skip
LUNGS = {"pao2": 90, "fio2": 21, "platelets": 250, "bilirubin": 0.8}
COMORBID = {fact: True for fact, kind in CALCULATORS["charlson"].kinds.items() if kind is bool}


@pytest.mark.parametrize(
    "given,expected",
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


@pytest.mark.parametrize(
    "changed,expected",
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


@pytest.mark.parametrize(
    "changed,expected",
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


@pytest.mark.parametrize(
    "given,expected",
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
