"""Hand-written tables."""

import datetime

import pytest
import yaml

from components.text.yaml_text import parsed, read_yaml

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


@pytest.mark.parametrize("text", ["[" * 100_000, "- " * 100_000, "{a: " * 100_000, "? " * 100_000, "a: " + "[" * 300])
def test_what_nests_too_deep_for_libyaml_is_refused(text):
    with pytest.raises(yaml.YAMLError):
        parsed(text)


def test_what_is_long_and_flat_is_read():
    assert parsed("[" + "[1], " * 1_000 + "]") == [[1]] * 1_000
