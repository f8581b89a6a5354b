"""The task medcalc: eight standard formulas on invented patients.

Sources: Quetelet's index; Cockcroft and Gault 1976; mean pressure as diastolic plus a third of the pulse pressure;
Emmett and Narins 1977 (anion gap); Payne 1973 (calcium); Bazett 1920; Lip 2010 (CHA2DS2-VASc); Naegele's rule.
"""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from math import sqrt
from typing import Any

from data_builders.cab_mini.cab_records import SIZES, Record, record, table_of
from data_builders.facts import Facts

DATE = "%m/%d/%Y"
TOLERANCE = 0.05
Patient = Mapping[str, Any]
Phases = dict[str, list[Record]]


def bmi(patient: Patient) -> float:
    """Weight in kg over the square of height in m."""
    return float(patient["weight"] / (patient["height"] / 100) ** 2)


def cockcroft_gault(patient: Patient) -> float:
    """Creatinine clearance in mL/min from age, weight in kg and creatinine in mg/dL."""
    clearance = (140 - patient["age"]) * patient["weight"] / (72 * patient["creatinine"])
    return float(clearance * (0.85 if patient["sex"] == "woman" else 1))


def mean_arterial_pressure(patient: Patient) -> float:
    """Mean pressure in mmHg."""
    return float((patient["systolic"] + 2 * patient["diastolic"]) / 3)


def anion_gap(patient: Patient) -> float:
    """Sodium less chloride and bicarbonate, in mmol/L."""
    return float(patient["sodium"] - patient["chloride"] - patient["bicarbonate"])


def corrected_calcium(patient: Patient) -> float:
    """Calcium in mg/dL at an albumin of 4.0 g/dL."""
    return float(patient["calcium"] + 0.8 * (4.0 - patient["albumin"]))


def qtc_bazett(patient: Patient) -> float:
    """QT in ms over the root of the RR interval in seconds."""
    return float(patient["qt"] / sqrt(60 / patient["rate"]))


def cha2ds2_vasc(patient: Patient) -> int:
    """Points for stroke risk, 0 to 9."""
    points = {"heart_failure": 1, "hypertension": 1, "diabetes": 1, "vascular": 1, "stroke": 2}
    age = 2 if patient["age"] >= 75 else 1 if patient["age"] >= 65 else 0
    return age + int(patient["sex"] == "woman") + sum(points[name] for name in patient["has"])


def due_date(patient: Patient) -> str:
    """The day 280 days after the last period began."""
    return (datetime.strptime(patient["last_period"], DATE) + timedelta(days=280)).strftime(DATE)


FORMULAS: dict[str, Callable[[Patient], float | int | str]] = {
    one.__name__: one
    for one in (
        bmi, cockcroft_gault, mean_arterial_pressure, anion_gap, corrected_calcium, qtc_bazett, cha2ds2_vasc, due_date,
    )
}  # fmt: skip


def medcalc(facts: Facts) -> Phases:
    """Patients of every formula in turn; ``facts`` is not needed."""
    table = table_of("text_calculations.yaml")
    return {
        phase: [_calculation(name, formula, patient) for name, formula in table.items() for patient in formula[phase]]
        for phase in SIZES
    }


def _calculation(name: str, formula: Mapping[str, Any], patient: Patient) -> Record:
    value = FORMULAS[name](patient)
    made = record([formula["question"].format(**patient)], _gold(value, formula["digits"]))
    return made | {"inputs": formula["note"].format(**patient)}


def _gold(value: float | int | str, digits: int) -> dict[str, str]:
    """The eval block: decimals within 5 percent, whole numbers and dates exact."""
    if isinstance(value, float):
        answer = round(value, digits)
        low, high = (round(answer * (1 + sign * TOLERANCE), 4) for sign in (-1, 1))
        return {"answer": str(answer), "Output Type": "decimal", "Low Limit": str(low), "Upper Limit": str(high)}
    kind = "integer" if isinstance(value, int) else "date"
    return {"answer": str(value), "Output Type": kind, "Low Limit": str(value), "Upper Limit": str(value)}
