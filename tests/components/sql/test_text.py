import pytest

from components.sql.text import cell_text, result_text, text_rows


@pytest.mark.parametrize(
    ("value", "text"),
    [(5, "5.0"), ("12.50", "12.5"), (0.12345, "0.123"), (None, "None"), ("b12", "b12"), ("", ""), (b"x", "b'x'")],
)
def test_cells(value, text):
    assert cell_text(value) == text


def test_rows_are_sorted_before_they_are_cut():
    rows = [(number,) for number in range(200, 0, -1)]
    assert text_rows(rows, 3) == [["1.0"], ["10.0"], ["100.0"]]
    assert len(text_rows(rows)) == 100
    assert result_text(rows, 2) == "[['1.0'], ['10.0']]"


def test_quotes_in_cells_are_written_as_python_writes_them():
    assert result_text([("o'neil",)]) == '[["o\'neil"]]'
