import pytest

from components.text.json_in_text import array_in, lessons, object_in


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
