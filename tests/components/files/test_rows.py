import csv

import pytest

from components.core.errors import ConfigError
from components.files.rows import (
    Row,
    csv_records,
    files_digest,
    json_groups,
    json_lines,
    json_mapping,
    json_object,
    json_records,
    require_file,
)  # fmt: skip
from tests.components.cab_files import write


def written(folder, text):
    path = folder / "data.json"
    path.write_text(text, encoding="utf-8")
    return path


def test_missing_file_says_how_to_get_it(tmp_path):
    with pytest.raises(ConfigError, match=r"no data file .*none\.json; ask for it"):
        require_file(tmp_path / "none.json", "ask for it")


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
def test_a_file_that_is_not_an_object_is_refused(tmp_path, text):
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


def test_json_array_gives_rows_that_know_their_place(tmp_path):
    file = write(tmp_path / "a.json", [{"a": "x"}, {"a": "y"}])
    rows = list(json_records(file))
    assert [(row.place, row.text("a")) for row in rows] == [(f"{file}: record 1", "x"), (f"{file}: record 2", "y")]
    file = write(tmp_path / "b.json", {"data": [{"a": "x"}]})
    assert [row.place for row in json_records(file, "data")] == [f"{file}: data: record 1"]


@pytest.mark.parametrize(
    ("text", "key", "message"),
    [
        ('[{"a": 1', None, "not JSON, perhaps cut off"),
        ('{"a": 1}', None, "must be a JSON array, found {'a': 1}"),
        ("[1]", None, "record 1: must be a JSON object, found 1"),
        ("[]", "data", "must be a JSON object with the key 'data', found []"),
        ('{"data": 3}', "data", "data: must be a JSON array, found 3"),
    ],
)
def test_json_of_another_form_is_refused(tmp_path, text, key, message):
    with pytest.raises(ConfigError) as caught:
        list(json_records(write(tmp_path / "a.json", text), key))
    assert str(tmp_path / "a.json") in str(caught.value) and message in str(caught.value)


def test_csv_rows_name_the_line_where_they_begin(tmp_path):
    file = write(tmp_path / "a.csv", '\ufeffid,text\n1,"two\nlines"\n2,"a ""b"""\n')
    rows = list(csv_records(file))
    assert [(row.place, dict(row.values)) for row in rows] == [
        (f"{file}:2", {"id": "1", "text": "two\nlines"}),
        (f"{file}:4", {"id": "2", "text": 'a "b"'}),
    ]


def test_csv_without_header_takes_the_given_columns_and_long_cells(tmp_path):
    limit = csv.field_size_limit()
    (row,) = csv_records(write(tmp_path / "a.csv", "q," + "x" * 200_000 + "\n"), ("question", "A"))
    assert (row.text("question"), len(row.text("A"))) == ("q", 200_000)
    assert csv.field_size_limit() == limit


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"a,b\n1,2\n3\n", "a.csv:3: must have 2 cells, found 1"),
        (b'a,b\n1,"2\n', "not CSV, perhaps cut off"),
        (b"a,b\n1,\xff\n", "not UTF-8"),
    ],
)
def test_csv_of_another_form_is_refused(tmp_path, raw, message):
    (tmp_path / "a.csv").write_bytes(raw)
    with pytest.raises(ConfigError, match=message):
        list(csv_records(tmp_path / "a.csv"))


def test_array_inside_a_record_keeps_the_record_s_place():
    assert [row.place for row in Row("f:3", {"qas": [{}]}).rows("qas")] == ["f:3: qas: record 1"]


def test_files_that_are_read_in_turns_leave_the_limit_as_it_was(tmp_path):
    limit = csv.field_size_limit()
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text(f"text\n{'x' * 2 * limit}\nshort\n")
    first, second = (csv_records(tmp_path / f"{name}.csv") for name in ("a", "b"))
    assert len(next(first).values["text"]) == len(next(second).values["text"]) == 2 * limit
    assert csv.field_size_limit() == limit
    assert len([*first, *second]) == 2 and csv.field_size_limit() == limit
