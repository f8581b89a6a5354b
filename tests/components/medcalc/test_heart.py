import pytest

from components.medcalc.registry import CALCULATORS


@pytest.mark.parametrize(
    "name,given,expected",
    [
        ("cha2ds2_vasc", {"sex": "male", "age": 64}, 0),
        ("cha2ds2_vasc", {"sex": "female", "age": 65, "hypertension": True, "tia": True, "stroke": True}, 5),
        (
            "cha2ds2_vasc",
            {
                "sex": "female", "age": 75, "heart_failure": True, "hypertension": True, "diabetes": True,
                "thromboembolism": True, "vascular_disease": True,
            },
            9,
        ),
        ("has_bled", {"age": 65}, 0),
        ("has_bled", {"age": 66, "drinks_per_week": 8, "labile_inr": True}, 3),
        (
            "has_bled",
            {
                "age": 80, "drinks_per_week": 7, "hypertension": True, "renal_disease": True, "liver_disease": True,
                "stroke": True, "prior_bleeding": True, "bleeding_medication": True,
            },
            7,
        ),
        ("revised_cardiac_risk_index", {}, 0),
        ("revised_cardiac_risk_index", {"creatinine": 2.0, "insulin_treatment": True}, 1),
        (
            "revised_cardiac_risk_index",
            {
                "creatinine": "200 umol/L", "elevated_risk_surgery": True, "ischemic_heart_disease": True,
                "heart_failure": True, "cerebrovascular_disease": True,
            },
            5,
        ),
        ("heart_score", {"age": 44}, 0),
        ("heart_score", {"age": 45, "smoking": True, "obesity": True}, 2),
        ("heart_score", {"age": 30, "hypertension": True, "diabetes": True, "family_history": True}, 2),
        ("heart_score", {"age": 30, "atherosclerotic_disease": True, "hypercholesterolemia": True}, 2),
        (
            "heart_score",
            {
                "age": 65, "history": "Highly suspicious", "ecg": "significant ST deviation", "troponin": ">3x normal",
                "atherosclerotic_disease": True,
            },
            10,
        ),
        (
            "heart_score",
            {
                "age": 20, "history": "moderately suspicious", "troponin": "1-3x normal",
                "ecg": "non-specific repolarization disturbance",
            },
            3,
        ),
    ],
)  # fmt: skip
def test_cardiac_scores(name, given, expected):
    assert CALCULATORS[name](**given) == expected


NAMES = ["qtc_bazett", "qtc_fridericia", "qtc_framingham", "qtc_hodges", "qtc_rautaharju"]


@pytest.mark.parametrize("name", NAMES)
def test_at_sixty_beats_the_interval_stays(name):
    assert CALCULATORS[name](qt=400, heart_rate=60) == pytest.approx(400)


@pytest.mark.parametrize(
    "name,qt,heart_rate,expected",
    [
        ("qtc_bazett", 200, 240, 400),
        ("qtc_fridericia", 300, 60 / 0.216, 500),
        ("qtc_framingham", 400, 120, 477),
        ("qtc_hodges", 400, 100, 470),
        ("qtc_rautaharju", 300, 150, 450),
    ],
)
def test_faster_hearts_are_corrected(name, qt, heart_rate, expected):
    assert CALCULATORS[name](qt=qt, heart_rate=heart_rate) == pytest.approx(expected)
