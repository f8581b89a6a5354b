"""The kinds of arguments that clinical calculators take, and how they are read.

An argument's name decides its kind: those of ``quantities.csv`` are numbers in a unit, or texts with another unit ("120
umol/L"), which are converted. Others are choices, dates, or facts that hold or not. Facts default to no, as in
MedCalc-Bench: what a note does not mention is absent.
"""

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TypeAlias

from components.arithmetic.functions import Value, invalid, read_date
from components.arithmetic.units import convert


@dataclass(frozen=True)
class Quantity:
    """A number in ``unit`` from ``low`` to ``high``; ``substance`` lets mass, amount and charge be converted."""

    unit: str
    low: float
    high: float
    substance: str = ""


Kind: TypeAlias = Quantity | tuple[str, ...] | type[date] | type[bool]  # tuple: the choices
with Path(__file__).with_name("quantities.csv").open(encoding="utf-8") as _file:
    QUANTITIES: Mapping[str, Quantity] = {
        row["argument"]: Quantity(row["unit"], float(row["low"]), float(row["high"]), row["substance"])
        for row in csv.DictReader(_file)
    }
_FACTS = {"yes": True, "true": True, "present": True, "no": False, "false": False, "absent": False}
_TEXT = re.compile(r"\s*(-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)\s*(.*)")


def describe(kind: Kind) -> str:
    """The kind of an argument as a calculator's card names it."""
    if isinstance(kind, Quantity):
        return kind.unit or "number"
    if isinstance(kind, tuple):
        return " | ".join(map(repr, kind))
    return "True | False" if kind is bool else "'MM/DD/YYYY'"


def read_argument(name: str, kind: Kind, value: Value) -> Value:
    """The argument as the formula takes it. Raises ToolError, saying what would be right."""
    if isinstance(kind, Quantity):
        return _read_quantity(name, kind, value)
    if isinstance(kind, tuple):
        choice = {choice.lower(): choice for choice in kind}.get(str(value).strip().lower())
        if choice is None:
            raise invalid(f"{name} must be one of {', '.join(map(repr, kind))}, found {value!r:.60}")
        return choice
    if kind is not bool:
        return read_date(value)
    fact = _FACTS.get(str(value).strip().lower()) if isinstance(value, str) else value
    if fact not in (True, False):
        raise invalid(f"{name} must be True or False, found {value!r:.60}")
    return bool(fact)


def _read_quantity(name: str, quantity: Quantity, value: Value) -> float:
    """A number in the argument's unit, inside its range. Raises ToolError."""
    text = _TEXT.fullmatch(value) if isinstance(value, str) else None
    if text:
        number = float(text[1])
        if text[2] and text[2] != quantity.unit:
            number = convert(number, text[2], quantity.unit or "fraction", quantity.substance)
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
