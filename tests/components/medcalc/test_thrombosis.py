import pytest

from components.medcalc.registry import CALCULATORS

EVERY = {
    name: {fact: True for fact, kind in CALCULATORS[name].kinds.items() if kind is bool}
    for name in ("wells_pe", "wells_dvt", "perc", "caprini")
}


@pytest.mark.parametrize(
    "name,given,expected",
    [
        ("wells_pe", {"heart_rate": 100}, 0),
        ("wells_pe", {"heart_rate": 101, "previous_dvt": True, "surgery_4_weeks": True, "hemoptysis": True}, 5.5),
        ("wells_pe", {"heart_rate": 120, **EVERY["wells_pe"]}, 12.5),
        ("wells_dvt", {}, 0),
        ("wells_dvt", {"other_diagnosis_likely": True}, -2),
        ("wells_dvt", {"bedridden_3_days": True, "surgery_12_weeks": True, "calf_swelling": True}, 2),
        ("wells_dvt", {**EVERY["wells_dvt"], "other_diagnosis_likely": False}, 9),
        ("perc", {"age": 49, "heart_rate": 99, "oxygen_saturation": 95}, 0),
        ("perc", {"age": 50, "heart_rate": 100, "oxygen_saturation": 94, **EVERY["perc"]}, 8),
        ("caprini", {"age": 40}, 0),
        ("caprini", {"age": 60, "surgery": "minor", "mobility": "on bed rest", "body_mass_index": 24.9}, 3),
        ("caprini", {"age": 74, "surgery": "laparoscopic", "previous_dvt": True, "previous_pe": True}, 7),
        ("caprini", {"age": 75, "surgery": "arthroplasty", "mobility": "confined to bed >72 hours"}, 10),
        ("caprini", {"age": 75, "stroke": True, "malignancy": True, "body_mass_index": 25}, 11),
        # 5 events of 1, 4 of 5, 5 other of 1, 2 of 2, 9 of 3 (DVT and PE together)
        ("caprini", {"age": 30, **EVERY["caprini"]}, 5 + 20 + 5 + 4 + 27),
    ],
)
def test_thrombosis_scores(name, given, expected):
    assert CALCULATORS[name](**given) == expected
