"""Electrolytes, osmolality and the gaps of acid-base balance."""

from components.medcalc.calculator import Calculator
from components.medcalc.parameters import Albumin, Bicarbonate, Calcium, Chloride, Glucose, Sodium, UreaNitrogen

_NORMAL_GAP, _NORMAL_BICARBONATE, _NORMAL_ALBUMIN = 12, 24, 4


def corrected_calcium(calcium: Calcium, albumin: Albumin) -> float:
    """Calcium in mg/dL corrected to an albumin of 4 g/dL. Source: Payne et al. 1973."""
    return calcium + 0.8 * (_NORMAL_ALBUMIN - albumin)


def corrected_sodium(sodium: Sodium, glucose: Glucose) -> float:
    """Sodium in mEq/L corrected for glucose, 2.4 per 100 mg/dL. Source: Hillier et al. 1999."""
    return sodium + 0.024 * (glucose - 100)


def serum_osmolality(sodium: Sodium, urea_nitrogen: UreaNitrogen, glucose: Glucose) -> float:
    """Calculated serum osmolality in mOsm/kg: 2 Na + BUN/2.8 + glucose/18. Source: Smithline and Gardner 1976."""
    return 2 * sodium + urea_nitrogen / 2.8 + glucose / 18


def anion_gap(sodium: Sodium, chloride: Chloride, bicarbonate: Bicarbonate) -> float:
    """Anion gap in mEq/L, without potassium. Source: Emmett and Narins 1977."""
    return sodium - (chloride + bicarbonate)


def delta_gap(sodium: Sodium, chloride: Chloride, bicarbonate: Bicarbonate) -> float:
    """Delta gap in mEq/L: the anion gap above 12. Source: Wrenn 1990."""
    return anion_gap(sodium, chloride, bicarbonate) - _NORMAL_GAP


def delta_ratio(sodium: Sodium, chloride: Chloride, bicarbonate: Bicarbonate) -> float:
    """Delta gap over the fall of bicarbonate below 24 mEq/L. Source: Wrenn 1990."""
    return delta_gap(sodium, chloride, bicarbonate) / (_NORMAL_BICARBONATE - bicarbonate)


def albumin_corrected_anion_gap(
    sodium: Sodium, chloride: Chloride, bicarbonate: Bicarbonate, albumin: Albumin
) -> float:
    """Anion gap in mEq/L corrected to an albumin of 4 g/dL, 2.5 per g/dL. Source: Figge et al. 1998."""
    return anion_gap(sodium, chloride, bicarbonate) + 2.5 * (_NORMAL_ALBUMIN - albumin)


def albumin_corrected_delta_gap(
    sodium: Sodium, chloride: Chloride, bicarbonate: Bicarbonate, albumin: Albumin
) -> float:
    """Albumin corrected anion gap above 12, in mEq/L. Sources: Figge et al. 1998, Wrenn 1990."""
    return albumin_corrected_anion_gap(sodium, chloride, bicarbonate, albumin) - _NORMAL_GAP


def albumin_corrected_delta_ratio(
    sodium: Sodium, chloride: Chloride, bicarbonate: Bicarbonate, albumin: Albumin
) -> float:
    """Albumin corrected delta gap over the fall of bicarbonate. Sources: Figge et al. 1998, Wrenn 1990."""
    gap = albumin_corrected_delta_gap(sodium, chloride, bicarbonate, albumin)
    return gap / (_NORMAL_BICARBONATE - bicarbonate)


CALCULATORS = (
    Calculator(7, "Calcium Correction for Hypoalbuminemia", corrected_calcium),
    Calculator(26, "Sodium Correction for Hyperglycemia", corrected_sodium),
    Calculator(30, "Serum Osmolality", serum_osmolality),
    Calculator(39, "Anion Gap", anion_gap),
    Calculator(63, "Delta Gap", delta_gap),
    Calculator(64, "Delta Ratio", delta_ratio),
    Calculator(65, "Albumin Corrected Anion Gap", albumin_corrected_anion_gap),
    Calculator(66, "Albumin Corrected Delta Gap", albumin_corrected_delta_gap),
    Calculator(67, "Albumin Corrected Delta Ratio", albumin_corrected_delta_ratio),
)
