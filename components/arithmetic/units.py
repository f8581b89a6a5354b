"""Conversion of units, over plain kinds and, with the substance, between mass, amount, charge and activity.

Unit names as in UCUM and clinical habit, any letter case: mg/dL, µmol/L, mEq/L, 10^9/L, mm^3, mm Hg, kPa,
µIU/mL, lb, in, °F, mL/min/1.73m2. Units and substances, with their sources, are in ``units.yaml``.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from components.arithmetic.functions import Function, invalid, number
from components.text.structured import read_yaml


@dataclass(frozen=True)
class Substance:
    """``mass`` in g/mol; ``valence`` in eq/mol, 0 when it carries no fixed charge; ``unit`` in mol/IU, 0 without."""

    mass: float
    valence: int
    unit: float


_TABLES = read_yaml(Path(__file__).with_suffix(".yaml"))
SUBSTANCES: Mapping[str, Substance] = {name: Substance(*facts) for name, facts in _TABLES["substances"].items()}
ALIASES: Mapping[str, str] = _TABLES["aliases"]
_PREFIXES: Mapping[str, float] = _TABLES["prefixes"]
_PREFIXED: Mapping[str, tuple[float, str, int]] = _TABLES["prefixed"]
_PLAIN: Mapping[str, tuple[float, str]] = {
    name: (size, "" if kind == "none" else kind)
    for kind, sizes in _TABLES["plain"].items()
    for name, size in sizes.items()
}
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
    if not name or name in _PLAIN:
        size, kind = _PLAIN[name] if name else (1.0, "")
        return times * size**power, kind, power
    for prefix, scale in _PREFIXES.items():
        base = _PREFIXED.get(name.removeprefix(prefix)) if name.startswith(prefix) else None
        if base:
            return times * (scale * base[0]) ** power, base[1], base[2] * power
    raise invalid(f"{whole!r:.40} is not a known unit ({name!r} is not); write mg/dL, umol/L, mEq/L, 10^9/L, kg, cm")


def convert(value: float, start: str, end: str, substance: str = "") -> float:
    """The value in another unit; between mass, mol, Eq and IU a substance is needed. Raises ToolError."""
    scales = _temperature(start), _temperature(end)
    if all(scales):
        celsius = {"c": value, "f": (value - 32) * 5 / 9, "k": value - 273.15}[scales[0]]
        return {"c": celsius, "f": celsius * 9 / 5 + 32, "k": celsius + 273.15}[scales[1]]
    if any(scales):
        raise invalid(f"{start!r} cannot be converted to {end!r}: only one of them is a temperature")
    from_, to = read_unit(start), read_unit(end)
    if from_.powers != to.powers:
        if not substance:
            raise invalid(
                f"{start!r} and {end!r} measure different things; between mass, mol, Eq and IU name the substance, "
                f"as in convert(5.5, 'mmol/L', 'mg/dL', 'glucose'); known: {', '.join(SUBSTANCES)}"
            )
        name = substance.strip().lower().replace("_", " ")
        known = SUBSTANCES.get(ALIASES.get(name, name))
        if known is None:
            raise invalid(f"the substance {substance!r:.40} is not known; there are {', '.join(SUBSTANCES)}")
        from_, to = _in_moles(from_, known), _in_moles(to, known)
    if from_.powers != to.powers:
        raise invalid(f"{substance}: {start!r} cannot be converted to {end!r}")
    return value * from_.factor / to.factor


def as_call(text: str) -> str:
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


def _in_moles(unit: Unit, substance: Substance) -> Unit:
    """The unit with mass, charge and activity expressed as amount, where the substance has them."""
    factor, powers = unit.factor, Counter(unit.powers)
    charge = substance.valence and 1 / substance.valence
    for kind, moles in (("mass", 1 / substance.mass), ("charge", charge), ("activity", substance.unit)):
        if moles and powers[kind]:
            factor *= moles ** powers[kind]
            powers["amount"] += powers.pop(kind)
    return Unit(factor, {kind: power for kind, power in powers.items() if power})


def _temperature(unit: str) -> str:
    """``c``, ``f`` or ``k`` when the unit is a scale of temperature, else an empty text."""
    plain = re.sub(r"^(degrees?|deg\.?|°)\s*", "", unit.strip().lower()).removeprefix("°")
    return plain[0] if plain in ("c", "celsius", "f", "fahrenheit", "k", "kelvin") else ""


FUNCTIONS: Mapping[str, Function] = {
    "convert": lambda value, start, end, substance="": convert(
        number(value, "convert"), *map(str, (start, end, substance))
    )
}
