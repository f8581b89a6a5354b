from datetime import date

import pytest

from components.core.errors import ToolError
from components.medcalc.calculators import QUANTITIES, describe, read_argument
from tests.table import each_row

SEX = ("male", "female")


def kind(name):
    return QUANTITIES.get(name, {"sex": SEX, "date": date, "fact": bool}.get(name))


@each_row(
    "name, value, expected",
    [
        ("age", 60, 60),
        ("age", "18 months", 1.5),
        ("creatinine", "1.2", 1.2),
        ("creatinine", "88.4 umol/L", 1.0),
        ("creatinine", "1.2 mg/dL", 1.2),
        ("albumin", "35 g/L", 3.5),
        ("hemoglobin", "8.0 mmol/L", 12.89),
        ("platelets", "181000 /uL", 181),
        ("weight", "150 lbs", 68.04),
        ("temperature", "100.4 degrees Fahrenheit", 38),
        ("oxygen_saturation", "97 %", 97),
        ("coma_score", "13 points", 13),
        ("inr", "2.1", 2.1),
    ],
)
def test_quantities_are_read_in_their_unit(name, value, expected):
    assert read_argument(name, kind(name), value) == pytest.approx(expected, rel=1e-3)


@each_row(
    "name, value, message",
    [
        ("creatinine", "high", r"creatinine must be a number in mg/dL, found 'high'"),
        ("creatinine", True, "must be a number in mg/dL"),
        ("ph", [7], "must be a number in no unit"),
        ("inr", "2 mg", "different things"),
        ("temperature", 100.4, "between 10 and 50 °C, found 100.4; check the unit"),
        ("white_cells", 181000, "between 0 and 5000 10.9/L"),
        ("age", -1, "between 0 and 130 years"),
        ("sex", "m", "one of 'male', 'female', found 'm'"),
        ("fact", "maybe", "True or False, found 'maybe'"),
        ("fact", 2, "True or False, found 2"),
        ("date", "soon", "is not a date"),
    ],
)
def test_wrong_arguments_say_what_is_right(name, value, message):
    with pytest.raises(ToolError, match=message) as caught:
        read_argument(name, kind(name), value)
    assert caught.value.label == "invalid_expression"


@each_row("value, expected", [("Yes", True), ("absent", False), (1, True), (False, False)])
def test_facts_hold_or_not(value, expected):
    assert read_argument("fact", bool, value) is expected


def test_choices_and_dates_are_read():
    assert read_argument("sex", SEX, " Female ") == "female"
    assert read_argument("date", date, "2024-02-29") == date(2024, 2, 29)


def test_cards_name_each_kind():
    kinds = [SEX, bool, date, QUANTITIES["inr"], QUANTITIES["creatinine"]]
    assert [describe(one) for one in kinds] == [
        "'male' | 'female'", "True | False", "'MM/DD/YYYY'", "number", "mg/dL",
    ]  # fmt: skip
