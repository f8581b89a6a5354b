"""Dates of a pregnancy, from the last menstrual period (dates as MM/DD/YYYY)."""

from datetime import date
from typing import Annotated

from components.arithmetic.functions import invalid, later
from components.medcalc.calculator import Calculator
from components.medcalc.parameters import Quantity

CycleDays = Annotated[float, Quantity("days", 15, 60)]


def due_date(last_period: date, cycle_length: CycleDays = 28) -> date:
    """Estimated due date: 280 days, and what the cycle differs from 28 days. Source: Naegele's rule."""
    return later(last_period, 280 + round(cycle_length) - 28)


def conception_date(last_period: date) -> date:
    """Estimated date of conception: 14 days after the first day of the last period."""
    return later(last_period, 14)


def gestational_age(last_period: date, current_date: date) -> str:
    """Gestational age as '(14 weeks, 1 days)', counted from the first day of the last period."""
    days = (current_date - last_period).days
    if days < 0:
        raise invalid(f"the current date {current_date} is before the last period {last_period}")
    return f"({days // 7} weeks, {days % 7} days)"


CALCULATORS = (
    Calculator(13, "Estimated Due Date", due_date),
    Calculator(68, "Estimated Date of Conception", conception_date),
    Calculator(69, "Estimated Gestational Age", gestational_age),
)
