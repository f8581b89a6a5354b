"""The calculator tool: one expression, with unit conversion, dates and all 55 calculators of MedCalc-Bench by name.

Source of the tool: item 11 of ReflecTool's tools, Liao et al. 2024, arXiv 2410.17657, which runs Python's ``eval`` on
the text. Departures: the expression is parsed and never executed, and a failure is an error and not a result. Source of
the selection: Khandekar et al. 2024, arXiv 2406.12036. The formulas come from the medical literature that each
calculator names, not from the benchmark's code; each has named, checked arguments and a card that describes them.

An argument's name decides its kind: those of ``quantities.csv`` are numbers in a unit, or texts with another unit ("120
umol/L"), which are converted. Others are choices, dates, or facts that hold or not. Facts default to no, as in
MedCalc-Bench: what a note does not mention is absent.
"""

import csv
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from inspect import signature
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args, get_origin

from components.acting.arguments import only_text, text_spec
from components.arithmetic import functions, units
from components.arithmetic.evaluate import as_text, evaluate
from components.arithmetic.functions import Function, Value, invalid, read_date
from components.arithmetic.units import convert
from components.core.messages import ToolSpec
from components.core.tools import Context, Effect
from components.core.types import Observation
from components.medcalc import formulas, scores
from components.text.structured import read_yaml


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


@dataclass(frozen=True)
class ClinicalCalculator:
    """``id`` and ``title`` are those of MedCalc-Bench. ``about``: what comes out, in which unit, and the source.
    ``kinds``: argument -> kind, of which some are ``required``; ``formula`` takes them by name."""

    name: str
    id: int
    title: str
    about: str
    kinds: Mapping[str, Kind]
    required: frozenset[str]
    formula: Callable[..., Value]

    @cached_property
    def card(self) -> str:
        """Name, arguments (``?`` where they may be left out) and what comes out."""
        marked = (
            f"{name}{'' if name in self.required else '?'}: {describe(kind)}" for name, kind in self.kinds.items()
        )
        return f"{self.name}({', '.join(marked)})\n  {self.title}. {self.about}"

    def __call__(self, *unnamed: Value, **named: Value) -> Value:
        """Compute. Raises ToolError with the card when the arguments do not fit."""
        if unnamed:
            raise invalid(f"{self.name} takes its arguments by name.\n{self.card}")
        wrong = [f"has no argument {name!r}" for name in named if name not in self.kinds]
        missing = [f"needs {name}" for name in self.kinds if name in self.required and name not in named]
        if wrong or missing:
            raise invalid(f"{self.name} {', '.join(wrong + missing)}.\n{self.card}")
        return self.formula(**{name: read_argument(name, self.kinds[name], value) for name, value in named.items()})


def _calculator(name: str, row: Mapping[str, Any]) -> ClinicalCalculator:
    """A calculator by its row of ``calculators.yaml``: a formula, or a score by its table of points, in which an
    argument with points per choice takes these choices, and the others are facts."""
    hints: dict[str, Any]
    if points := row.get("points"):
        choices = {one: tuple(map(str, line)) for one, line in points.items() if isinstance(line, Mapping)}
        hints = {one: choices.get(one, formulas.Sex if one == "sex" else bool) for one in row["arguments"]}
        defaults = {one: default for one, default in row["arguments"].items() if default is not None}
        about = row["about"]

        def formula(**named: Value) -> Value:
            return scores.total(points, {**defaults, **named})

    else:
        formula = {**vars(formulas), **vars(scores)}[name]
        parameters = signature(formula).parameters
        hints = {one: parameter.annotation for one, parameter in parameters.items()}
        defaults = {one: value.default for one, value in parameters.items() if value.default is not value.empty}
        about = " ".join((formula.__doc__ or "").split())
    kinds = {
        one: QUANTITIES.get(one) or (get_args(hint) if get_origin(hint) is Literal else hint)
        for one, hint in hints.items()
    }
    return ClinicalCalculator(name, row["id"], row["title"], about, kinds, frozenset(hints.keys() - defaults), formula)


CALCULATORS: Mapping[str, ClinicalCalculator] = {
    name: _calculator(name, row) for name, row in read_yaml(Path(__file__).with_suffix(".yaml")).items()
}


def calculators(search: Value = "") -> Value:
    """Names and titles of all calculators, or the cards that hold every word of the search. Raises ToolError."""
    words = str(search).lower().replace("_", " ").split()
    if not words:
        return "\n".join(f"{one.name}: {one.title}" for one in CALCULATORS.values())
    cards = [one.card for one in CALCULATORS.values()]
    matching = [card for card in cards if all(word in card.lower().replace("_", " ") for word in words)]
    if not matching:
        raise invalid(f"no calculator matches {search!r:.60}; calculators() lists all {len(CALCULATORS)}")
    return "\n".join(matching)


FUNCTIONS: Mapping[str, Function] = {**CALCULATORS, "calculators": calculators}

_PLAIN: Mapping[str, Function] = {**functions.FUNCTIONS, **functions.DATE_FUNCTIONS, **units.FUNCTIONS}
_ALL: Mapping[str, Function] = {**_PLAIN, **FUNCTIONS}
_ABOUT = (
    "Evaluate one arithmetic expression: + - * / // % ** (or ^), comparisons, parentheses, "
    f"{', '.join(['pow', *functions.FUNCTIONS])} (log is natural), pi, e; dates with days_between('01/31/2024', "
    "'03/01/2024') and add_days('01/31/2024', 14); units with convert(120, 'umol/L', 'mg/dL', 'creatinine') or "
    "'120 umol/L creatinine to mg/dL'. No variables, no thousands separators."
)
_CLINICAL = (
    " Clinical calculators are functions with named arguments, such as cockcroft_gault(sex='male', age=60, "
    "weight=70, creatinine='90 umol/L'); calculators() lists them, calculators('creatinine') shows those about a "
    "word with their arguments and units."
)
_EXPRESSION = "The expression, such as (140 - 60) * 70 / (72 * 1.2)."
_PLAIN_SPEC = text_spec("Calculator", _ABOUT, "expression", _EXPRESSION, "numerical")
_CLINICAL_SPEC = text_spec("Calculator", _ABOUT + _CLINICAL, "expression", _EXPRESSION, "numerical")


@dataclass(frozen=True)
class Calculator:
    """The value of an expression as text, 12 significant digits; ``data.value`` holds the same. ``clinical`` False
    leaves arithmetic, dates and units only. Raises ToolError (invalid_expression), which names what is wrong; a
    clinical calculator that is called wrongly answers with its arguments."""

    clinical: bool = True
    effect: Effect = "pure"

    @property
    def spec(self) -> ToolSpec:
        """What the model sees."""
        return _CLINICAL_SPEC if self.clinical else _PLAIN_SPEC

    async def __call__(self, context: Context, expression: Any) -> Observation:
        plain = units.as_call(only_text(self.spec, expression))
        value = evaluate(plain, _ALL if self.clinical else _PLAIN)
        text = as_text(value)
        return Observation(text, {"value": value if isinstance(value, int | float) else text})
