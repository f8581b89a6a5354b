import pytest

from components.text.literals import NotLiteral, literal


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("['a', \"b\"]", ["a", "b"]),
        (r"['a\d', 'b\n']", ["a\\d", "b\n"]),
        (r"'\\d'", "\\d"),
        ("('a',)", ("a",)),
        ("5", 5),
    ],
)
def test_value_is_python_s_and_unknown_escapes_do_not_warn(text, value):
    assert literal(text) == value


@pytest.mark.parametrize(
    "text", ["", "asthma", "[a, b]", "['a'", "open('x')", "{[]: 1}", "[" * 5000, "-" * 100_000 + "1"]
)
def test_anything_else_is_no_literal(text):
    with pytest.raises(NotLiteral):
        literal(text)
