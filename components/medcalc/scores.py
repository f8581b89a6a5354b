"""Scores as tables of points, and APACHE II, which refuses what it cannot do without."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

from components.arithmetic.evaluate import evaluate
from components.arithmetic.functions import FUNCTIONS, Value, invalid, number
from components.medcalc.formulas import mean_arterial_pressure

Points: TypeAlias = float | Mapping[float | str, int]
Table: TypeAlias = Mapping[str, Points]  # expression -> what it adds


def steps(value: float, points: Mapping[float, int], below: int) -> int:
    """The points of the highest bound that the value reaches, ``below`` under all of them."""
    return next((points[bound] for bound in sorted(points, reverse=True) if value >= bound), below)


def total(points: Table, arguments: Mapping[str, Value]) -> float:
    """The sum of a table's lines, whose forms ``calculators.yaml`` describes."""
    found: float = 0
    for line, added in points.items():
        value = evaluate(line, FUNCTIONS, arguments)
        if not isinstance(added, Mapping):
            found += number(value, "points") * added
        elif isinstance(value, str):
            found += added[value]
        else:
            bounds = {bound: step for bound, step in added.items() if not isinstance(bound, str)}
            found += steps(number(value, "points"), bounds, added["below"])
    return found


def apache_ii(
    age: float,
    temperature: float,
    systolic: float,
    diastolic: float,
    heart_rate: float,
    respiratory_rate: float,
    fio2: float,
    ph: float,
    sodium: float,
    potassium: float,
    creatinine: float,
    hematocrit: float,
    white_cells: float,
    coma_score: float,
    pao2: float | None = None,
    a_a_gradient: float | None = None,
    acute_renal_failure: bool = False,
    organ_failure_or_immunocompromise: bool = False,
    surgery: Literal["nonoperative", "emergency", "elective"] = "nonoperative",
) -> int:
    """APACHE II score, 0 to 71 points; oxygenation is judged by the A-a gradient from an FiO2 of 50 % on, else by PaO2;
    points of creatinine count twice in acute renal failure. Source: Knaus et al. 1985."""
    pressure = mean_arterial_pressure(systolic, diastolic)
    points = steps(age, {45: 2, 55: 3, 65: 5, 75: 6}, 0) + 15 - round(coma_score)
    if fio2 >= 50:
        if a_a_gradient is None:
            raise invalid("apache_ii needs a_a_gradient when fio2 is 50 % or more")
        points += steps(a_a_gradient, {200: 2, 350: 3, 500: 4}, 0)
    else:
        if pao2 is None:
            raise invalid("apache_ii needs pao2 when fio2 is below 50 %")
        points += 0 if pao2 > 70 else steps(pao2, {55: 3, 61: 1}, 4)
    points += steps(temperature, {30: 3, 32: 2, 34: 1, 36: 0, 38.5: 1, 39: 3, 41: 4}, 4)
    points += steps(pressure, {50: 2, 70: 0, 110: 2, 130: 3, 160: 4}, 4)
    points += steps(heart_rate, {40: 3, 55: 2, 70: 0, 110: 2, 140: 3, 180: 4}, 4)
    points += steps(respiratory_rate, {6: 2, 10: 1, 12: 0, 25: 1, 35: 3, 50: 4}, 4)
    points += steps(ph, {7.15: 3, 7.25: 2, 7.33: 0, 7.5: 1, 7.6: 3, 7.7: 4}, 4)
    points += steps(sodium, {111: 3, 120: 2, 130: 0, 150: 1, 155: 2, 160: 3, 180: 4}, 4)
    points += steps(potassium, {2.5: 2, 3: 1, 3.5: 0, 5.5: 1, 6: 3, 7: 4}, 4)
    points += steps(creatinine, {0.6: 0, 1.5: 2, 2: 3, 3.5: 4}, 2) * (2 if acute_renal_failure else 1)
    points += steps(hematocrit, {20: 2, 30: 0, 46: 1, 50: 2, 60: 4}, 4)
    points += steps(white_cells, {1: 2, 3: 0, 15: 1, 20: 2, 40: 4}, 4)
    if organ_failure_or_immunocompromise:
        points += 2 if surgery == "elective" else 5
    return points
