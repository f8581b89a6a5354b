import pytest

from components.core.errors import ToolError
from components.core.tools import Tool
from components.medcalc.calculators import Calculator
from tests.table import each_row

CALCULATOR, PLAIN = Calculator(), Calculator(clinical=False)


@each_row(
    "expression, output_text, value",
    [
        ("(140 - 60) * 70 / (72 * 1.2)", "64.8148148148", 64.81481481481481),
        ("2 ^ 10", "1024", 1024),
        ("116.0", "116", 116),
        ("65 >= 65", "True", True),
        ("110 mg/dL glucose to mmol/L", "6.10581940096", 6.105819400963609),
        ("days_between('01/01/2024', '03/01/2024') // 7", "8", 8),
        ("add_days('02/20/2024', 14)", "03/05/2024", "03/05/2024"),
        ("round(body_mass_index(weight=80, height='1.8 m'), 1)", "24.7", 24.7),
        ("glasgow_coma_score(motor='localizes pain') + 1", "15", 15),
        ("gestational_age(last_period='01/01/2023', current_date='02/01/2023')", "(4 weeks, 3 days)", "(4 weeks, 3 days)"),
    ],
)  # fmt: skip
async def test_an_expression_is_evaluated(expression, output_text, value):
    seen = await CALCULATOR(None, expression=expression)
    assert seen.text == output_text and seen.data["value"] == pytest.approx(value)


async def test_calculators_are_listed_and_searched():
    listed = await CALCULATOR(None, expression="calculators()")
    assert "ckd_epi_2021: CKD-EPI Equation" in listed.text and len(listed.text.splitlines()) == 55
    found = await CALCULATOR(None, expression="calculators('bleeding')")
    assert "has_bled(age: years, hypertension?: True | False" in found.text and "qtc_bazett" not in found.text


@each_row(
    "expression, message",
    [
        ("9**9**9", "too large"),
        ("__import__('os').listdir()", "not allowed|no function"),
        ("body_mass_index(weight=80)", r"needs height.\n.*height: cm"),
        ("body_mass_index(weight=80, height=1.8)", "between 20 and 280 cm"),
        ("5.5 mmol/L to mg/dL", "name the substance"),
        ("1 +", "cannot be read"),
    ],
)
async def test_errors_in_an_expression_are_reported(expression, message):
    with pytest.raises(ToolError, match=message) as caught:
        await CALCULATOR(None, expression=expression)
    assert caught.value.label == "invalid_expression"


async def test_without_clinical_calculators_it_is_arithmetic_only():
    assert (await PLAIN(None, expression="2 + 2")).text == "4"
    with pytest.raises(ToolError, match="no function 'body_mass_index'"):
        await PLAIN(None, expression="body_mass_index(weight=80, height=180)")
    assert "cockcroft_gault" in CALCULATOR.spec.description and "cockcroft_gault" not in PLAIN.spec.description


@each_row("expression", ["", " ", None, 7])
async def test_an_expression_that_is_not_a_text_is_refused(expression):
    with pytest.raises(ToolError) as caught:
        await CALCULATOR(None, expression=expression)
    assert caught.value.label == "bad_arguments"


def test_it_is_a_pure_numerical_tool():
    assert isinstance(CALCULATOR, Tool) and CALCULATOR.effect == "pure"
    assert CALCULATOR.spec.name == "Calculator" and CALCULATOR.spec.facts == {"dimension": "numerical"}
    assert list(CALCULATOR.spec.parameters["properties"]) == ["expression"]
