"""Venous thrombosis and pulmonary embolism."""

from typing import Literal

from components.medcalc.calculator import Calculator, steps
from components.medcalc.parameters import BodyMass, Percent, PerMinute, Years


def wells_pe(
    heart_rate: PerMinute,
    clinical_dvt: bool = False,
    pe_most_likely: bool = False,
    immobilization_3_days: bool = False,
    surgery_4_weeks: bool = False,
    previous_pe: bool = False,
    previous_dvt: bool = False,
    hemoptysis: bool = False,
    malignancy: bool = False,
) -> float:
    """Wells' criteria for pulmonary embolism, 0 to 12.5 points; pe_most_likely: it is the first or an equally
    likely diagnosis. Source: Wells et al. 2000.
    """
    whole = 3 * (clinical_dvt + pe_most_likely) + hemoptysis + malignancy
    return whole + 1.5 * (
        (heart_rate > 100) + (immobilization_3_days or surgery_4_weeks) + (previous_pe or previous_dvt)
    )


def wells_dvt(
    active_cancer: bool = False,
    bedridden_3_days: bool = False,
    surgery_12_weeks: bool = False,
    calf_swelling: bool = False,
    collateral_veins: bool = False,
    leg_swollen: bool = False,
    tenderness: bool = False,
    pitting_edema: bool = False,
    paralysis_or_plaster: bool = False,
    previous_dvt: bool = False,
    other_diagnosis_likely: bool = False,
) -> int:
    """Wells' criteria for deep vein thrombosis, -2 to 9 points; calf_swelling: more than 3 cm. Source: Wells et
    al. 2003.
    """
    points = active_cancer + (bedridden_3_days or surgery_12_weeks) + calf_swelling + collateral_veins + leg_swollen
    points += tenderness + pitting_edema + paralysis_or_plaster + previous_dvt
    return points - 2 * other_diagnosis_likely


def perc(
    age: Years,
    heart_rate: PerMinute,
    oxygen_saturation: Percent,
    unilateral_leg_swelling: bool = False,
    hemoptysis: bool = False,
    surgery_or_trauma: bool = False,
    previous_pe: bool = False,
    previous_dvt: bool = False,
    hormone_use: bool = False,
) -> int:
    """Criteria of the PERC rule that are met, 0 to 8; embolism is ruled out at 0. Source: Kline et al. 2004."""
    points = (age >= 50) + (heart_rate >= 100) + (oxygen_saturation < 95) + unilateral_leg_swelling + hemoptysis
    return points + surgery_or_trauma + (previous_pe or previous_dvt) + hormone_use


def caprini(
    age: Years,
    surgery: Literal["none", "minor", "major", "laparoscopic", "arthroscopic", "arthroplasty"] = "none",
    major_surgery_last_month: bool = False,
    heart_failure: bool = False,
    sepsis: bool = False,
    pneumonia: bool = False,
    plaster_cast: bool = False,
    leg_fracture: bool = False,
    stroke: bool = False,
    multiple_trauma: bool = False,
    spinal_cord_injury: bool = False,
    varicose_veins: bool = False,
    swollen_legs: bool = False,
    central_venous_access: bool = False,
    previous_dvt: bool = False,
    previous_pe: bool = False,
    family_thrombosis: bool = False,
    factor_v_leiden: bool = False,
    prothrombin_20210a: bool = False,
    homocysteine: bool = False,
    lupus_anticoagulant: bool = False,
    anticardiolipin: bool = False,
    heparin_thrombocytopenia: bool = False,
    other_thrombophilia: bool = False,
    mobility: Literal["normal", "on bed rest", "confined to bed >72 hours"] = "normal",
    inflammatory_bowel_disease: bool = False,
    body_mass_index: BodyMass | None = None,
    myocardial_infarction: bool = False,
    copd: bool = False,
    malignancy: bool = False,
) -> int:
    """Caprini score for venous thromboembolism; the acute events are those of the last month, elective lower
    extremity arthroplasty counts 5, earlier DVT and embolism 3 together. Source: Caprini 2005, with MedCalc-Bench's
    points for plaster cast, swollen legs and body mass index from 25 on.
    """
    points = steps(age, {41: 1, 61: 2, 75: 3}, 0)
    points += {"none": 0, "minor": 1, "arthroplasty": 5}.get(surgery, 2)
    points += {"normal": 0, "on bed rest": 1, "confined to bed >72 hours": 2}[mobility]
    points += major_surgery_last_month + heart_failure + sepsis + pneumonia + plaster_cast
    points += 5 * (leg_fracture + stroke + multiple_trauma + spinal_cord_injury)
    points += varicose_veins + swollen_legs + inflammatory_bowel_disease + myocardial_infarction + copd
    points += 2 * (central_venous_access + malignancy) + (body_mass_index is not None and body_mass_index >= 25)
    points += 3 * ((previous_dvt or previous_pe) + family_thrombosis + factor_v_leiden + prothrombin_20210a)
    points += 3 * (homocysteine + lupus_anticoagulant + anticardiolipin)
    return points + 3 * (heparin_thrombocytopenia + other_thrombophilia)


CALCULATORS = (
    Calculator(8, "Wells' Criteria for Pulmonary Embolism", wells_pe),
    Calculator(16, "Wells' Criteria for DVT", wells_dvt),
    Calculator(36, "Caprini Score for Venous Thromboembolism (2005)", caprini),
    Calculator(48, "PERC Rule for Pulmonary Embolism", perc),
)
