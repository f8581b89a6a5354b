"""What relates mass, amount, charge and activity of the substances that laboratories measure.

Molar masses in g/mol from PubChem (ions and elements: IUPAC 2021 atomic weights). Departures from the
plain molecule: BUN counts the two nitrogen atoms of urea; triglycerides are the conventional triolein;
hemoglobin is the monomer; phosphate is counted as phosphorus, as on laboratory reports. Insulin: 1 IU =
6.00 nmol (WHO standard, Knopp et al. 2019, J Diabetes Sci Technol 13:597); vitamin D: 1 IU = 0.025 ug.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Substance:
    """``mass`` in g/mol; ``valence`` in eq/mol, 0 when it carries no fixed charge; ``unit`` in mol/IU, 0 without."""

    mass: float
    valence: int = 0
    unit: float = 0.0


SUBSTANCES: Mapping[str, Substance] = {
    "albumin": Substance(66_500),
    "ammonia": Substance(17.031),
    "bicarbonate": Substance(61.017, 1),
    "bilirubin": Substance(584.66),
    "bun": Substance(28.014),
    "calcium": Substance(40.078, 2),
    "chloride": Substance(35.45, 1),
    "cholesterol": Substance(386.65),
    "cortisol": Substance(362.46),
    "creatinine": Substance(113.12),
    "folate": Substance(441.40),
    "glucose": Substance(180.156),
    "hemoglobin": Substance(16_114.5),
    "insulin": Substance(5808, 0, 6.0e-9),
    "iron": Substance(55.845),
    "lactate": Substance(90.08),
    "lithium": Substance(6.94, 1),
    "magnesium": Substance(24.305, 2),
    "phosphate": Substance(30.974),
    "potassium": Substance(39.098, 1),
    "sodium": Substance(22.990, 1),
    "testosterone": Substance(288.42),
    "thyroxine": Substance(776.87),
    "triglycerides": Substance(885.4),
    "urea": Substance(60.056),
    "uric acid": Substance(168.11),
    "vitamin b12": Substance(1355.4),
    "vitamin d": Substance(384.64, 0, 0.025e-6 / 384.64),
}
ALIASES: Mapping[str, str] = {
    "blood urea nitrogen": "bun",
    "urea nitrogen": "bun",
    "ca": "calcium",
    "cl": "chloride",
    "hco3": "bicarbonate",
    "hb": "hemoglobin",
    "haemoglobin": "hemoglobin",
    "hdl": "cholesterol",
    "ldl": "cholesterol",
    "k": "potassium",
    "mg": "magnesium",
    "na": "sodium",
    "phosphorus": "phosphate",
    "scr": "creatinine",
    "total cholesterol": "cholesterol",
    "triglyceride": "triglycerides",
    "urate": "uric acid",
}
