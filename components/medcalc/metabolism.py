"""Lipids, insulin resistance and the risk of coronary heart disease."""

from math import exp, log

from components.medcalc.calculator import Calculator
from components.medcalc.parameters import Cholesterol, Glucose, Insulin, Pressure, Sex, Triglycerides, Years


def homa_ir(glucose: Glucose, insulin: Insulin) -> float:
    """HOMA index of insulin resistance, from fasting values. Source: Matthews et al. 1985."""
    return insulin * glucose / 405


def ldl_cholesterol(
    total_cholesterol: Cholesterol, hdl_cholesterol: Cholesterol, triglycerides: Triglycerides
) -> float:
    """LDL cholesterol in mg/dL; unsound from triglycerides of 400 mg/dL on. Source: Friedewald et al. 1972."""
    return total_cholesterol - hdl_cholesterol - triglycerides / 5


def framingham_hard_chd(
    sex: Sex,
    age: Years,
    systolic: Pressure,
    total_cholesterol: Cholesterol,
    hdl_cholesterol: Cholesterol,
    smoker: bool = False,
    treated_pressure: bool = False,
) -> float:
    """Risk in % of myocardial infarction or coronary death within 10 years. Source: NCEP ATP III 2001
    (Framingham; Wilson et al. 1998); age with smoking counts up to 70 (men) or 78 (women).
    """
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


CALCULATORS = (
    Calculator(31, "HOMA-IR (Homeostatic Model Assessment for Insulin Resistance)", homa_ir),
    Calculator(44, "LDL Calculated", ldl_cholesterol),
    Calculator(46, "Framingham Risk Score for Hard Coronary Heart Disease", framingham_hard_chd),
)
