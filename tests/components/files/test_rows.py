import pytest

from components.core.errors import ConfigError
from components.files.rows import existing, files_digest, json_groups, json_lines, json_mapping, json_object


def written(folder, text):
    path = folder / "data.json"
    path.write_text(text, encoding="utf-8")
    return path


def test_missing_file_says_how_to_get_it(tmp_path):
    with pytest.raises(ConfigError, match=r"no data file .*none\.json; ask for it"):
        existing(tmp_path / "none.json", "ask for it")


def test_lines_are_read_one_by_one_and_errors_name_the_line(tmp_path):
    path = written(tmp_path, '{"a": "x"}\n\n{"a": 3}\n[1]\n{"a": ')
    rows = json_lines(path)
    assert next(rows).text("a") == "x"
    with pytest.raises(ConfigError, match=r"data\.json:3: a: must be a text, found 3"):
        next(rows).text("a")
    with pytest.raises(ConfigError, match=r"data\.json:4: must be a JSON object, found \[1\]"):
        next(rows)
    with pytest.raises(ConfigError, match=r"data\.json:5: not JSON, perhaps cut off"):
        list(json_lines(written(tmp_path, '{"a": 1}\n' * 4 + '{"a": ')))


def test_entries_of_an_object_know_their_lines(tmp_path):
    path = written(tmp_path, '{\n "b": {\n  "a": ["x"]\n },\n "c": {}\n}')
    (_, first), (_, second) = json_object(path)
    assert first.texts("a") == ["x"]
    with pytest.raises(ConfigError, match=r"data\.json:5: a: is missing; the row has no keys"):
        second.texts("a")
    with pytest.raises(ConfigError, match=r"data\.json:1: b: must be an object, found 1"):
        list(json_object(written(tmp_path, '{"b": 1}')))


def test_entries_of_groups_know_their_lines(tmp_path):
    path = written(tmp_path, '{\n "x": {\n  "a": {"q": "x"},\n  "b": {}\n },\n "y": {\n  "a": {"q": 1}\n }\n}')
    found = list(json_groups(path))
    assert [(group, name) for group, name, _ in found] == [("x", "a"), ("x", "b"), ("y", "a")]
    assert [row.place.rpartition(":")[2] for _, _, row in found] == ["3", "4", "7"]
    with pytest.raises(ConfigError, match=r"data\.json:2: x: must be an object, found 1"):
        list(json_groups(written(tmp_path, '{\n "x": 1}')))
    with pytest.raises(ConfigError, match=r"data\.json:3: a: must be an object, found 'q'"):
        list(json_groups(written(tmp_path, '{\n "x": {\n "a": "q"}}')))


@pytest.mark.parametrize("text", ["{", "[]", ""])
def test_file_that_is_no_object_is_refused(tmp_path, text):
    with pytest.raises(ConfigError, match=r"data\.json: (not JSON|must be a JSON object)"):
        json_mapping(written(tmp_path, text))


@pytest.mark.parametrize(("method", "value"), [("texts", '"x"'), ("texts", "[1]"), ("named_texts", '{"A": 1}')])
def test_value_of_another_kind_is_refused(tmp_path, method, value):
    row = json_mapping(written(tmp_path, f'{{"a": {value}}}'))
    with pytest.raises(ConfigError, match="a: must be"):
        getattr(row, method)("a")


def test_digest_follows_contents_and_order(tmp_path):
    one, two = tmp_path / "1", tmp_path / "2"
    one.write_text("x")
    two.write_text("y")
    assert files_digest(one, two) != files_digest(two, one)
    assert files_digest(one) == files_digest(one)
