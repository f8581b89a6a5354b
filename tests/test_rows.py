"""Rows of a parametrized test are one item, which reports every row that is wrong."""

import pytest

from tests.rows import combine, over, read

NUMBERS = pytest.mark.parametrize("number", [1, -1, 0], ids=["one", "minus one", "zero"]).mark
WORDS = pytest.mark.parametrize(("word", "length"), [("a", 1), pytest.param("bc", 2, id="two letters")]).mark


@pytest.mark.parametrize("number", ())
def positive(number):
    assert number > 0


@pytest.mark.parametrize("number", ())
async def positive_later(number):
    if number < 0:
        pytest.skip("not today")
    assert number > 0


def test_all_wrong_rows_are_reported_and_the_right_ones_are_not():
    with pytest.raises(ExceptionGroup, match="2 of 3 rows") as caught:
        over(read(NUMBERS), set(), positive)()
    assert [error.__notes__ for error in caught.value.exceptions] == [["row: minus one"], ["row: zero"]]


async def test_rows_of_a_coroutine_run_one_after_the_other_and_may_be_skipped():
    with pytest.raises(AssertionError) as caught:
        await over(read(NUMBERS), set(), positive_later)()
    assert caught.value.__notes__ == ["row: zero"]
    with pytest.raises(pytest.skip.Exception):
        await over(read(NUMBERS)[1:2], set(), positive_later)()


def test_several_tables_are_combined_under_the_ids_that_pytest_gives_them():
    rows = combine([read(NUMBERS), read(WORDS)])
    assert len(rows) == 6 and rows[0].arguments == {"number": 1, "word": "a", "length": 1}
    assert [row.name for row in rows[3:]] == ["two letters-one", "two letters-minus one", "two letters-zero"]


def test_what_is_more_than_a_table_of_values_is_left_to_pytest():
    assert read(pytest.mark.parametrize("n", [pytest.param(1, marks=pytest.mark.slow)]).mark) == []
    assert (
        read(pytest.mark.parametrize("n", [1], indirect=True).mark) == read(pytest.mark.parametrize("n", []).mark) == []
    )
    assert read(pytest.mark.parametrize("n", iter([1])).mark) == []


@pytest.mark.parametrize("number", [1, 2])
def test_with_a_fixture_of_its_own_every_row_is_an_item(number, request):
    assert request.node.callspec.params == {"number": number}
