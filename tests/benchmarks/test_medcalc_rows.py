import pytest

from benchmarks.medcalc.rows import Row, agrees, arguments, read_rows
from components.core.errors import ConfigError
from components.medcalc.calculators import CALCULATORS
from tests.benchmarks.medcalc_folder import AGE, PRESSURE, row, write
from tests.table import each_row


def test_each_part_is_read(tmp_path):
    write(tmp_path, [row(5, PRESSURE, "100", "95", "105")])
    assert [one.entities for one in read_rows(tmp_path, "test")] == [PRESSURE]
    ages = [one.answer for one in read_rows(tmp_path, "one_shot")]
    assert ages == ["100.0", "('4 weeks', '3 days')"]
    worked = list(read_rows(tmp_path, "worked"))
    assert [one.entities for one in worked] == [PRESSURE, AGE]
    assert (worked[0].answer, worked[0].lower, worked[0].upper) == ("100.0", "95", "105")
    assert worked[1].answer == "('4 weeks', '3 days')"


def test_unreadable_rows_are_refused_with_their_place(tmp_path):
    with pytest.raises(ConfigError, match=r"no data file .*test_data\.csv; set CLINICAL_DATA_DIR"):
        list(read_rows(tmp_path, "test"))
    write(tmp_path, [row(5, PRESSURE, "100") | {"Relevant Entities": "open('x')"}])
    with pytest.raises(ConfigError, match=r"test_data\.csv row 1: not a row of MedCalc-Bench"):
        list(read_rows(tmp_path, "test"))
    (tmp_path / "medcalc_bench/evaluation/one_shot_finalized_explanation.json").write_text('{"5": {}}')
    with pytest.raises(ConfigError, match="'input_parameters' is missing"):
        list(read_rows(tmp_path, "worked"))


@each_row(
    "name,entities,expected",
    [
        ("mean_arterial_pressure", PRESSURE, {"systolic": "120.0 mm hg", "diastolic": "90.0 mm hg"}),
        ("gestational_age", AGE, {"last_period": "01/01/2023", "current_date": "02/01/2023"}),
        ("centor", {"Cough Absent": False, "Temperature": [99, "degrees fahreinheit"]}, {"cough": True, "temperature": "99 fahrenheit"}),
        ("centor", {"Cough Absent": True}, {"cough": False}),
        ("sofa", {"On mechanical ventilation": True, "Continous positive airway pressure": False}, {"respiratory_support": True}),
        ("sofa", {"Hypotension": True, "Platelet count": [9e4, "µL"]}, {"platelets": "90000.0 /µL"}),
        ("charlson", {"Solid tumor": True, "Liver disease severity": "Severe"}, {"solid_tumor": "localized", "liver_disease": "moderate to severe"}),
        ("charlson", {"Solid tumor": False, "Chronic Pulmonary Disease": True}, {"copd": True}),
        ("heart_score", {"Transient Ischemic Attacks History": True, "atherosclerotic disease": False}, {"atherosclerotic_disease": True}),
        ("cha2ds2_vasc", {"Transient Ischemic Attacks History": True}, {"tia": True}),
        ("child_pugh", {"Encephalopathy": "No Encephalopathy", "international normalized ratio": 2.1}, {"encephalopathy": "none", "inr": 2.1}),
        (
            "steroid_conversion",
            {"input steroid": ["Cortisone PO", 50, "mg"], "target steroid": "PredniSONE PO"},
            {"dose": "50 mg", "steroid": "cortisone", "target": "prednisone"},
        ),
        (
            "morphine_milligram_equivalents",
            {"FentaNYL buccal Dose": [20, "µg"], "FentaNYL buccal Dose Per Day": [3, "per day"]},
            {"fentanyl_buccal": "60 µg"},
        ),
    ],
)  # fmt: skip
def test_entities_become_arguments(name, entities, expected):
    assert arguments(CALCULATORS[name], entities) == expected


def test_an_unknown_entity_is_refused():
    with pytest.raises(ConfigError, match="mdrd: no argument stands for the entity 'Mood'"):
        arguments(CALCULATORS["mdrd"], {"Mood": "low"})


@each_row(
    "limits,value,shown,expected",
    [
        (("9.5", "10.5"), 9.5, "9.5", True),
        (("9.5", "10.5"), 10.5, "10.5", True),
        (("9.5", "10.5"), 10.6, "10.6", False),
        (("10", "10"), "10", "10", False),
        (("01/02/2023", "01/02/2023"), "", "01/02/2023", True),
        (("01/02/2023", "01/02/2023"), "", "01/03/2023", False),
    ],
)
def test_limits_are_inclusive_and_dates_equal(limits, value, shown, expected):
    assert agrees(Row("x", 5, {}, "01/02/2023", *limits), value, shown) is expected


def test_a_gestational_age_is_equal_without_its_quotes():
    ages = "('4 weeks', '3 days')"
    assert agrees(Row("x", 69, {}, ages, ages, ages), "", "(4 weeks, 3 days)")
