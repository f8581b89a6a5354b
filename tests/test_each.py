"""A test over many rows names every row that is wrong."""

import pytest

from tests.each import each


def positive(row):
    assert row > 0


def test_all_wrong_rows_are_named_and_the_right_ones_are_not():
    with pytest.raises(pytest.fail.Exception) as caught:
        each({"one": 1, "minus one": -1, "zero": 0})(positive)()
    said = str(caught.value)
    assert "2 of 3 rows" in said and "[minus one]" in said and "[zero]" in said and "[one]" not in said


def test_right_rows_pass_and_no_rows_at_all_fail():
    each({"one": 1})(positive)()
    with pytest.raises(AssertionError, match="there are no rows"):
        each({})(positive)()
