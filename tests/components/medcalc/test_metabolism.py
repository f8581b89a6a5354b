import pytest

from components.medcalc.registry import CALCULATORS


def test_insulin_resistance_and_ldl():
    assert CALCULATORS["homa_ir"](glucose=81, insulin=10) == pytest.approx(2)
    lipids = {"total_cholesterol": 200, "hdl_cholesterol": 50, "triglycerides": 150}
    assert CALCULATORS["ldl_cholesterol"](**lipids) == pytest.approx(120)


# The point tables of ATP III give 4 % (8 points) and 14 % (21 points) for these two.
MAN = {"sex": "male", "age": 50, "systolic": 120, "total_cholesterol": 200, "hdl_cholesterol": 50}
WOMAN = {
    "sex": "female", "age": 60, "systolic": 150, "total_cholesterol": 250, "hdl_cholesterol": 45, "smoker": True,
    "treated_pressure": True,
}  # fmt: skip


@pytest.mark.parametrize("given,points", [(MAN, 4), (WOMAN, 14)])
def test_the_equation_is_near_the_published_point_table(given, points):
    assert CALCULATORS["framingham_hard_chd"](**given) == pytest.approx(points, abs=1.5)


@pytest.mark.parametrize("given,age", [(MAN, 70), (WOMAN, 78)])
def test_smoking_counts_by_age_up_to_a_bound(given, age):
    def ratio(years):
        risks = [CALCULATORS["framingham_hard_chd"](**{**given, "age": years, "smoker": s}) for s in (True, False)]
        return risks[0] / risks[1]

    assert ratio(age - 10) > ratio(age) > 0
    assert ratio(age + 1) == pytest.approx(ratio(age), rel=0.1)
