import datetime

import pytest
import yaml

from components.text.structured import NotLiteral, array_in, lessons, literal, object_in, parse, read_yaml
from tests.table import each_row


def test_json_is_found_in_free_text():
    assert object_in('Sure:\n```json\n{"A": ["x"]}\n```') == {"A": ["x"]}
    assert array_in('so: ["a", "b"] fine') == ["a", "b"]
    for text in ("", "{", "}{", "no json", "[1", "{1: 2}", "[" * 100_000 + "]" * 100_000):
        assert object_in(text) is None and array_in(text) is None
    assert object_in('["a"]') is None and array_in('{"a": 1}') is None


@each_row("value", ["a plain text", None, {"a": 1}, ["a", 1], ["a", " "]])
def test_only_lists_of_texts_are_lessons(value):
    assert lessons(value) is None


def test_lessons_are_stripped():
    assert lessons([" a ", "b"]) == ["a", "b"] and lessons([]) == []


@each_row(
    "text, value",
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


@each_row("text", ["", "asthma", "[a, b]", "['a'", "open('x')", "{[]: 1}", "[" * 5000, "-" * 100_000 + "1"])
def test_other_texts_are_not_literals(text):
    with pytest.raises(NotLiteral):
        literal(text)


TEXTS = [
    "a: [1, 2.5, null, yes]\n",
    "- 2021-03-04\n- 'é \\ ü'\n",
    "? {a: b}\n: |\n  two\n  lines\n",
    "a: &x {b: 1}\nc: *x\n",
]


@pytest.mark.parametrize("text", TEXTS)
def test_both_readers_read_the_same(tmp_path, text):
    path = tmp_path / "table.yaml"
    path.write_text(text, encoding="utf-8")
    try:
        expected = yaml.safe_load(text)
    except yaml.YAMLError as error:
        with pytest.raises(type(error)):
            read_yaml(path)
    else:
        assert read_yaml(path) == expected


def test_a_table_makes_no_objects(tmp_path):
    path = tmp_path / "table.yaml"
    path.write_text("- 2021-03-04\n")
    assert read_yaml(path) == [datetime.date(2021, 3, 4)]
    path.write_text("!!python/object/apply:os.getcwd []\n")
    with pytest.raises(yaml.YAMLError):
        read_yaml(path)


@each_row("text", ["[" * 100_000, "- " * 100_000, "{a: " * 100_000, "? " * 100_000, "a: " + "[" * 300])
def test_text_nested_too_deep_for_libyaml_is_refused(text):
    with pytest.raises(yaml.YAMLError):
        parse(text)


def test_long_flat_text_is_read():
    assert parse("[" + "[1], " * 1_000 + "]") == [[1]] * 1_000


def test_aliases_are_refused_where_a_text_must_not_grow():
    text = "a: &a [1]\nb: *a"
    assert parse(text) == {"a": [1], "b": [1]} and parse("a: [1]", aliases=False) == {"a": [1]}
    with pytest.raises(yaml.YAMLError, match=r"\*a stands for another part"):
        parse(text, aliases=False)
