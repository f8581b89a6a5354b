"""Conversion of units, over plain kinds and, with the substance, between mass, amount, charge and activity.

Unit names as in UCUM and clinical habit, any letter case: mg/dL, µmol/L, mEq/L, 10^9/L, mm^3, mm Hg, kPa,
µIU/mL, lb, in, °F, mL/min/1.73m2.

Substances relate mass, amount, charge and activity. Molar masses in g/mol from PubChem (ions and elements: IUPAC 2021
atomic weights). Departures from the plain molecule: BUN counts the two nitrogen atoms of urea; triglycerides are the
conventional triolein; hemoglobin is the monomer; phosphate is counted as phosphorus, as on laboratory reports. Insulin:
1 IU = 6.00 nmol (WHO standard, Knopp et al. 2019, J Diabetes Sci Technol 13:597); vitamin D: 1 IU = 0.025 ug.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from components.arithmetic.functions import Function, Value, invalid, number


@dataclass(frozen=True)
class Substance:
    """``mass`` in g/mol; ``valence`` in eq/mol, 0 when it carries no fixed charge; ``unit`` in mol/IU, 0 without."""

    mass: float
    valence: int = 0
    unit: float = 0.0


SUBSTANCES: Mapping[str, Substance] = {
    "albumin": Substance(66_500),
    "ammonia": Substance(17.031),
    "bicarbonate": Substance(61.017, 1),
    "bilirubin": Substance(584.66),
    "bun": Substance(28.014),
    "calcium": Substance(40.078, 2),
    "chloride": Substance(35.45, 1),
    "cholesterol": Substance(386.65),
    "cortisol": Substance(362.46),
    "creatinine": Substance(113.12),
    "folate": Substance(441.40),
    "glucose": Substance(180.156),
    "hemoglobin": Substance(16_114.5),
    "insulin": Substance(5808, 0, 6.0e-9),
    "iron": Substance(55.845),
    "lactate": Substance(90.08),
    "lithium": Substance(6.94, 1),
    "magnesium": Substance(24.305, 2),
    "phosphate": Substance(30.974),
    "potassium": Substance(39.098, 1),
    "sodium": Substance(22.990, 1),
    "testosterone": Substance(288.42),
    "thyroxine": Substance(776.87),
    "triglycerides": Substance(885.4),
    "urea": Substance(60.056),
    "uric acid": Substance(168.11),
    "vitamin b12": Substance(1355.4),
    "vitamin d": Substance(384.64, 0, 0.025e-6 / 384.64),
}
ALIASES: Mapping[str, str] = {
    "blood urea nitrogen": "bun",
    "urea nitrogen": "bun",
    "ca": "calcium",
    "cl": "chloride",
    "hco3": "bicarbonate",
    "hb": "hemoglobin",
    "haemoglobin": "hemoglobin",
    "hdl": "cholesterol",
    "ldl": "cholesterol",
    "k": "potassium",
    "mg": "magnesium",
    "na": "sodium",
    "phosphorus": "phosphate",
    "scr": "creatinine",
    "total cholesterol": "cholesterol",
    "triglyceride": "triglycerides",
    "urate": "uric acid",
}


_PREFIXES = {
    "": 1.0,
    "k": 1e3,
    "d": 1e-1,
    "c": 1e-2,
    "m": 1e-3,
    "u": 1e-6,
    "mc": 1e-6,
    "n": 1e-9,
    "p": 1e-12,
    "f": 1e-15,
}
_BASES = {
    "g": (1.0, "mass", 1), "mol": (1.0, "amount", 1), "eq": (1.0, "charge", 1), "u": (1.0, "activity", 1),
    "iu": (1.0, "activity", 1), "l": (1e-3, "length", 3), "m": (1.0, "length", 1), "s": (1.0, "time", 1),
    "sec": (1.0, "time", 1), "pa": (1.0, "pressure", 1), "j": (1.0, "energy", 1), "cal": (4.184, "energy", 1),
}  # fmt: skip
_WHOLE = {
    "mmhg": (133.322, "pressure"), "cmh2o": (98.0665, "pressure"), "atm": (101_325.0, "pressure"),
    "bar": (1e5, "pressure"), "lb": (453.59237, "mass"), "lbs": (453.59237, "mass"), "pound": (453.59237, "mass"),
    "pounds": (453.59237, "mass"), "oz": (28.349523, "mass"), "stone": (6350.29318, "mass"), "in": (0.0254, "length"),
    "inch": (0.0254, "length"), "inches": (0.0254, "length"), "ft": (0.3048, "length"), "feet": (0.3048, "length"),
    "min": (60.0, "time"), "minute": (60.0, "time"), "minutes": (60.0, "time"), "h": (3600.0, "time"),
    "hr": (3600.0, "time"), "hour": (3600.0, "time"), "hours": (3600.0, "time"), "d": (86_400.0, "time"),
    "day": (86_400.0, "time"), "days": (86_400.0, "time"), "week": (604_800.0, "time"), "weeks": (604_800.0, "time"),
    "month": (31_557_600 / 12, "time"), "months": (31_557_600 / 12, "time"), "year": (31_557_600.0, "time"),
    "years": (31_557_600.0, "time"), "k": (1e3, ""), "%": (0.01, ""), "percent": (0.01, ""), "beats": (1.0, ""),
    "breaths": (1.0, ""), "cells": (1.0, ""), "count": (1.0, ""), "fraction": (1.0, ""), "osm": (1.0, "osmoles"),
    "mosm": (1e-3, "osmoles"),
}  # fmt: skip
_SIGNS = str.maketrans({"µ": "u", "μ": "u", "²": "2", "³": "3", "·": "*", " ": "", "⁹": "9", "⁶": "6"})
_ATOM = re.compile(r"(\d+(?:\.\d+)?)?(?:\*|x)?([a-z%]+)?(?:\^|\*\*)?([23])?")
_COUNTED = re.compile(r"x?10(?:\^|\*\*?|e)?(\d{1,2})")
_SPOKEN = re.compile(r"(?i)^(-?\d[\d.]*(?:e-?\d+)?)\s*([^\s\d].*?|10\^.*?)\s+(?:to|in|into)\s+(\S.*)$")


@dataclass(frozen=True)
class Unit:
    """``factor`` times the base units; ``powers``: kind -> exponent (length counts volumes thrice)."""

    factor: float
    powers: Mapping[str, int]


def read_unit(text: str) -> Unit:
    """A unit from its name. Raises ToolError."""
    plain = re.sub(r"\s+per\s+", "/", text.strip().lower()).translate(_SIGNS).replace("bpm", "beats/min")
    factor, powers = 1.0, Counter[str]()
    for place, part in enumerate(re.sub("^/", "1/", plain).split("/")):
        size, kind, power = _atom(part, text)
        sign = -1 if place else 1
        factor *= size**sign
        if kind:
            powers[kind] += sign * power
    return Unit(factor, {kind: power for kind, power in powers.items() if power})


def _atom(part: str, whole: str) -> tuple[float, str, int]:
    """Size, kind and exponent of one part of a unit."""
    if counted := _COUNTED.fullmatch(part):
        return 10.0 ** int(counted[1]), "", 1
    found = _ATOM.fullmatch(part)
    if not part or not found:
        raise invalid(f"{whole!r:.40} is not a known unit; write units such as mg/dL, umol/L, mEq/L, 10^9/L, kg, cm")
    times, name, power = float(found[1] or 1), found[2] or "", int(found[3] or 1)
    if not name:
        return times * 1.0, "", 1
    if name in _WHOLE:
        size, kind = _WHOLE[name]
        return times * size**power, kind, power
    for prefix, scale in _PREFIXES.items():
        base = _BASES.get(name.removeprefix(prefix)) if name.startswith(prefix) else None
        if base:
            return times * (scale * base[0]) ** power, base[1], base[2] * power
    raise invalid(f"{whole!r:.40} is not a known unit ({name!r} is not); write mg/dL, umol/L, mEq/L, 10^9/L, kg, cm")


def convert(value: float, start: str, end: str, substance: str = "") -> float:
    """The value in another unit.

    ``substance`` is needed between mass, amount (mol), charge (Eq) and activity (IU). Raises ToolError.
    """
    scales = _temperature(start), _temperature(end)
    if all(scales):
        celsius = {"c": value, "f": (value - 32) * 5 / 9, "k": value - 273.15}[scales[0]]
        return {"c": celsius, "f": celsius * 9 / 5 + 32, "k": celsius + 273.15}[scales[1]]
    if any(scales):
        raise invalid(f"{start!r} cannot be converted to {end!r}: only one of them is a temperature")
    from_, to = read_unit(start), read_unit(end)
    if from_.powers == to.powers:
        return value * from_.factor / to.factor
    if not substance:
        raise invalid(
            f"{start!r} and {end!r} measure different things; between mass, mol, Eq and IU name the substance, "
            f"as in convert(5.5, 'mmol/L', 'mg/dL', 'glucose'); known: {', '.join(SUBSTANCES)}"
        )
    known = _substance(substance)
    from_, to = _in_moles(from_, known), _in_moles(to, known)
    if from_.powers != to.powers:
        raise invalid(f"{substance}: {start!r} cannot be converted to {end!r}")
    return value * from_.factor / to.factor


def spoken(text: str) -> str:
    """'110 mg/dL glucose to mmol/L' as a call of convert; any other text as it is."""
    found = _SPOKEN.match(text.strip())
    if not found or "'" in text or '"' in text:
        return text
    value, (unit, first), (target, second) = found[1], _named(found[2]), _named(found[3])
    return f"convert({value}, {unit!r}, {target!r}, {(first or second)!r})"


def _named(text: str) -> tuple[str, str]:
    """Unit and substance of 'mg/dL of glucose'."""
    words = text.replace(" of ", " ").split()
    for cut in range(1, len(words)):
        name = " ".join(words[cut:]).lower()
        if name in SUBSTANCES or name in ALIASES:
            return " ".join(words[:cut]), name
    return text, ""


def _substance(name: str) -> Substance:
    """What is known of a substance. Raises ToolError, naming those there are."""
    plain = name.strip().lower().replace("_", " ")
    plain = ALIASES.get(plain, plain)
    if plain not in SUBSTANCES:
        raise invalid(f"the substance {name!r:.40} is not known; there are {', '.join(SUBSTANCES)}")
    return SUBSTANCES[plain]


def _in_moles(unit: Unit, substance: Substance) -> Unit:
    """The unit with mass, charge and activity expressed as amount, where the substance has them."""
    factor, powers = unit.factor, Counter(unit.powers)
    each = {
        "mass": 1 / substance.mass,
        "charge": substance.valence and 1 / substance.valence,
        "activity": substance.unit,
    }
    for kind, moles in each.items():
        if moles and powers[kind]:
            factor *= moles ** powers[kind]
            powers["amount"] += powers.pop(kind)
    return Unit(factor, {kind: power for kind, power in powers.items() if power})


def _temperature(unit: str) -> str:
    """C, f or k when the unit is a scale of temperature, else an empty text."""
    plain = re.sub(r"^(degrees?|deg\.?|°)\s*", "", unit.strip().lower()).removeprefix("°")
    scales = {"c": "c", "celsius": "c", "f": "f", "fahrenheit": "f", "k": "k", "kelvin": "k"}
    return scales.get(plain, "")


def _convert(value: Value, start: Value, end: Value, substance: Value = "") -> Value:
    return convert(number(value, "convert"), str(start), str(end), str(substance))


FUNCTIONS: Mapping[str, Function] = {"convert": _convert}
