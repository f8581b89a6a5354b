import pytest

from components.sql import SqlError
from components.sql.cleaning import (
    CURRENT_TIMES,
    VITAL_BOUNDS,
    cell_text,
    clean_sql,
    text_rows,
)
from tests.table import each_row


@each_row(
    "raw",
    [
        "select 1",
        " select\n  1 ",
        "```sql\nselect 1\n```",
        "```sqlite\nselect 1\n```",
        "```SQL\r\nselect 1\r\n```",
        "```\nselect 1\n```",
        "Two:\n```\nselect 3\n```\n```sql\nselect 2\n```\n```sql\nselect 1\n```",
    ],
)
def test_the_last_block_is_the_statement(raw):
    assert clean_sql(raw, "mimic_iv") == "select 1"


@each_row("dataset", CURRENT_TIMES)
def test_current_time_is_filled_in_everywhere(dataset):
    time = f"'{CURRENT_TIMES[dataset]}'"
    assert clean_sql("select current_time, current_time", dataset) == f"select {time}, {time}"


def test_a_database_without_a_fixed_time_says_so():
    assert clean_sql("select 1", "ward") == "select 1"
    with pytest.raises(SqlError, match=r"'ward' has no fixed current_time \(known: mimic_iv, mimic_iii, eicu\)"):
        clean_sql("select current_time", "ward")


@each_row("vital", VITAL_BOUNDS)
def test_bounds_of_vital_signs_are_filled_in_as_decimals(vital):
    name, (low, high) = vital.replace(" ", "_"), VITAL_BOUNDS[vital]
    assert clean_sql(f"select v between {name}_lower and {name}_upper", "eicu") == f"select v between {low} and {high}"


@each_row(
    "sql",
    [
        "select sao2_lower, temperature_upper",  # two vital signs
        "select weight_lower, weight_upper",  # none that is known
        "select v.sao2_lower, v.sao2_upper",  # columns of a table
    ],
)
def test_other_names_stay(sql):
    assert clean_sql(sql, "eicu") == sql


@each_row(
    "value, text",
    [(5, "5.0"), ("12.50", "12.5"), (0.12345, "0.123"), (None, "None"), ("b12", "b12"), ("", ""), (b"x", "b'x'")],
)
def test_cells(value, text):
    assert cell_text(value) == text


def test_rows_are_sorted_before_they_are_cut():
    rows = [(number,) for number in range(200, 0, -1)]
    assert text_rows(rows, 3) == [["1.0"], ["10.0"], ["100.0"]]
    assert len(text_rows(rows)) == 100
    assert str(text_rows(rows, 2)) == "[['1.0'], ['10.0']]"


def test_quotes_in_cells_are_written_as_python_writes_them():
    assert str(text_rows([("o'neil",)])) == '[["o\'neil"]]'
