"""YAML files as the rest of the house reads them."""

import pytest
import yaml

from runner.yamls import loaded


def test_a_file_says_what_the_plain_loader_says(tmp_path):
    file = tmp_path / "a.yaml"
    text = "a: [1, 1e-3, '1', null, yes]\nb: {<<: &x {c: 2020-01-01}, d: é}\n"
    file.write_text(text, encoding="utf-8")
    assert loaded(file) == yaml.safe_load(text)


def test_no_object_is_made_and_a_broken_file_says_so(tmp_path):
    file = tmp_path / "a.yaml"
    for text in ("!!python/object/apply:os.getcwd []", "a: [1"):
        file.write_text(text)
        with pytest.raises(yaml.YAMLError):
            loaded(file)
