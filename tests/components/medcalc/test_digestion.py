import pytest

from components.medcalc.registry import CALCULATORS

LIVER = {"creatinine": 1, "bilirubin": 1, "inr": 1, "sodium": 140}
BLEED = {"sex": "male", "urea_nitrogen": 10, "hemoglobin": 14, "systolic": 120, "heart_rate": 80}
FACTS = {"melena": True, "syncope": True, "liver_disease": True, "cardiac_failure": True}


@pytest.mark.parametrize(
    "name,given,expected",
    [
        ("fib4", {"age": 50, "ast": 40, "alt": 25, "platelets": 200}, 2),
        ("fib4", {"age": 50, "ast": 40, "alt": 25, "platelets": "200000 /uL"}, 2),
        ("meld_na", LIVER, 6),
        ("meld_na", {**LIVER, "creatinine": 0.3, "bilirubin": 0.2, "inr": 0.9}, 6),
        ("meld_na", {**LIVER, "dialysis_twice": True}, 20),
        ("meld_na", {**LIVER, "hemodialysis_24h": True, "sodium": 127}, 27),  # 20 + 13.2 - 6.6
        ("meld_na", {**LIVER, "creatinine": 9, "sodium": 100}, 28),  # sodium 125: 20 + 15.84 - 7.92
        ("meld_na", {"creatinine": 5, "bilirubin": 30, "inr": 4, "sodium": 120}, 40),
        ("child_pugh", {"bilirubin": 1, "albumin": 4, "inr": 1}, 5),
        ("child_pugh", {"bilirubin": 2, "albumin": 3.5, "inr": 1.7, "ascites": "Slight"}, 9),
        (
            "child_pugh",
            {"bilirubin": 4, "albumin": 2, "inr": 3, "ascites": "moderate", "encephalopathy": "grade 3-4"},
            15,
        ),
        ("glasgow_blatchford", BLEED, 0),
        ("glasgow_blatchford", {**BLEED, "hemoglobin": 12.5, "urea_nitrogen": 20, "systolic": 105}, 4),
        ("glasgow_blatchford", {**BLEED, "sex": "female", "hemoglobin": 11, "urea_nitrogen": 25, "systolic": 95}, 6),
        (
            "glasgow_blatchford",
            {"sex": "female", "urea_nitrogen": 80, "hemoglobin": 8, "systolic": 80, "heart_rate": 120, **FACTS},
            23,
        ),
    ],
)
def test_liver_and_bleeding(name, given, expected):
    assert CALCULATORS[name](**given) == pytest.approx(expected)
