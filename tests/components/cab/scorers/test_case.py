import sqlite3
from contextlib import closing

import pytest

from components.cab.scorers.case import Case, Reading, Unscored


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "eicu"
    place.mkdir()
    with closing(sqlite3.connect(place / "stays.sqlite")) as made, made:
        made.execute("CREATE TABLE beds(id INTEGER, name TEXT)")
        made.executemany("INSERT INTO beds VALUES (?, ?)", [(n, f"bed {n}") for n in range(150)])
    return place


def test_executed_rows_are_texts_sorted_and_at_most_a_hundred(folder):
    rows = Case("SELECT id, name FROM beds", {}, database=folder).executed.rows
    assert len(rows) == 100 and rows[:2] == [["0.0", "bed 0"], ["1.0", "bed 1"]] and rows == sorted(rows)


def test_dataset_id_is_given_or_the_name_of_the_folder(folder):
    assert Case("select current_time", {}, database=folder).executed.rows == [["2105-12-31 23:59:00"]]
    other = Case("select current_time", {}, database=folder, dialect="mimic_iv")
    assert other.executed.rows == [["2100-12-31 23:59:00"]]


@pytest.mark.parametrize(
    ("sql", "error"),
    [
        ("SELECT * FROM wards", "no such table"),
        ("DELETE FROM beds", "only reading is allowed"),
        ("DROP TABLE beds", "only reading is allowed"),
        ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n", "was stopped"),
    ],
)
def test_failed_statement_is_an_error_and_changes_nothing(folder, sql, error):
    assert error in Case(sql, {}, database=folder, seconds=0.05).executed.error
    assert Case("SELECT count(*) FROM beds", {}, database=folder).executed.rows == [["150.0"]]


def test_unknown_dataset_has_no_current_time(folder):
    assert "no fixed current_time" in Case("SELECT current_time", {}, database=folder, dialect="synthea").executed.error


@pytest.mark.parametrize("place", [None, "lost"])
def test_without_a_database_sql_cannot_be_scored(tmp_path, place):
    with pytest.raises(Unscored, match="no database"):
        _ = Case("SELECT 1", {}, database=place and tmp_path / place).executed


def test_missing_key_cannot_be_scored():
    with pytest.raises(Unscored, match="has no 'answer'"):
        Case("B", "B").value("answer")


def test_explanation_is_short_and_one_line():
    assert Reading(1.0, "a\nb", ["c"]).explanation == "read 'a\\nb', right is \"['c']\""
    assert len(Reading(0.0, "x" * 10_000, "y").explanation) < 400
