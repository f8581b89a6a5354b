from datetime import date

import pytest

from components.arithmetic.dates import FUNCTIONS, later, read_date
from components.core.errors import ToolError


@pytest.mark.parametrize("text", ["02/29/2024", "2024-02-29", " 02/29/24 ", date(2024, 2, 29)])
def test_dates_are_read_in_each_form(text):
    assert read_date(text) == date(2024, 2, 29) == FUNCTIONS["date"](text)


@pytest.mark.parametrize("text", ["29.02.2024", "02/30/2024", "soon", 20240229])
def test_what_is_no_date_is_refused(text):
    with pytest.raises(ToolError, match="MM/DD/YYYY") as caught:
        read_date(text)
    assert caught.value.label == "invalid_expression"


def test_days_are_counted_over_leap_years():
    assert FUNCTIONS["days_between"]("2024-02-01", "2024-03-01") == 29
    assert FUNCTIONS["days_between"]("03/01/2023", "02/01/2023") == -28
    assert FUNCTIONS["add_days"]("12/31/2023", 60) == date(2024, 2, 29)


def test_a_date_moves_by_whole_days_within_the_calendar():
    with pytest.raises(ToolError, match=r"whole days, found 1\.5"):
        later(date(2024, 1, 1), 1.5)
    with pytest.raises(ToolError, match="outside the calendar"):
        later(date(2024, 1, 1), 1e7)
