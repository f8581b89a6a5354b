"""Liver and digestive tract."""

from math import log, sqrt
from typing import Literal

from components.medcalc.calculator import Calculator, steps
from components.medcalc.parameters import (
    Albumin,
    Bilirubin,
    Cells,
    Creatinine,
    Enzyme,
    Hemoglobin,
    Inr,
    PerMinute,
    Pressure,
    Sex,
    Sodium,
    UreaNitrogen,
    Years,
)

_MOST = 40


def fib4(age: Years, ast: Enzyme, alt: Enzyme, platelets: Cells) -> float:
    """Fibrosis-4 index. Source: Sterling et al. 2006."""
    return age * ast / (platelets * sqrt(alt))


def meld_na(
    creatinine: Creatinine,
    bilirubin: Bilirubin,
    inr: Inr,
    sodium: Sodium,
    dialysis_twice: bool = False,
    hemodialysis_24h: bool = False,
) -> int:
    """MELD-Na, whole points up to 40. Creatinine, bilirubin and INR count as at least 1, creatinine as 4 from 4
    on and with two dialyses or 24 h of continuous hemodialysis in the past week; sodium is held in 125 to 137.
    Source: OPTN policy 9 of 2016, after Kim et al. 2008.
    """
    kidney = 4.0 if dialysis_twice or hemodialysis_24h else min(max(creatinine, 1), 4)
    plain = 0.957 * log(kidney) + 0.378 * log(max(bilirubin, 1)) + 1.12 * log(max(inr, 1)) + 0.643
    first = 10 * round(plain, 1)
    if first <= 11:
        return round(first)
    lack = 137 - min(max(sodium, 125), 137)
    return min(round(first + 1.32 * lack - 0.033 * first * lack), _MOST)


def child_pugh(
    bilirubin: Bilirubin,
    albumin: Albumin,
    inr: Inr,
    ascites: Literal["absent", "slight", "moderate"] = "absent",
    encephalopathy: Literal["none", "grade 1-2", "grade 3-4"] = "none",
) -> int:
    """Child-Pugh score, 5 to 15 points. Source: Pugh et al. 1973; INR bands 1.7 and 2.3."""
    points = 1 if bilirubin < 2 else 2 if bilirubin <= 3 else 3
    points += 1 if albumin > 3.5 else 2 if albumin >= 2.8 else 3
    points += 1 if inr < 1.7 else 2 if inr <= 2.3 else 3
    points += {"absent": 1, "slight": 2, "moderate": 3}[ascites]
    return points + {"none": 1, "grade 1-2": 2, "grade 3-4": 3}[encephalopathy]


def glasgow_blatchford(
    sex: Sex,
    urea_nitrogen: UreaNitrogen,
    hemoglobin: Hemoglobin,
    systolic: Pressure,
    heart_rate: PerMinute,
    melena: bool = False,
    syncope: bool = False,
    liver_disease: bool = False,
    cardiac_failure: bool = False,
) -> int:
    """Glasgow-Blatchford bleeding score, 0 to 23 points. Source: Blatchford et al. 2000."""
    points = steps(urea_nitrogen, {18.2: 2, 22.4: 3, 28: 4, 70: 6}, 0)
    bands: dict[float, int] = {10: 3, 12: 1, 13: 0} if sex == "male" else {10: 1, 12: 0}
    points += steps(hemoglobin, bands, 6) + steps(systolic, {90: 2, 100: 1, 110: 0}, 3)
    return points + (heart_rate >= 100) + melena + 2 * (syncope + liver_disease + cardiac_failure)


CALCULATORS = (
    Calculator(15, "Child-Pugh Score for Cirrhosis Mortality", child_pugh),
    Calculator(19, "Fibrosis-4 (FIB-4) Index for Liver Fibrosis", fib4),
    Calculator(23, "MELD Na (UNOS/OPTN)", meld_na),
    Calculator(27, "Glasgow-Blatchford Bleeding Score (GBS)", glasgow_blatchford),
)
