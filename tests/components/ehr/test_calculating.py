import pytest

from components.ehr.errors import EhrError
from components.ehr.interpreters import calculate
from tests.table import each_row


@each_row(
    "expression, value",
    [
        ("3+4*5", 23), ("20-7-3", 10), ("64/4/2", 8.0), ("2^3^2", 512), ("2**-1", 0.5), ("-2^2", -4), ("(-2)**2", 4), ("--3", 3), ("+3", 3),
        ("7//2", 3), ("-7 % 3", 2), ("1e3 / 4", 250.0), ("10**64", 10**64), ("1000000**64", 10**384), ("4**0.5", 2.0),
        ("max(1, 2.5)", 2.5), ("min([3, 1, 2])", 1), ("sum([0.1]) + sum(1, 2)", 3.1), ("mean([1, 2])", 1.5), ("average(1, 2, 6)", 3.0), ("avg([4])", 4.0),
        ("abs(-3)", 3), ("round(2.345, 1)", 2.3), ("round(7.6)", 8), ("sqrt(16)", 4.0), ("floor(-1.5)", -2), ("ceil(1.2)", 2), (" 1\n+ 1 ", 2),
    ],
)  # fmt: skip
def test_arithmetic(expression, value):
    found = calculate(expression)
    assert found == value and type(found) is type(value)


@each_row(
    "expression",
    [
        "", "1 +", "5/0", "5 % 0", "0**-1", "(-8)**0.5", "2**65", "2**-65", "1000001**2", "9**9**9", "10.0**64 * 1e300", "1e999", "007",
        "pi", "x", "x + 1", "max", "True", "1 < 2", "1 if 1 else 2", "1 and 2", "not 1", "~1", "1 | 2", "1 << 9", "2j", "'a'", "'a' * 9",
        "[1, 2]", "1, 2", "[]", "mean([])", "mean()", "sqrt(-1)", "round(1, digits=2)", "log(3)", "pow(2, 3)", "eval('1')", "max(*[1, 2])",
        "(1).real", "[1][0]", "[x for x in [1]]", "(lambda: 1)()", "__import__('os').getcwd()", "abs.__self__", "max(key=abs)", "f'{1}'", "(y := 3)",
        "1" * 501, "(" * 250 + "1" + ")" * 250, None,
    ],
)  # fmt: skip
def test_other_expressions_are_refused(expression):
    with pytest.raises(EhrError, match="cannot be calculated: ") as caught:
        calculate(expression)
    assert caught.value.kind == "bad_expression" and len(str(caught.value)) < 700


def test_500_characters_are_calculated():
    assert calculate("1+" * 249 + "1 ") == 250
