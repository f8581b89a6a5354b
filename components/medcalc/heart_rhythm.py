"""QT intervals corrected for the heart rate."""

from __future__ import annotations

from components.medcalc.calculator import Calculator
from components.medcalc.parameters import Milliseconds, PerMinute


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
    Calculator(11, "QTc Bazett", qtc_bazett),
    Calculator(56, "QTc Fridericia", qtc_fridericia),
    Calculator(57, "QTc Framingham", qtc_framingham),
    Calculator(58, "QTc Hodges", qtc_hodges),
    Calculator(59, "QTc Rautaharju", qtc_rautaharju),
)
