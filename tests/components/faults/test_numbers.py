from random import Random

import pytest

from components.faults.numbers import shifted


@pytest.mark.parametrize(
    ("text", "either"),
    [
        ("14 mm", {"17 mm", "11 mm"}),
        ("0.50.", {"0.60.", "0.40."}),
        ("1,200 rows", {"1,440 rows", "960 rows"}),
        ("[(10,)]", {"[(12,)]", "[(8,)]"}),
        ("-5", {"-6", "-4"}),
        ("1", {"2", "0"}),
        ("0", {"1"}),
        ("[10,20]", {"[12,24]", "[12,16]", "[8,24]", "[8,16]"}),
    ],
)
def test_a_number_is_off_by_its_share_in_its_own_digits(text, either):
    found = {shifted(text, 0.2, Random(n)).text for n in range(40)}
    assert found == either


@pytest.mark.parametrize("text", ["2105-03-04 12:30:00", "TR5", "id_12", "v1.2.3", "3/4", "none"])
def test_dates_times_and_identifiers_stay(text):
    assert shifted(text, 0.2, Random(1)) == (text, 0)


def test_any_digits_count_where_a_value_is_a_code():
    assert shifted("TR5", 0.2, Random(1), whole=True).text in ("TR4", "TR6")


def test_all_numbers_are_counted():
    assert shifted("1 and 2 on 2105-03-04", 0.2, Random(1)).n == 2


def test_a_number_may_have_more_digits_than_arithmetic_has_by_itself():
    found = shifted(f"{2**200} or {'5' * 40}.5", 0.2, Random(1))
    assert found.n == 2 and len(found.text) == len(f"{2**200} or {'5' * 40}.5")


def test_a_small_number_is_written_as_it_was():
    assert "E" not in shifted("0.000000000001", 0.2, Random(1)).text
