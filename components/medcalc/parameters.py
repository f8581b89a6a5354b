"""The kinds of arguments that clinical calculators take, and how they are read.

A quantity is a number in the parameter's unit, or a text with a unit of its own ("120 umol/L"), which is
converted. Yes-or-no facts default to no, as in MedCalc-Bench: what a note does not mention is absent.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from components.arithmetic.functions import Value, invalid, read_date
from components.arithmetic.units import convert


@dataclass(frozen=True)
class Quantity:
    """A number in ``unit`` from ``low`` to ``high``; ``substance`` lets mass, amount and charge be converted."""

    unit: str
    low: float
    high: float
    substance: str = ""


Sex = Literal["male", "female"]
Years = Annotated[float, Quantity("years", 0, 130)]
Kilograms = Annotated[float, Quantity("kg", 0.2, 700)]
Centimetres = Annotated[float, Quantity("cm", 20, 280)]
BodyMass = Annotated[float, Quantity("kg/m^2", 5, 200)]
Pressure = Annotated[float, Quantity("mmHg", 0, 800)]
PerMinute = Annotated[float, Quantity("beats/min", 1, 400)]
Breaths = Annotated[float, Quantity("breaths/min", 0, 150)]
Milliseconds = Annotated[float, Quantity("ms", 50, 2000)]
Celsius = Annotated[float, Quantity("°C", 10, 50)]
Percent = Annotated[float, Quantity("%", 0, 100)]
Inr = Annotated[float, Quantity("", 0.1, 50)]
InspiredOxygen = Annotated[float, Quantity("%", 15, 100)]
PH = Annotated[float, Quantity("", 6, 8.5)]
Coma = Annotated[float, Quantity("points", 3, 15)]
Creatinine = Annotated[float, Quantity("mg/dL", 0.01, 500, "creatinine")]
Bilirubin = Annotated[float, Quantity("mg/dL", 0, 100, "bilirubin")]
Albumin = Annotated[float, Quantity("g/dL", 0.1, 10, "albumin")]
Calcium = Annotated[float, Quantity("mg/dL", 1, 30, "calcium")]
Sodium = Annotated[float, Quantity("mEq/L", 1, 400, "sodium")]
Potassium = Annotated[float, Quantity("mEq/L", 0.5, 15, "potassium")]
Chloride = Annotated[float, Quantity("mEq/L", 20, 250, "chloride")]
Bicarbonate = Annotated[float, Quantity("mEq/L", 0, 80, "bicarbonate")]
Glucose = Annotated[float, Quantity("mg/dL", 1, 3000, "glucose")]
UreaNitrogen = Annotated[float, Quantity("mg/dL", 0, 400, "bun")]
Cholesterol = Annotated[float, Quantity("mg/dL", 1, 2000, "cholesterol")]
Triglycerides = Annotated[float, Quantity("mg/dL", 1, 20_000, "triglycerides")]
Hemoglobin = Annotated[float, Quantity("g/dL", 0.5, 30, "hemoglobin")]
Insulin = Annotated[float, Quantity("uIU/mL", 0, 5000, "insulin")]
Enzyme = Annotated[float, Quantity("U/L", 1, 50_000)]
Cells = Annotated[float, Quantity("10^9/L", 0, 5000)]
Milligrams = Annotated[float, Quantity("mg", 0, 100_000)]
Infusion = Annotated[float, Quantity("mcg/kg/min", 0, 1000)]
_YES = {"yes": True, "true": True, "present": True, "no": False, "false": False, "absent": False}
_TEXT = re.compile(r"\s*(-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)\s*(.*)")


def kind_of(hint: Any) -> Any:
    """The hint without the None of an argument that may be left out."""
    if get_origin(hint) in (Union, UnionType):
        return next(part for part in get_args(hint) if part is not type(None))
    return hint


def described(hint: Any) -> str:
    """The kind of an argument as a calculator's card names it."""
    kind = kind_of(hint)
    if get_origin(kind) is Literal:
        return " | ".join(map(repr, get_args(kind)))
    if get_origin(kind) is Annotated:
        return next(part.unit or "number" for part in get_args(kind) if isinstance(part, Quantity))
    return {bool: "True | False", date: "'MM/DD/YYYY'", int: "whole number"}[kind]


def read(name: str, hint: Any, value: Value) -> Any:
    """The argument as the formula takes it. Raises ToolError, saying what would be right."""
    kind = kind_of(hint)
    if get_origin(kind) is Literal:
        return _choice(name, get_args(kind), value)
    if get_origin(kind) is Annotated:
        return _quantity(name, next(part for part in get_args(kind) if isinstance(part, Quantity)), value)
    if kind is bool:
        return _yes(name, value)
    if kind is int:
        return _whole(name, value)
    return read_date(value)


def _choice(name: str, choices: Sequence[str], value: Value) -> str:
    """One of the choices, whatever the letters' case."""
    found = {choice.lower(): choice for choice in choices}.get(str(value).strip().lower())
    if found is None:
        raise invalid(f"{name} must be one of {', '.join(map(repr, choices))}, found {value!r:.60}")
    return found


def _yes(name: str, value: Value) -> bool:
    """A yes or no."""
    found = _YES.get(str(value).strip().lower()) if isinstance(value, str) else value
    if found not in (True, False):
        raise invalid(f"{name} must be True or False, found {value!r:.60}")
    return bool(found)


def _whole(name: str, value: Value) -> int:
    """A whole number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not float(value).is_integer():
        raise invalid(f"{name} must be a whole number, found {value!r:.60}")
    return int(value)


def _quantity(name: str, quantity: Quantity, value: Value) -> float:
    """A number in the parameter's unit, inside its range."""
    if isinstance(value, str):
        found = _TEXT.fullmatch(value)
        if not found:
            raise invalid(f"{name} must be a number in {quantity.unit or 'no unit'}, found {value!r:.60}")
        number = float(found[1])
        if found[2] and found[2] != quantity.unit:
            number = convert(number, found[2], quantity.unit or "fraction", quantity.substance)
    elif isinstance(value, bool) or not isinstance(value, int | float):
        raise invalid(f"{name} must be a number in {quantity.unit or 'no unit'}, found {value!r:.60}")
    else:
        number = float(value)
    if not quantity.low <= number <= quantity.high:
        unit = f" {quantity.unit}" if quantity.unit else ""
        raise invalid(
            f"{name} must be between {quantity.low:g} and {quantity.high:g}{unit}, found {number:g}; "
            "check the unit, or give it with the value, as in '120 umol/L'"
        )
    return number
