"""All 55 calculators of MedCalc-Bench by name, and the list that an agent can search.

Source of the selection: Khandekar et al. 2024, arXiv 2406.12036. The formulas come from the medical
literature that each calculator names, not from the benchmark's code.
"""

from collections.abc import Mapping

from components.arithmetic.functions import Function, Value, invalid
from components.medcalc import (
    body,
    digestion,
    doses,
    electrolytes,
    heart,
    infection,
    kidney,
    metabolism,
    pregnancy,
    severity,
    thrombosis,
)
from components.medcalc.calculator import Calculator

_MODULES = (
    body,
    digestion,
    doses,
    electrolytes,
    heart,
    infection,
    kidney,
    metabolism,
    pregnancy,
    severity,
    thrombosis,
)
CALCULATORS: Mapping[str, Calculator] = {one.name: one for module in _MODULES for one in module.CALCULATORS}


def calculators(search: Value = "") -> Value:
    """Names and titles of all calculators, or the full cards of those that hold every word of the search.

    Raises ToolError when none does.
    """
    words = str(search).lower().replace("_", " ").split()
    if not words:
        return "\n".join(f"{one.name}: {one.title}" for one in CALCULATORS.values())
    found = [
        one.card for one in CALCULATORS.values() if all(word in one.card.lower().replace("_", " ") for word in words)
    ]
    if not found:
        raise invalid(f"no calculator matches {search!r:.60}; calculators() lists all {len(CALCULATORS)}")
    return "\n".join(found)


FUNCTIONS: Mapping[str, Function] = {**CALCULATORS, "calculators": calculators}
