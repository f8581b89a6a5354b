"""All 55 calculators of MedCalc-Bench by name, and the list that an agent can search.

Source of the selection: Khandekar et al. 2024, arXiv 2406.12036. The formulas come from the medical
literature that each calculator names, not from the benchmark's code.
"""

from collections.abc import Mapping
from inspect import signature
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args, get_origin

from components.arithmetic.functions import Function, Value, invalid
from components.medcalc import formulas, scores
from components.medcalc.arguments import QUANTITIES, Kind
from components.medcalc.calculator import Calculator
from components.text.structured import read_yaml

_FORMULAS: Mapping[str, Any] = {**vars(formulas), **vars(scores)}


def _calculator(name: str, row: Mapping[str, Any]) -> Calculator:
    """A calculator by its row of ``calculators.yaml``."""
    if "points" in row:
        return _score(name, **row)
    formula = _FORMULAS[name]
    parameters = signature(formula).parameters
    kinds = {one: _kind(one, parameter.annotation) for one, parameter in parameters.items()}
    required = frozenset(one for one, parameter in parameters.items() if parameter.default is parameter.empty)
    return Calculator(name, row["id"], row["title"], " ".join(formula.__doc__.split()), kinds, required, formula)


def _score(
    name: str, id: int, title: str, about: str, arguments: Mapping[str, Value | None], points: scores.Table
) -> Calculator:
    """A score by its table of points. An argument with points per choice takes these choices, the others are facts."""
    choices = {one: tuple(map(str, line)) for one, line in points.items() if isinstance(line, Mapping)}
    kinds = {one: _kind(one, formulas.Sex if one == "sex" else bool, choices) for one in arguments}
    defaults = {one: default for one, default in arguments.items() if default is not None}

    def formula(**named: Value) -> Value:
        return scores.total(points, {**defaults, **named})

    return Calculator(name, id, title, about, kinds, frozenset(arguments.keys() - defaults), formula)


def _kind(name: str, hint: Any, choices: Mapping[str, tuple[str, ...]] = MappingProxyType({})) -> Kind:
    """The kind of an argument: a quantity by its name, else choices, a date or a fact."""
    if name in QUANTITIES:
        return QUANTITIES[name]
    return choices.get(name) or (get_args(hint) if get_origin(hint) is Literal else hint)


CALCULATORS: Mapping[str, Calculator] = {
    name: _calculator(name, row) for name, row in read_yaml(Path(__file__).with_name("calculators.yaml")).items()
}


def calculators(search: Value = "") -> Value:
    """Names and titles of all calculators, or the full cards of those that hold every word of the search.

    Raises ToolError when none does.
    """
    words = str(search).lower().replace("_", " ").split()
    if not words:
        return "\n".join(f"{one.name}: {one.title}" for one in CALCULATORS.values())
    cards = [one.card for one in CALCULATORS.values()]
    matching = [card for card in cards if all(word in card.lower().replace("_", " ") for word in words)]
    if not matching:
        raise invalid(f"no calculator matches {search!r:.60}; calculators() lists all {len(CALCULATORS)}")
    return "\n".join(matching)


FUNCTIONS: Mapping[str, Function] = {**CALCULATORS, "calculators": calculators}
