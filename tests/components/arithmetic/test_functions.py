import math
from datetime import date

import pytest

from components.arithmetic.functions import CONSTANTS, DATE_FUNCTIONS, FUNCTIONS, invalid, later, number, read_date
from components.core.errors import ToolError
from tests.table import each_row


@each_row(
    "name, given, expected",
    [
        ("min", (3, 1.5, 2), 1.5),
        ("max", ([3, 8, 2],), 8),
        ("sum", (1, 2, 3), 6),
        ("sum", ([0.1] * 10,), 1.0),
        ("abs", (-4,), 4),
        ("round", (2.346, 2), 2.35),
        ("round", (1234, -2), 1200),
        ("round", (2.5,), 2),
        ("sqrt", (81,), 9),
        ("exp", (0,), 1),
        ("log", (math.e,), 1),
        ("log", (8, 2), 3),
        ("ln", (1,), 0),
        ("log10", (1000,), 3),
        ("log2", (8,), 3),
        ("floor", (-1.5,), -2),
        ("ceil", (1.2,), 2),
        ("int", (-1.9,), -1),
        ("factorial", (5,), 120),
    ],
)
def test_each_function_computes(name, given, expected):
    assert FUNCTIONS[name](*given) == pytest.approx(expected)


def test_integers_stay_integers():
    assert isinstance(FUNCTIONS["round"](2.7), int) and isinstance(FUNCTIONS["sum"](1, 2), int)


@each_row(
    "name, given, message",
    [
        ("sqrt", ("9",), "sqrt needs numbers, found '9'"),
        ("min", (), "min needs at least one number"),
        ("max", ("abc",), "max needs numbers"),
        ("sum", ([1, "x"],), "sum needs numbers"),
        ("round", (1.5, 0.5), "whole number of digits"),
        ("round", (1.5, 99), "from -15 to 15"),
        ("factorial", (171,), "from 0 to 170"),
        ("factorial", (2.5,), "found 2.5"),
    ],
)
def test_wrong_arguments_are_named(name, given, message):
    with pytest.raises(ToolError, match=message) as caught:
        FUNCTIONS[name](*given)
    assert caught.value.label == "invalid_expression"


def test_a_yes_counts_as_one():
    assert number(True, "x") == 1 and CONSTANTS["pi"] == math.pi
    assert str(invalid("no")) == "no"


@each_row("text", ["02/29/2024", "2024-02-29", " 02/29/24 ", date(2024, 2, 29)])
def test_dates_are_read_in_each_form(text):
    assert read_date(text) == date(2024, 2, 29) == DATE_FUNCTIONS["date"](text)


@each_row("text", ["29.02.2024", "02/30/2024", "soon", 20240229])
def test_an_invalid_date_is_refused(text):
    with pytest.raises(ToolError, match="MM/DD/YYYY") as caught:
        read_date(text)
    assert caught.value.label == "invalid_expression"


def test_days_are_counted_over_leap_years():
    assert DATE_FUNCTIONS["days_between"]("2024-02-01", "2024-03-01") == 29
    assert DATE_FUNCTIONS["days_between"]("03/01/2023", "02/01/2023") == -28
    assert DATE_FUNCTIONS["add_days"]("12/31/2023", 60) == date(2024, 2, 29)


def test_a_date_moves_by_whole_days_within_the_calendar():
    with pytest.raises(ToolError, match=r"whole days, found 1\.5"):
        later(date(2024, 1, 1), 1.5)
    with pytest.raises(ToolError, match="outside the calendar"):
        later(date(2024, 1, 1), 1e7)
