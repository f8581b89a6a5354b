import pytest

from components.medcalc.registry import CALCULATORS

GAP = {"sodium": 140, "chloride": 100, "bicarbonate": 20}


@pytest.mark.parametrize(
    "name,given,expected",
    [
        ("corrected_calcium", {"calcium": 8, "albumin": "20 g/L"}, 9.6),
        ("corrected_sodium", {"sodium": 130, "glucose": 600}, 142),
        ("serum_osmolality", {"sodium": 140, "urea_nitrogen": 28, "glucose": 90}, 295),
        ("anion_gap", GAP, 20),
        ("delta_gap", GAP, 8),
        ("delta_ratio", GAP, 2),
        ("albumin_corrected_anion_gap", {**GAP, "albumin": 2}, 25),
        ("albumin_corrected_delta_gap", {**GAP, "albumin": 2}, 13),
        ("albumin_corrected_delta_ratio", {**GAP, "albumin": 2}, 3.25),
    ],
)
def test_electrolytes_and_gaps(name, given, expected):
    assert CALCULATORS[name](**given) == pytest.approx(expected)
