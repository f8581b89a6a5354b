"""Formulas of clinical calculators, whose titles are in ``calculators.yaml``.

A formula's signature gives the arguments: their names, whose units are in ``quantities.csv``, choices and defaults. Its
docstring says what comes out, in which unit, and the source.
"""

from collections.abc import Mapping
from datetime import date
from math import exp, log, sqrt
from typing import Literal

from components.arithmetic.functions import invalid, later

Sex = Literal["male", "female"]
Steroid = Literal[
    "betamethasone", "cortisone", "dexamethasone", "hydrocortisone", "methylprednisolone", "prednisolone",
    "prednisone", "triamcinolone",
]  # fmt: skip
_EQUIVALENT_DOSES: Mapping[Steroid, float] = {
    "betamethasone": 0.75,
    "cortisone": 25,
    "dexamethasone": 0.75,
    "hydrocortisone": 20,
    "methylprednisolone": 4,
    "prednisolone": 5,
    "prednisone": 5,
    "triamcinolone": 4,
}
_CM_PER_INCH = 2.54
_MOST_MELD = 40
_NORMAL_GAP, _NORMAL_BICARBONATE, _NORMAL_ALBUMIN = 12, 24, 4
_UNDERWEIGHT, _OVERWEIGHT, _ADULT, _ELDERLY = 18.5, 25, 18, 65


def mean_arterial_pressure(systolic: float, diastolic: float) -> float:
    """Mean arterial pressure in mm Hg: a third of the systolic and two thirds of the diastolic pressure."""
    return systolic / 3 + 2 * diastolic / 3


def body_mass_index(weight: float, height: float) -> float:
    """Body mass index in kg/m^2. Source: Quetelet 1832."""
    return weight / (height / 100) ** 2


def ideal_body_weight(sex: Sex, height: float) -> float:
    """Ideal body weight in kg, from 60 inches on 2.3 kg per inch. Source: Devine 1974."""
    return (50 if sex == "male" else 45.5) + 2.3 * (height / _CM_PER_INCH - 60)


def adjusted_body_weight(sex: Sex, height: float, weight: float) -> float:
    """Adjusted body weight in kg: ideal weight and 40 % of what is above it. Source: Bauer et al. 1983."""
    ideal = ideal_body_weight(sex, height)
    return ideal + 0.4 * (weight - ideal)


def body_surface_area(weight: float, height: float) -> float:
    """Body surface area in m^2. Source: Mosteller 1987."""
    return sqrt(weight * height / 3600)


def target_weight(body_mass_index: float, height: float) -> float:
    """Weight in kg at a target body mass index."""
    return body_mass_index * (height / 100) ** 2


def maintenance_fluids(weight: float) -> float:
    """Maintenance fluids in mL/h by the 4-2-1 rule. Source: Holliday and Segar 1957."""
    return 4 * min(weight, 10) + 2 * min(max(weight - 10, 0), 10) + max(weight - 20, 0)


def fib4(age: float, ast: float, alt: float, platelets: float) -> float:
    """Fibrosis-4 index. Source: Sterling et al. 2006."""
    return age * ast / (platelets * sqrt(alt))


def meld_na(
    creatinine: float,
    bilirubin: float,
    inr: float,
    sodium: float,
    dialysis_twice: bool = False,
    hemodialysis_24h: bool = False,
) -> int:
    """MELD-Na, whole points up to 40. Creatinine, bilirubin and INR count as at least 1, creatinine as 4 from 4 on and
    with two dialyses or 24 h of continuous hemodialysis in the past week; sodium is held in 125 to 137. Source: OPTN
    policy 9 of 2016, after Kim et al. 2008."""
    kidney = 4.0 if dialysis_twice or hemodialysis_24h else min(max(creatinine, 1), 4)
    plain = 0.957 * log(kidney) + 0.378 * log(max(bilirubin, 1)) + 1.12 * log(max(inr, 1)) + 0.643
    first = 10 * round(plain, 1)
    if first <= 11:
        return round(first)
    lack = 137 - min(max(sodium, 125), 137)
    return min(round(first + 1.32 * lack - 0.033 * first * lack), _MOST_MELD)


def steroid_conversion(dose: float, steroid: Steroid, target: Steroid) -> float:
    """Dose in mg of the target steroid that equals the given dose; names without route, which does not change the
    ratio. Source: equivalents of glucocorticoids as in Meikle and Tyler 1977."""
    return dose * _EQUIVALENT_DOSES[target] / _EQUIVALENT_DOSES[steroid]


