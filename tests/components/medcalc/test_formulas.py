from datetime import date

import pytest

from components.core.errors import ToolError
from components.medcalc.calculators import CALCULATORS
from tests.table import each_row


@each_row(
    "name, given, expected",
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


LIVER = {"creatinine": 1, "bilirubin": 1, "inr": 1, "sodium": 140}
BLEED = {"sex": "male", "urea_nitrogen": 10, "hemoglobin": 14, "systolic": 120, "heart_rate": 80}
FACTS = {"melena": True, "syncope": True, "liver_disease": True, "cardiac_failure": True}


@each_row(
    "name, given, expected",
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


def test_steroids_are_converted_by_their_equivalents():
    convert = CALCULATORS["steroid_conversion"]
    assert convert(dose=20, steroid="Hydrocortisone", target="PredniSONE") == pytest.approx(5)
    assert convert(dose="1.5 mg", steroid="dexamethasone", target="methylprednisolone") == pytest.approx(8)
    assert convert(dose=50, steroid="cortisone", target="betamethasone") == pytest.approx(1.5)
    assert convert(dose=4, steroid="triamcinolone", target="prednisolone") == pytest.approx(5)


@each_row(
    "given, expected",
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


GAP = {"sodium": 140, "chloride": 100, "bicarbonate": 20}


@each_row(
    "name, given, expected",
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


TALL = {"sex": "male", "age": 40, "creatinine": 1, "height": "72 in"}  # ideal weight 77.6 kg


@each_row(
    "name, given, expected",
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


@each_row("given, points", [(MAN, 4), (WOMAN, 14)])
def test_the_equation_is_near_the_published_point_table(given, points):
    assert CALCULATORS["framingham_hard_chd"](**given) == pytest.approx(points, abs=1.5)


@each_row("given, age", [(MAN, 70), (WOMAN, 78)])
def test_smoking_counts_by_age_up_to_a_bound(given, age):
    def ratio(years):
        risks = [CALCULATORS["framingham_hard_chd"](**{**given, "age": years, "smoker": s}) for s in (True, False)]
        return risks[0] / risks[1]

    assert ratio(age - 10) > ratio(age) > 0
    assert ratio(age + 1) == pytest.approx(ratio(age), rel=0.1)


def test_the_due_date_follows_naegele_and_the_cycle():
    due = CALCULATORS["due_date"]
    assert due(last_period="01/01/2023") == date(2023, 10, 8)
    assert due(last_period="01/01/2023", cycle_length=30) == date(2023, 10, 10)
    assert due(last_period="2023-01-01", cycle_length=25) == date(2023, 10, 5)


def test_conception_is_two_weeks_after_the_period_began():
    assert CALCULATORS["conception_date"](last_period="02/20/2024") == date(2024, 3, 5)


def test_gestational_age_is_in_weeks_and_days():
    age = CALCULATORS["gestational_age"]
    assert age(last_period="01/01/2023", current_date="02/01/2023") == "(4 weeks, 3 days)"
    with pytest.raises(ToolError, match="before the last period"):
        age(last_period="02/01/2023", current_date="01/01/2023")
