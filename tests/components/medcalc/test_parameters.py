from datetime import date
from typing import Annotated

import pytest

from components.core.errors import ToolError
from components.medcalc.parameters import (
    PH,
    Albumin,
    Cells,
    Celsius,
    Coma,
    Creatinine,
    Hemoglobin,
    Inr,
    Kilograms,
    Percent,
    Quantity,
    Sex,
    Years,
    described,
    kind_of,
    read,
)


@pytest.mark.parametrize(
    "kind,value,expected",
    [
        (Years, 60, 60),
        (Years, "18 months", 1.5),
        (Creatinine, "1.2", 1.2),
        (Creatinine, "88.4 umol/L", 1.0),
        (Creatinine, "1.2 mg/dL", 1.2),
        (Albumin, "35 g/L", 3.5),
        (Hemoglobin, "8.0 mmol/L", 12.89),
        (Cells, "181000 /uL", 181),
        (Kilograms, "150 lbs", 68.04),
        (Celsius, "100.4 degrees Fahrenheit", 38),
        (Percent, "97 %", 97),
        (Coma, "13 points", 13),
        (Inr, "2.1", 2.1),
    ],
)
def test_quantities_are_read_in_their_unit(kind, value, expected):
    assert read("x", kind, value) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(
    "kind,value,said",
    [
        (Creatinine, "high", r"x must be a number in mg/dL, found 'high'"),
        (Creatinine, True, "must be a number in mg/dL"),
        (PH, [7], "must be a number in no unit"),
        (Inr, "2 mg", "different things"),
        (Celsius, 100.4, "between 10 and 50 °C, found 100.4; check the unit"),
        (Cells, 181000, "between 0 and 5000 10.9/L"),
        (Years, -1, "between 0 and 130 years"),
        (Sex, "m", "one of 'male', 'female', found 'm'"),
        (bool, "maybe", "True or False, found 'maybe'"),
        (bool, 2, "True or False, found 2"),
        (int, 1.5, "whole number, found 1.5"),
        (date, "soon", "is not a date"),
    ],
)
def test_wrong_arguments_say_what_is_right(kind, value, said):
    with pytest.raises(ToolError, match=said) as caught:
        read("x", kind, value)
    assert caught.value.label == "invalid_expression"


@pytest.mark.parametrize("value,expected", [("Yes", True), ("absent", False), (1, True), (False, False)])
def test_facts_are_yes_or_no(value, expected):
    assert read("x", bool, value) is expected


def test_words_dates_and_counts_are_read():
    assert read("x", Sex, " Female ") == "female"
    assert read("x", date, "2024-02-29") == date(2024, 2, 29)
    assert read("x", int, 3.0) == 3


def test_cards_name_each_kind():
    assert described(Sex) == "'male' | 'female'"
    assert described(Creatinine | None) == "mg/dL" and kind_of(Creatinine | None) == Creatinine
    assert [described(kind) for kind in (bool, date, int, Inr)] == [
        "True | False", "'MM/DD/YYYY'", "whole number", "number",
    ]  # fmt: skip
    assert described(Annotated[float, Quantity("mL/day", 0, 1)]) == "mL/day"
