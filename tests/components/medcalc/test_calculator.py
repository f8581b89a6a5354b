import pytest

from components.core.errors import ToolError
from components.medcalc.calculators import QUANTITIES, ClinicalCalculator
from components.medcalc.scores import steps
from tests.table import each_row


def ponderal_index(weight, height=100, corrected=False):
    return weight / (height / 100) ** 3 * (2 if corrected else 1)


KINDS = {"weight": QUANTITIES["weight"], "height": QUANTITIES["height"], "corrected": bool}
ABOUT = "Ponderal index in kg/m^3."
CALCULATOR = ClinicalCalculator(
    "ponderal_index", 99, "Ponderal Index", ABOUT, KINDS, frozenset({"weight"}), ponderal_index
)


def test_a_card_describes_the_call():
    assert CALCULATOR.card == (
        "ponderal_index(weight: kg, height?: cm, corrected?: True | False)\n  Ponderal Index. Ponderal index in kg/m^3."
    )


def test_arguments_are_read_before_the_formula():
    assert CALCULATOR(weight=80, height="2 m") == 10
    assert CALCULATOR(weight="1000 g", corrected="yes") == 2


@each_row(
    "given, named, message",
    [
        ((80,), {}, "takes its arguments by name"),
        ((), {"height": 100}, "needs weight"),
        ((), {"weight": 80, "mass": 3}, "has no argument 'mass'"),
    ],
)
def test_a_wrong_call_is_answered_with_the_card(given, named, message):
    with pytest.raises(ToolError, match=message) as caught:
        CALCULATOR(*given, **named)
    assert CALCULATOR.card in str(caught.value) and caught.value.label == "invalid_expression"


def test_points_are_those_of_the_highest_bound_reached():
    assert [steps(age, {45: 1, 65: 2}, 0) for age in (44.9, 45, 64, 65, 90)] == [0, 1, 1, 2, 2]
