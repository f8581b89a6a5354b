from datetime import date

import pytest

from components.core.errors import ToolError
from components.medcalc.registry import CALCULATORS


def test_the_due_date_follows_naegele_and_the_cycle():
    due = CALCULATORS["due_date"]
    assert due(last_period="01/01/2023") == date(2023, 10, 8)
    assert due(last_period="01/01/2023", cycle_length=30) == date(2023, 10, 10)
    assert due(last_period="2023-01-01", cycle_length=25) == date(2023, 10, 5)


def test_conception_is_two_weeks_after_the_period_began():
    assert CALCULATORS["conception_date"](last_period="02/20/2024") == date(2024, 3, 5)


def test_gestational_age_is_in_weeks_and_days():
    age = CALCULATORS["gestational_age"]
    assert age(last_period="01/01/2023", current_date="02/01/2023") == "(4 weeks, 3 days)"
    with pytest.raises(ToolError, match="before the last period"):
        age(last_period="02/01/2023", current_date="01/01/2023")
