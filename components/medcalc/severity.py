"""Severity of illness: consciousness, organ failure, comorbidity."""

from typing import Annotated, Literal

from components.arithmetic.functions import invalid
from components.medcalc.body import mean_arterial_pressure
from components.medcalc.calculator import Calculator, steps
from components.medcalc.parameters import (
    PH,
    Bilirubin,
    Breaths,
    Cells,
    Celsius,
    Coma,
    Creatinine,
    Infusion,
    InspiredOxygen,
    Percent,
    PerMinute,
    Potassium,
    Pressure,
    Quantity,
    Sodium,
    Years,
)

Urine = Annotated[float, Quantity("mL/day", 0, 30_000)]
Eye = Literal[
    "eyes open spontaneously", "eye opening to verbal command", "eye opening to pain", "no eye opening", "not testable"
]
Verbal = Literal[
    "oriented", "confused", "inappropriate words", "incomprehensible sounds", "no verbal response", "not testable"
]
Motor = Literal[
    "obeys commands", "localizes pain", "withdrawal from pain", "flexion to pain", "extension to pain",
    "no motor response", "not testable",
]  # fmt: skip
_EYE = {"eyes open spontaneously": 4, "eye opening to verbal command": 3, "eye opening to pain": 2, "no eye opening": 1}
_VERBAL = {
    "oriented": 5, "confused": 4, "inappropriate words": 3, "incomprehensible sounds": 2, "no verbal response": 1,
}  # fmt: skip
_MOTOR = {
    "obeys commands": 6, "localizes pain": 5, "withdrawal from pain": 4, "flexion to pain": 3, "extension to pain": 2,
    "no motor response": 1,
}  # fmt: skip


def glasgow_coma_score(
    eye: Eye = "eyes open spontaneously", verbal: Verbal = "oriented", motor: Motor = "obeys commands"
) -> int:
    """Glasgow coma score, 3 to 15 points; what cannot be tested gets full points. Source: Teasdale and Jennett
    1974.
    """
    return _EYE.get(eye, 4) + _VERBAL.get(verbal, 5) + _MOTOR.get(motor, 6)


def apache_ii(
    age: Years,
    temperature: Celsius,
    systolic: Pressure,
    diastolic: Pressure,
    heart_rate: PerMinute,
    respiratory_rate: Breaths,
    fio2: InspiredOxygen,
    ph: PH,
    sodium: Sodium,
    potassium: Potassium,
    creatinine: Creatinine,
    hematocrit: Percent,
    white_cells: Cells,
    coma_score: Coma,
    pao2: Pressure | None = None,
    a_a_gradient: Pressure | None = None,
    acute_renal_failure: bool = False,
    organ_failure_or_immunocompromise: bool = False,
    surgery: Literal["nonoperative", "emergency", "elective"] = "nonoperative",
) -> int:
    """APACHE II score, 0 to 71 points; oxygenation is judged by the A-a gradient from an FiO2 of 50 % on, else by
    PaO2; points of creatinine count twice in acute renal failure. Source: Knaus et al. 1985.
    """
    pressure = mean_arterial_pressure(systolic, diastolic)
    points = steps(age, {45: 2, 55: 3, 65: 5, 75: 6}, 0) + 15 - round(coma_score)
    points += _oxygenation(fio2, pao2, a_a_gradient)
    points += steps(temperature, {30: 3, 32: 2, 34: 1, 36: 0, 38.5: 1, 39: 3, 41: 4}, 4)
    points += steps(pressure, {50: 2, 70: 0, 110: 2, 130: 3, 160: 4}, 4)
    points += steps(heart_rate, {40: 3, 55: 2, 70: 0, 110: 2, 140: 3, 180: 4}, 4)
    points += steps(respiratory_rate, {6: 2, 10: 1, 12: 0, 25: 1, 35: 3, 50: 4}, 4)
    points += steps(ph, {7.15: 3, 7.25: 2, 7.33: 0, 7.5: 1, 7.6: 3, 7.7: 4}, 4)
    points += steps(sodium, {111: 3, 120: 2, 130: 0, 150: 1, 155: 2, 160: 3, 180: 4}, 4)
    points += steps(potassium, {2.5: 2, 3: 1, 3.5: 0, 5.5: 1, 6: 3, 7: 4}, 4)
    points += steps(creatinine, {0.6: 0, 1.5: 2, 2: 3, 3.5: 4}, 2) * (2 if acute_renal_failure else 1)
    points += steps(hematocrit, {20: 2, 30: 0, 46: 1, 50: 2, 60: 4}, 4)
    points += steps(white_cells, {1: 2, 3: 0, 15: 1, 20: 2, 40: 4}, 4)
    if organ_failure_or_immunocompromise:
        points += 2 if surgery == "elective" else 5
    return points


