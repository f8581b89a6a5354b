"""Risk of stroke, bleeding and cardiac events; QT intervals corrected for the heart rate."""

from typing import Annotated, Literal

from components.medcalc.calculator import Calculator, steps
from components.medcalc.parameters import Creatinine, Milliseconds, PerMinute, Quantity, Sex, Years

Drinks = Annotated[float, Quantity("drinks per week", 0, 300)]


def cha2ds2_vasc(
    sex: Sex,
    age: Years,
    heart_failure: bool = False,
    hypertension: bool = False,
    diabetes: bool = False,
    stroke: bool = False,
    tia: bool = False,
    thromboembolism: bool = False,
    vascular_disease: bool = False,
) -> int:
    """CHA2DS2-VASc score, 0 to 9 points. Source: Lip et al. 2010."""
    points = steps(age, {65: 1, 75: 2}, 0) + (sex == "female") + 2 * (stroke or tia or thromboembolism)
    return points + heart_failure + hypertension + diabetes + vascular_disease


def has_bled(
    age: Years,
    hypertension: bool = False,
    renal_disease: bool = False,
    liver_disease: bool = False,
    stroke: bool = False,
    prior_bleeding: bool = False,
    labile_inr: bool = False,
    bleeding_medication: bool = False,
    drinks_per_week: Drinks = 0,
) -> int:
    """HAS-BLED score, 0 to 9 points; hypertension means uncontrolled, systolic above 160 mm Hg. Source: Pisters
    et al. 2010.
    """
    points = (age > 65) + (drinks_per_week >= 8) + hypertension + renal_disease + liver_disease
    return points + stroke + prior_bleeding + labile_inr + bleeding_medication


def revised_cardiac_risk_index(
    creatinine: Creatinine | None = None,
    elevated_risk_surgery: bool = False,
    ischemic_heart_disease: bool = False,
    heart_failure: bool = False,
    cerebrovascular_disease: bool = False,
    insulin_treatment: bool = False,
) -> int:
    """Revised cardiac risk index, 0 to 6 points; creatinine counts above 2 mg/dL. Source: Lee et al. 1999."""
    points = elevated_risk_surgery + ischemic_heart_disease + heart_failure + cerebrovascular_disease
    return points + insulin_treatment + (creatinine is not None and creatinine > 2)


def heart_score(
    age: Years,
    history: Literal["slightly suspicious", "moderately suspicious", "highly suspicious"] = "slightly suspicious",
    ecg: Literal["normal", "non-specific repolarization disturbance", "significant st deviation"] = "normal",
    troponin: Literal["normal", "1-3x normal", ">3x normal"] = "normal",
    hypertension: bool = False,
    hypercholesterolemia: bool = False,
    diabetes: bool = False,
    obesity: bool = False,
    smoking: bool = False,
    family_history: bool = False,
    atherosclerotic_disease: bool = False,
) -> int:
    """HEART score, 0 to 10 points; atherosclerotic disease includes infarction, PCI or bypass, stroke or TIA and
    peripheral arterial disease, and counts as much as three risk factors. Source: Six et al. 2008.
    """
    risks = hypertension + hypercholesterolemia + diabetes + obesity + smoking + family_history
    points = 2 if atherosclerotic_disease else steps(risks, {1: 1, 3: 2}, 0)
    points += {"slightly suspicious": 0, "moderately suspicious": 1, "highly suspicious": 2}[history]
    points += {"normal": 0, "non-specific repolarization disturbance": 1, "significant st deviation": 2}[ecg]
    points += {"normal": 0, "1-3x normal": 1, ">3x normal": 2}[troponin]
    return points + steps(age, {45: 1, 65: 2}, 0)


def qtc_bazett(qt: Milliseconds, heart_rate: PerMinute) -> float:
    """Corrected QT interval in ms: QT over the square root of RR in s. Source: Bazett 1920."""
    return float(qt / (60 / heart_rate) ** 0.5)


def qtc_fridericia(qt: Milliseconds, heart_rate: PerMinute) -> float:
    """Corrected QT interval in ms: QT over the cube root of RR in s. Source: Fridericia 1920."""
    return float(qt / (60 / heart_rate) ** (1 / 3))


def qtc_framingham(qt: Milliseconds, heart_rate: PerMinute) -> float:
    """Corrected QT interval in ms: QT + 154 (1 - RR in s). Source: Sagie et al. 1992."""
    return qt + 154 * (1 - 60 / heart_rate)


def qtc_hodges(qt: Milliseconds, heart_rate: PerMinute) -> float:
    """Corrected QT interval in ms: QT + 1.75 (rate - 60). Source: Hodges et al. 1983."""
    return qt + 1.75 * (heart_rate - 60)


def qtc_rautaharju(qt: Milliseconds, heart_rate: PerMinute) -> float:
    """Corrected QT interval in ms: QT (120 + rate) / 180. Source: Rautaharju et al. 1993."""
    return qt * (120 + heart_rate) / 180


CALCULATORS = (
    Calculator(4, "CHA2DS2-VASc Score for Atrial Fibrillation Stroke Risk", cha2ds2_vasc),
    Calculator(17, "Revised Cardiac Risk Index for Pre-Operative Risk", revised_cardiac_risk_index),
    Calculator(18, "HEART Score for Major Cardiac Events", heart_score),
    Calculator(25, "HAS-BLED Score for Major Bleeding Risk", has_bled),
    Calculator(11, "QTc Bazett", qtc_bazett),
    Calculator(56, "QTc Fridericia", qtc_fridericia),
    Calculator(57, "QTc Framingham", qtc_framingham),
    Calculator(58, "QTc Hodges", qtc_hodges),
    Calculator(59, "QTc Rautaharju", qtc_rautaharju),
)
