import pytest

from components.text.structured import NotLiteral, array_in, lessons, literal, object_in


def test_json_is_found_in_free_text():
    assert object_in('Sure:\n```json\n{"A": ["x"]}\n```') == {"A": ["x"]}
    assert array_in('so: ["a", "b"] fine') == ["a", "b"]
    for text in ("", "{", "}{", "no json", "[1", "{1: 2}", "[" * 100_000 + "]" * 100_000):
        assert object_in(text) is None and array_in(text) is None
    assert object_in('["a"]') is None and array_in('{"a": 1}') is None


@pytest.mark.parametrize("value", ["a plain text", None, {"a": 1}, ["a", 1], ["a", " "]])
def test_only_lists_of_texts_are_lessons(value):
    assert lessons(value) is None


def test_lessons_are_stripped():
    assert lessons([" a ", "b"]) == ["a", "b"] and lessons([]) == []


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