def _oxygenation(fio2: float, pao2: float | None, gradient: float | None) -> int:
    """APACHE II points of oxygenation. Raises ToolError when the value that decides is not given."""
    if fio2 >= 50:
        if gradient is None:
            raise invalid("apache_ii needs a_a_gradient when fio2 is 50 % or more")
        return steps(gradient, {200: 2, 350: 3, 500: 4}, 0)
    if pao2 is None:
        raise invalid("apache_ii needs pao2 when fio2 is below 50 %")
    return 0 if pao2 > 70 else steps(pao2, {55: 3, 61: 1}, 4)


def sofa(
    pao2: Pressure,
    fio2: InspiredOxygen,
    platelets: Cells,
    bilirubin: Bilirubin,
    coma_score: Coma = 15,
    creatinine: Creatinine | None = None,
    urine_output: Urine | None = None,
    systolic: Pressure | None = None,
    diastolic: Pressure | None = None,
    dopamine: Infusion = 0,
    dobutamine: Infusion = 0,
    epinephrine: Infusion = 0,
    norepinephrine: Infusion = 0,
    respiratory_support: bool = False,
) -> int:
    """SOFA score, 0 to 24 points; respiratory support is mechanical ventilation or CPAP, without which
    oxygenation gets at most 2 points. Source: Vincent et al. 1996.
    """
    points = steps(100 * pao2 / fio2, {0: 4, 100: 3, 200: 2, 300: 1, 400: 0}, 4)
    points = points if respiratory_support else min(points, 2)
    points += steps(platelets, {20: 3, 50: 2, 100: 1, 150: 0}, 4) + steps(coma_score, {6: 3, 10: 2, 13: 1, 15: 0}, 4)
    points += steps(bilirubin, {1.2: 1, 2: 2, 6: 3, 12: 4}, 0)
    kidney = 0 if creatinine is None else steps(creatinine, {1.2: 1, 2: 2, 3.5: 3, 5: 4}, 0)
    points += kidney if urine_output is None else max(kidney, steps(urine_output, {200: 3, 500: 0}, 4))
    low = systolic is not None and diastolic is not None and mean_arterial_pressure(systolic, diastolic) < 70
    catecholamine = max(epinephrine, norepinephrine)
    if dopamine > 15 or catecholamine > 0.1:
        return points + 4
    if dopamine > 5 or catecholamine > 0:
        return points + 3
    return points + (2 if dopamine > 0 or dobutamine > 0 else int(low))


def charlson(
    age: Years,
    myocardial_infarction: bool = False,
    heart_failure: bool = False,
    peripheral_vascular_disease: bool = False,
    stroke: bool = False,
    tia: bool = False,
    dementia: bool = False,
    copd: bool = False,
    connective_tissue_disease: bool = False,
    peptic_ulcer: bool = False,
    liver_disease: Literal["none", "mild", "moderate to severe"] = "none",
    diabetes: Literal["none or diet-controlled", "uncomplicated", "end-organ damage"] = "none or diet-controlled",
    hemiplegia: bool = False,
    moderate_to_severe_ckd: bool = False,
    solid_tumor: Literal["none", "localized", "metastatic"] = "none",
    leukemia: bool = False,
    lymphoma: bool = False,
    aids: bool = False,
) -> int:
    """Charlson comorbidity index with age. Source: Charlson et al. 1987, age after Charlson et al. 1994."""
    points = steps(age, {50: 1, 60: 2, 70: 3, 80: 4}, 0) + myocardial_infarction + heart_failure
    points += peripheral_vascular_disease + (stroke or tia) + dementia + copd
    points += connective_tissue_disease + peptic_ulcer + 2 * (hemiplegia + moderate_to_severe_ckd)
    points += {"none": 0, "mild": 1, "moderate to severe": 3}[liver_disease]
    points += {"none or diet-controlled": 0, "uncomplicated": 1, "end-organ damage": 2}[diabetes]
    points += {"none": 0, "localized": 2, "metastatic": 6}[solid_tumor]
    return points + 2 * (leukemia + lymphoma) + 6 * aids


CALCULATORS = (
    Calculator(21, "Glasgow Coma Score (GCS)", glasgow_coma_score),
    Calculator(28, "APACHE II Score", apache_ii),
    Calculator(32, "Charlson Comorbidity Index (CCI)", charlson),
    Calculator(43, "Sequential Organ Failure Assessment (SOFA) Score", sofa),
)
