"""Kidney function and water."""

from typing import Literal

from components.medcalc.body import adjusted_body_weight, body_mass_index, ideal_body_weight
from components.medcalc.calculator import Calculator
from components.medcalc.parameters import Centimetres, Creatinine, Kilograms, Sex, Sodium, Years

_UNDERWEIGHT, _OVERWEIGHT, _ADULT, _ELDERLY = 18.5, 25, 18, 65


def cockcroft_gault(
    sex: Sex, age: Years, weight: Kilograms, creatinine: Creatinine, height: Centimetres | None = None
) -> float:
    """Creatinine clearance in mL/min. With a height the weight is adjusted by body mass index: adjusted body
    weight from 25 on, the smaller of ideal and actual weight from 18.5 on. Source: Cockcroft and Gault 1976;
    weights as in Winter et al. 2012.
    """
    used = weight
    if height is not None and body_mass_index(weight, height) >= _OVERWEIGHT:
        used = adjusted_body_weight(sex, height, weight)
    elif height is not None and body_mass_index(weight, height) >= _UNDERWEIGHT:
        used = min(ideal_body_weight(sex, height), weight)
    return (140 - age) * used * (1 if sex == "male" else 0.85) / (72 * creatinine)


def ckd_epi_2021(sex: Sex, age: Years, creatinine: Creatinine) -> float:
    """Estimated GFR in mL/min/1.73 m^2 from creatinine, without race. Source: Inker et al. 2021."""
    kappa, alpha, factor = (0.9, -0.302, 1.0) if sex == "male" else (0.7, -0.241, 1.012)
    ratio = creatinine / kappa
    return float(142 * min(ratio, 1) ** alpha * max(ratio, 1) ** -1.2 * 0.9938**age * factor)


def mdrd(sex: Sex, age: Years, creatinine: Creatinine, race: Literal["black", "other"] = "other") -> float:
    """Estimated GFR in mL/min/1.73 m^2, four variables. Source: Levey et al. 2006."""
    factor = (1 if sex == "male" else 0.742) * (1.212 if race == "black" else 1)
    return float(175 * creatinine**-1.154 * age**-0.203 * factor)


def fractional_excretion_of_sodium(
    sodium: Sodium, creatinine: Creatinine, urine_sodium: Sodium, urine_creatinine: Creatinine
) -> float:
    """Fractional excretion of sodium in %. Source: Espinel 1976."""
    return 100 * (urine_sodium * creatinine) / (sodium * urine_creatinine)


def free_water_deficit(sex: Sex, age: Years, weight: Kilograms, sodium: Sodium) -> float:
    """Free water deficit in L to a sodium of 140 mEq/L. Body water: children and men 60 % of the weight, women
    and men from 65 years on 50 %, women from 65 on 45 %. Source: Adrogue and Madias 2000.
    """
    share = 0.6 if sex == "male" or age < _ADULT else 0.5
    if age >= _ELDERLY:
        share = 0.5 if sex == "male" else 0.45
    return share * weight * (sodium / 140 - 1)


CALCULATORS = (
    Calculator(2, "Creatinine Clearance (Cockcroft-Gault Equation)", cockcroft_gault),
    Calculator(3, "CKD-EPI Equation for Glomerular Filtration Rate", ckd_epi_2021),
    Calculator(9, "MDRD GFR Equation", mdrd),
    Calculator(38, "Free Water Deficit", free_water_deficit),
    Calculator(40, "Fractional Excretion of Sodium (FENa)", fractional_excretion_of_sodium),
)
