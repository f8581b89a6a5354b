import pytest

from components.medcalc.registry import CALCULATORS


@pytest.mark.parametrize(
    "name,given,expected",
    [
        ("mean_arterial_pressure", {"systolic": 120, "diastolic": 90}, 100),
        ("body_mass_index", {"weight": 80, "height": 200}, 20),
        ("body_mass_index", {"weight": 80, "height": "2 m"}, 20),
        ("ideal_body_weight", {"sex": "male", "height": "72 in"}, 77.6),
        ("ideal_body_weight", {"sex": "female", "height": 152.4}, 45.5),
        ("adjusted_body_weight", {"sex": "male", "height": "72 in", "weight": 97.6}, 85.6),
        ("body_surface_area", {"weight": 90, "height": 160}, 2),
        ("target_weight", {"body_mass_index": 20, "height": 200}, 80),
        ("maintenance_fluids", {"weight": 8}, 32),
        ("maintenance_fluids", {"weight": 15}, 50),
        ("maintenance_fluids", {"weight": 70}, 110),
    ],
)
def test_body_size_and_fluids(name, given, expected):
    assert CALCULATORS[name](**given) == pytest.approx(expected)
