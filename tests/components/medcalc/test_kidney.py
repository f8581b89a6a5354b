import pytest

from components.medcalc.registry import CALCULATORS

TALL = {"sex": "male", "age": 40, "creatinine": 1, "height": "72 in"}  # ideal weight 77.6 kg


@pytest.mark.parametrize(
    "name,given,expected",
    [
        ("cockcroft_gault", {"sex": "male", "age": 40, "weight": 72, "creatinine": 1}, 100),
        ("cockcroft_gault", {"sex": "female", "age": 40, "weight": 72, "creatinine": "88.4 umol/L"}, 85),
        ("cockcroft_gault", {**TALL, "weight": 97.6}, 100 * 85.6 / 72),
        ("cockcroft_gault", {**TALL, "weight": 80}, 100 * 77.6 / 72),
        ("cockcroft_gault", {**TALL, "weight": 70}, 100 * 70 / 72),
        ("cockcroft_gault", {**TALL, "weight": 60}, 100 * 60 / 72),
        ("ckd_epi_2021", {"sex": "male", "age": 50, "creatinine": 1}, 91.7),
        ("ckd_epi_2021", {"sex": "female", "age": 50, "creatinine": 1}, 68.6),
        ("ckd_epi_2021", {"sex": "male", "age": 50, "creatinine": 0.5}, 142 * (0.5 / 0.9) ** -0.302 * 0.9938**50),
        ("mdrd", {"sex": "male", "age": 50, "creatinine": 1}, 79.1),
        ("mdrd", {"sex": "female", "age": 50, "creatinine": 1, "race": "black"}, 71.1),
        (
            "fractional_excretion_of_sodium",
            {"sodium": 140, "creatinine": 2, "urine_sodium": 35, "urine_creatinine": 100},
            0.5,
        ),
        ("free_water_deficit", {"sex": "male", "age": 50, "weight": 70, "sodium": 154}, 4.2),
        ("free_water_deficit", {"sex": "female", "age": 40, "weight": 70, "sodium": 154}, 3.5),
        ("free_water_deficit", {"sex": "male", "age": 65, "weight": 70, "sodium": 154}, 3.5),
        ("free_water_deficit", {"sex": "female", "age": 70, "weight": 70, "sodium": 154}, 3.15),
        ("free_water_deficit", {"sex": "female", "age": 10, "weight": 30, "sodium": 154}, 1.8),
    ],
)
def test_kidney_and_water(name, given, expected):
    assert CALCULATORS[name](**given) == pytest.approx(expected, rel=1e-3)
