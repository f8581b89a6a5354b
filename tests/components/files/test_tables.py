import csv

import pytest

from components.core.errors import ConfigError
from components.files.tables import csv_records, json_records, records_of
from tests.components.cab_files import write


def test_json_array_gives_rows_that_know_their_place(tmp_path):
    file = write(tmp_path / "a.json", [{"a": "x"}, {"a": "y"}])
    rows = list(json_records(file))
    assert [(row.place, row.text("a")) for row in rows] == [(f"{file}: record 1", "x"), (f"{file}: record 2", "y")]
    file = write(tmp_path / "b.json", {"data": [{"a": "x"}]})
    assert [row.place for row in json_records(file, "data")] == [f"{file}: data: record 1"]


@pytest.mark.parametrize(
    ("text", "key", "told"),
    [
        ('[{"a": 1', None, "not JSON, perhaps cut off"),
        ('{"a": 1}', None, "must be a JSON array, found {'a': 1}"),
        ("[1]", None, "record 1: must be a JSON object, found 1"),
        ("[]", "data", "must be a JSON object with the key 'data', found []"),
        ('{"data": 3}', "data", "data: must be a JSON array, found 3"),
    ],
)
def test_json_of_another_form_is_refused(tmp_path, text, key, told):
    with pytest.raises(ConfigError) as caught:
        list(json_records(write(tmp_path / "a.json", text), key))
    assert str(tmp_path / "a.json") in str(caught.value) and told in str(caught.value)


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
    ("raw", "told"),
    [
        (b"a,b\n1,2\n3\n", "a.csv:3: must have 2 cells, found 1"),
        (b'a,b\n1,"2\n', "not CSV, perhaps cut off"),
        (b"a,b\n1,\xff\n", "not UTF-8"),
    ],
)
def test_csv_of_another_form_is_refused(tmp_path, raw, told):
    (tmp_path / "a.csv").write_bytes(raw)
    with pytest.raises(ConfigError, match=told):
        list(csv_records(tmp_path / "a.csv"))


def test_array_inside_a_record_keeps_the_record_s_place():
    assert [row.place for row in records_of({"qas": [{}]}, "f:3", "qas")] == ["f:3: qas: record 1"]


def test_files_that_are_read_in_turns_leave_the_limit_as_it_was(tmp_path):
    limit = csv.field_size_limit()
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text(f"text\n{'x' * 2 * limit}\nshort\n")
    first, second = (csv_records(tmp_path / f"{name}.csv") for name in ("a", "b"))
    assert len(next(first).values["text"]) == len(next(second).values["text"]) == 2 * limit
    assert csv.field_size_limit() == limit
    assert len([*first, *second]) == 2 and csv.field_size_limit() == limit
