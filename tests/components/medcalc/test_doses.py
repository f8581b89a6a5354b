import pytest

from components.medcalc.registry import CALCULATORS


def test_steroids_are_converted_by_their_equivalents():
    convert = CALCULATORS["steroid_conversion"]
    assert convert(dose=20, steroid="Hydrocortisone", target="PredniSONE") == pytest.approx(5)
    assert convert(dose="1.5 mg", steroid="dexamethasone", target="methylprednisolone") == pytest.approx(8)
    assert convert(dose=50, steroid="cortisone", target="betamethasone") == pytest.approx(1.5)
    assert convert(dose=4, steroid="triamcinolone", target="prednisolone") == pytest.approx(5)


@pytest.mark.parametrize(
    "given,expected",
    [
        ({}, 0),
        ({"morphine": 30, "oxycodone": 20}, 60),
        ({"fentanyl_buccal": 100}, 13),
        ({"fentanyl_buccal": "0.1 mg"}, 13),
        ({"codeine": 100, "tramadol": 100, "tapentadol": 100}, 75),
        ({"methadone": 10, "hydromorphone": 10, "oxymorphone": 10, "hydrocodone": 10, "buprenorphine": 1}, 147),
    ],
)
def test_opioids_are_added_as_morphine(given, expected):
    assert CALCULATORS["morphine_milligram_equivalents"](**given) == pytest.approx(expected)