def corrected_calcium(calcium: float, albumin: float) -> float:
    """Calcium in mg/dL corrected to an albumin of 4 g/dL. Source: Payne et al. 1973."""
    return calcium + 0.8 * (_NORMAL_ALBUMIN - albumin)


def corrected_sodium(sodium: float, glucose: float) -> float:
    """Sodium in mEq/L corrected for glucose, 2.4 per 100 mg/dL. Source: Hillier et al. 1999."""
    return sodium + 0.024 * (glucose - 100)


def serum_osmolality(sodium: float, urea_nitrogen: float, glucose: float) -> float:
    """Calculated serum osmolality in mOsm/kg: 2 Na + BUN/2.8 + glucose/18. Source: Smithline and Gardner 1976."""
    return 2 * sodium + urea_nitrogen / 2.8 + glucose / 18


def anion_gap(sodium: float, chloride: float, bicarbonate: float) -> float:
    """Anion gap in mEq/L, without potassium. Source: Emmett and Narins 1977."""
    return sodium - (chloride + bicarbonate)


def delta_gap(sodium: float, chloride: float, bicarbonate: float) -> float:
    """Delta gap in mEq/L: the anion gap above 12. Source: Wrenn 1990."""
    return anion_gap(sodium, chloride, bicarbonate) - _NORMAL_GAP


def delta_ratio(sodium: float, chloride: float, bicarbonate: float) -> float:
    """Delta gap over the fall of bicarbonate below 24 mEq/L. Source: Wrenn 1990."""
    return delta_gap(sodium, chloride, bicarbonate) / (_NORMAL_BICARBONATE - bicarbonate)


def albumin_corrected_anion_gap(sodium: float, chloride: float, bicarbonate: float, albumin: float) -> float:
    """Anion gap in mEq/L corrected to an albumin of 4 g/dL, 2.5 per g/dL. Source: Figge et al. 1998."""
    return anion_gap(sodium, chloride, bicarbonate) + 2.5 * (_NORMAL_ALBUMIN - albumin)


def albumin_corrected_delta_gap(sodium: float, chloride: float, bicarbonate: float, albumin: float) -> float:
    """Albumin corrected anion gap above 12, in mEq/L. Sources: Figge et al. 1998, Wrenn 1990."""
    return albumin_corrected_anion_gap(sodium, chloride, bicarbonate, albumin) - _NORMAL_GAP


def albumin_corrected_delta_ratio(sodium: float, chloride: float, bicarbonate: float, albumin: float) -> float:
    """Albumin corrected delta gap over the fall of bicarbonate. Sources: Figge et al. 1998, Wrenn 1990."""
    gap = albumin_corrected_delta_gap(sodium, chloride, bicarbonate, albumin)
    return gap / (_NORMAL_BICARBONATE - bicarbonate)


def qtc_bazett(qt: float, heart_rate: float) -> float:
    """Corrected QT interval in ms: QT over the square root of RR in s. Source: Bazett 1920."""
    return float(qt / (60 / heart_rate) ** 0.5)


def qtc_fridericia(qt: float, heart_rate: float) -> float:
    """Corrected QT interval in ms: QT over the cube root of RR in s. Source: Fridericia 1920."""
    return float(qt / (60 / heart_rate) ** (1 / 3))


def qtc_framingham(qt: float, heart_rate: float) -> float:
    """Corrected QT interval in ms: QT + 154 (1 - RR in s). Source: Sagie et al. 1992."""
    return qt + 154 * (1 - 60 / heart_rate)


def qtc_hodges(qt: float, heart_rate: float) -> float:
    """Corrected QT interval in ms: QT + 1.75 (rate - 60). Source: Hodges et al. 1983."""
    return qt + 1.75 * (heart_rate - 60)


def qtc_rautaharju(qt: float, heart_rate: float) -> float:
    """Corrected QT interval in ms: QT (120 + rate) / 180. Source: Rautaharju et al. 1993."""
    return qt * (120 + heart_rate) / 180


def cockcroft_gault(sex: Sex, age: float, weight: float, creatinine: float, height: float | None = None) -> float:
    """Creatinine clearance in mL/min. With a height the weight is adjusted by body mass index: adjusted body weight
    from 25 on, the smaller of ideal and actual weight from 18.5 on. Source: Cockcroft and Gault 1976; weights as in
    Winter et al. 2012."""
    used = weight
    if height is not None and body_mass_index(weight, height) >= _OVERWEIGHT:
        used = adjusted_body_weight(sex, height, weight)
    elif height is not None and body_mass_index(weight, height) >= _UNDERWEIGHT:
        used = min(ideal_body_weight(sex, height), weight)
    return (140 - age) * used * (1 if sex == "male" else 0.85) / (72 * creatinine)


