"""Throat, lungs and systemic inflammation."""

from components.medcalc.calculator import Calculator, steps
from components.medcalc.parameters import (
    PH,
    Breaths,
    Cells,
    Celsius,
    Glucose,
    Percent,
    PerMinute,
    Pressure,
    Sex,
    Sodium,
    UreaNitrogen,
    Years,
)


def centor(
    age: Years,
    temperature: Celsius,
    cough: bool = False,
    tender_lymph_nodes: bool = False,
    tonsil_exudate: bool = False,
) -> int:
    """Modified Centor score, -1 to 5 points; fever is above 38 °C, absence of cough counts 1. Source: McIsaac et
    al. 1998.
    """
    points = steps(age, {0: 0, 3: 1, 15: 0, 45: -1}, 0)
    return points + (temperature > 38) + (not cough) + tender_lymph_nodes + tonsil_exudate


def fever_pain(
    fever_24_hours: bool = False,
    cough_and_coryza_absent: bool = False,
    onset_within_3_days: bool = False,
    purulent_tonsils: bool = False,
    severe_tonsil_inflammation: bool = False,
) -> int:
    """FeverPAIN score, 0 to 5 points. Source: Little et al. 2013."""
    points = fever_24_hours + cough_and_coryza_absent + onset_within_3_days
    return points + purulent_tonsils + severe_tonsil_inflammation


def sirs(
    temperature: Celsius,
    heart_rate: PerMinute,
    respiratory_rate: Breaths,
    white_cells: Cells,
    paco2: Pressure | None = None,
) -> int:
    """SIRS criteria that are met, 0 to 4 (bands are not asked for). Source: Bone et al. 1992."""
    points = (not 36 <= temperature <= 38) + (heart_rate > 90) + (not 4 <= white_cells <= 12)
    return points + (respiratory_rate > 20 or (paco2 is not None and paco2 < 32))


def curb65(
    age: Years,
    urea_nitrogen: UreaNitrogen,
    respiratory_rate: Breaths,
    systolic: Pressure,
    diastolic: Pressure,
    confusion: bool = False,
) -> int:
    """CURB-65 score, 0 to 5 points; urea counts above a urea nitrogen of 19 mg/dL. Source: Lim et al. 2003."""
    pressure = systolic < 90 or diastolic <= 60
    return confusion + (urea_nitrogen > 19) + (respiratory_rate >= 30) + pressure + (age >= 65)


def pneumonia_severity_index(
    sex: Sex,
    age: Years,
    heart_rate: PerMinute,
    respiratory_rate: Breaths,
    systolic: Pressure,
    temperature: Celsius,
    ph: PH | None = None,
    urea_nitrogen: UreaNitrogen | None = None,
    sodium: Sodium | None = None,
    glucose: Glucose | None = None,
    hematocrit: Percent | None = None,
    pao2: Pressure | None = None,
    nursing_home: bool = False,
    neoplastic_disease: bool = False,
    liver_disease: bool = False,
    heart_failure: bool = False,
    cerebrovascular_disease: bool = False,
    renal_disease: bool = False,
    altered_mental_status: bool = False,
    pleural_effusion: bool = False,
) -> int:
    """Pneumonia severity index in points; values that were not measured count as normal. Source: Fine et al.
    1997.
    """
    points = int(age) - 10 * (sex == "female") + 30 * neoplastic_disease + 20 * (liver_disease + altered_mental_status)
    points += 10 * (nursing_home + heart_failure + cerebrovascular_disease + renal_disease + pleural_effusion)
    points += 20 * ((respiratory_rate >= 30) + (systolic < 90)) + 10 * (heart_rate >= 125)
    points += 15 * (not 35 <= temperature <= 39.9)
    points += 30 * (ph is not None and ph < 7.35) + 20 * (urea_nitrogen is not None and urea_nitrogen >= 30)
    points += 20 * (sodium is not None and sodium < 130) + 10 * (glucose is not None and glucose >= 250)
    return points + 10 * ((hematocrit is not None and hematocrit < 30) + (pao2 is not None and pao2 < 60))


CALCULATORS = (
    Calculator(20, "Centor Score (Modified/McIsaac) for Strep Pharyngitis", centor),
    Calculator(29, "PSI Score: Pneumonia Severity Index for CAP", pneumonia_severity_index),
    Calculator(33, "FeverPAIN Score for Strep Pharyngitis", fever_pain),
    Calculator(45, "CURB-65 Score for Pneumonia Severity", curb65),
    Calculator(51, "SIRS Criteria", sirs),
)
