"""Calculator: evaluates one expression, with unit conversion, dates and 55 clinical calculators.

Source: item 11 of ReflecTool's tools, Liao et al. 2024, arXiv 2410.17657, which runs Python's ``eval`` on the
text. Departures: the expression is parsed and never executed, a failure is an error and not a result, and
with ``clinical`` the calculators of MedCalc-Bench (Khandekar et al. 2024, arXiv 2406.12036) can be called.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from components.acting.arguments import only_text, text_spec
from components.arithmetic import functions, units
from components.arithmetic.evaluate import as_text, evaluate
from components.arithmetic.functions import Function
from components.core.messages import ToolSpec
from components.core.tools import Context, Effect
from components.core.types import Observation
from components.medcalc import calculators

_PLAIN: Mapping[str, Function] = {**functions.FUNCTIONS, **functions.DATE_FUNCTIONS, **units.FUNCTIONS}
_ALL: Mapping[str, Function] = {**_PLAIN, **calculators.FUNCTIONS}
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
        """Evaluate. Raises ToolError."""
        plain = units.as_call(only_text(self.spec, expression))
        value = evaluate(plain, _ALL if self.clinical else _PLAIN)
        text = as_text(value)
        return Observation(text, {"value": value if isinstance(value, int | float) else text})