def ckd_epi_2021(sex: Sex, age: float, creatinine: float) -> float:
    """Estimated GFR in mL/min/1.73 m^2 from creatinine, without race. Source: Inker et al. 2021."""
    kappa, alpha, factor = (0.9, -0.302, 1.0) if sex == "male" else (0.7, -0.241, 1.012)
    ratio = creatinine / kappa
    return float(142 * min(ratio, 1) ** alpha * max(ratio, 1) ** -1.2 * 0.9938**age * factor)


def mdrd(sex: Sex, age: float, creatinine: float, race: Literal["black", "other"] = "other") -> float:
    """Estimated GFR in mL/min/1.73 m^2, four variables. Source: Levey et al. 2006."""
    factor = (1 if sex == "male" else 0.742) * (1.212 if race == "black" else 1)
    return float(175 * creatinine**-1.154 * age**-0.203 * factor)


def fractional_excretion_of_sodium(
    sodium: float, creatinine: float, urine_sodium: float, urine_creatinine: float
) -> float:
    """Fractional excretion of sodium in %. Source: Espinel 1976."""
    return 100 * (urine_sodium * creatinine) / (sodium * urine_creatinine)


def free_water_deficit(sex: Sex, age: float, weight: float, sodium: float) -> float:
    """Free water deficit in L to a sodium of 140 mEq/L. Body water: children and men 60 % of the weight, women and men
    from 65 years on 50 %, women from 65 on 45 %. Source: Adrogue and Madias 2000."""
    share = 0.6 if sex == "male" or age < _ADULT else 0.5
    if age >= _ELDERLY:
        share = 0.5 if sex == "male" else 0.45
    return share * weight * (sodium / 140 - 1)


def homa_ir(glucose: float, insulin: float) -> float:
    """HOMA index of insulin resistance, from fasting values. Source: Matthews et al. 1985."""
    return insulin * glucose / 405


def ldl_cholesterol(total_cholesterol: float, hdl_cholesterol: float, triglycerides: float) -> float:
    """LDL cholesterol in mg/dL; unsound from triglycerides of 400 mg/dL on. Source: Friedewald et al. 1972."""
    return total_cholesterol - hdl_cholesterol - triglycerides / 5


def framingham_hard_chd(
    sex: Sex,
    age: float,
    systolic: float,
    total_cholesterol: float,
    hdl_cholesterol: float,
    smoker: bool = False,
    treated_pressure: bool = False,
) -> float:
    """Risk in % of myocardial infarction or coronary death within 10 years. Source: NCEP ATP III 2001 (Framingham;
    Wilson et al. 1998); age with smoking counts up to 70 (men) or 78 (women)."""
    years, total, hdl, pressure = log(age), log(total_cholesterol), log(hdl_cholesterol), log(systolic)
    if sex == "male":
        score = 52.00961 * years + 20.014077 * total - 0.905964 * hdl + 1.305784 * pressure
        score += 0.241549 * treated_pressure - 4.605038 * years * total - 2.93323 * years**2 - 172.300168
        score += smoker * (12.096316 - 2.84367 * log(min(age, 70)))
        return float(100 * (1 - 0.9402 ** exp(score)))
    score = 31.764001 * years + 22.465206 * total - 1.187731 * hdl + 2.552905 * pressure
    score += 0.420251 * treated_pressure - 5.060998 * years * total - 146.5933061
    score += smoker * (13.07543 - 2.996945 * log(min(age, 78)))
    return float(100 * (1 - 0.98767 ** exp(score)))


def due_date(last_period: date, cycle_length: float = 28) -> date:
    """Estimated due date: 280 days, and what the cycle differs from 28 days. Source: Naegele's rule."""
    return later(last_period, 280 + round(cycle_length) - 28)


def conception_date(last_period: date) -> date:
    """Estimated date of conception: 14 days after the first day of the last period."""
    return later(last_period, 14)


def gestational_age(last_period: date, current_date: date) -> str:
    """Gestational age as '(14 weeks, 1 days)', counted from the first day of the last period."""
    days = (current_date - last_period).days
    if days < 0:
        raise invalid(f"the current date {current_date} is before the last period {last_period}")
    return f"({days // 7} weeks, {days % 7} days)"
