"""Equivalent doses of steroids and opioids."""

from collections.abc import Mapping
from typing import Annotated, Literal

from components.medcalc.calculator import Calculator
from components.medcalc.parameters import Milligrams, Quantity

Steroid = Literal[
    "betamethasone", "cortisone", "dexamethasone", "hydrocortisone", "methylprednisolone", "prednisolone",
    "prednisone", "triamcinolone",
]  # fmt: skip
Micrograms = Annotated[float, Quantity("mcg", 0, 100_000)]
_EQUIVALENT: Mapping[str, float] = {
    "betamethasone": 0.75,
    "cortisone": 25,
    "dexamethasone": 0.75,
    "hydrocortisone": 20,
    "methylprednisolone": 4,
    "prednisolone": 5,
    "prednisone": 5,
    "triamcinolone": 4,
}


def steroid_conversion(dose: Milligrams, steroid: Steroid, target: Steroid) -> float:
    """Dose in mg of the target steroid that equals the given dose; names without route, which does not change
    the ratio. Source: equivalents of glucocorticoids as in Meikle and Tyler 1977.
    """
    return dose * _EQUIVALENT[target] / _EQUIVALENT[steroid]


def morphine_milligram_equivalents(
    buprenorphine: Milligrams = 0,
    codeine: Milligrams = 0,
    fentanyl_buccal: Micrograms = 0,
    hydrocodone: Milligrams = 0,
    hydromorphone: Milligrams = 0,
    methadone: Milligrams = 0,
    morphine: Milligrams = 0,
    oxycodone: Milligrams = 0,
    oxymorphone: Milligrams = 0,
    tapentadol: Milligrams = 0,
    tramadol: Milligrams = 0,
) -> float:
    """Morphine milligram equivalents per day; each argument is the total dose per day (dose times doses per
    day), fentanyl in mcg. Source: CDC clinical practice guideline, Dowell et al. 2022; buccal fentanyl and
    buprenorphine as in MedCalc-Bench.
    """
    total = 10 * buprenorphine + 0.15 * codeine + 0.13 * fentanyl_buccal + hydrocodone + 5 * hydromorphone
    return total + 4.7 * methadone + morphine + 1.5 * oxycodone + 3 * oxymorphone + 0.4 * tapentadol + 0.2 * tramadol


CALCULATORS = (
    Calculator(24, "Steroid Conversion", steroid_conversion),
    Calculator(49, "Morphine Milligram Equivalents (MME)", morphine_milligram_equivalents),
)
