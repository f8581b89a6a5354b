import pytest

from components.arithmetic.evaluate import evaluate
from components.core.errors import ToolError
from components.medcalc.calculators import CALCULATORS, FUNCTIONS, calculators
from tests.table import each_row


def test_all_55_calculators_of_the_benchmark_are_there_once():
    assert len(CALCULATORS) == 55 == len({one.id for one in CALCULATORS.values()})
    assert len({one.title for one in CALCULATORS.values()}) == 55


@each_row("name", CALCULATORS)
def test_every_calculator_says_what_comes_out_and_its_source(name):
    one = CALCULATORS[name]
    assert one.card.startswith(f"{name}(") and len(one.about) > 20
    sourceless = {
        "mean_arterial_pressure", "target_weight", "conception_date", "gestational_age",
    }  # fmt: skip
    assert ("Source" in one.about) is (name not in sourceless)


def test_the_list_can_be_searched():
    assert len(str(calculators()).splitlines()) == 55
    found = str(calculators("creatinine clearance"))
    assert found.startswith("cockcroft_gault(sex: 'male' | 'female'") and "mdrd" not in found
    assert "glasgow_coma_score(" in str(calculators("COMA_score teasdale"))
    with pytest.raises(ToolError, match="no calculator matches 'dragons'"):
        calculators("dragons")


def test_calculators_are_called_in_expressions():
    text = "round(cockcroft_gault(sex='male', age=60, weight=70, creatinine='100 umol/L') / 2, 1)"
    assert evaluate(text, {"round": round, **FUNCTIONS}) == 34.4
    with pytest.raises(ToolError, match=r"needs height.\n.*body_mass_index\(weight: kg"):
        evaluate("body_mass_index(weight=70)", FUNCTIONS)
    with pytest.raises(ToolError, match="cannot be computed: float division by zero"):
        evaluate("delta_ratio(sodium=140, chloride=100, bicarbonate=24)", FUNCTIONS)
