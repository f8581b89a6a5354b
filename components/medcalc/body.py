"""Body size, fluids and blood pressure."""

from math import sqrt

from components.medcalc.calculator import Calculator
from components.medcalc.parameters import BodyMass, Centimetres, Kilograms, Pressure, Sex

_CM_PER_INCH = 2.54


def mean_arterial_pressure(systolic: Pressure, diastolic: Pressure) -> float:
    """Mean arterial pressure in mm Hg: a third of the systolic and two thirds of the diastolic pressure."""
    return systolic / 3 + 2 * diastolic / 3


def body_mass_index(weight: Kilograms, height: Centimetres) -> float:
    """Body mass index in kg/m^2. Source: Quetelet 1832."""
    return weight / (height / 100) ** 2


def ideal_body_weight(sex: Sex, height: Centimetres) -> float:
    """Ideal body weight in kg, from 60 inches on 2.3 kg per inch. Source: Devine 1974."""
    return (50 if sex == "male" else 45.5) + 2.3 * (height / _CM_PER_INCH - 60)


def adjusted_body_weight(sex: Sex, height: Centimetres, weight: Kilograms) -> float:
    """Adjusted body weight in kg: ideal weight and 40 % of what is above it. Source: Bauer et al. 1983."""
    ideal = ideal_body_weight(sex, height)
    return ideal + 0.4 * (weight - ideal)


def body_surface_area(weight: Kilograms, height: Centimetres) -> float:
    """Body surface area in m^2. Source: Mosteller 1987."""
    return sqrt(weight * height / 3600)


def target_weight(body_mass_index: BodyMass, height: Centimetres) -> float:
    """Weight in kg at a target body mass index."""
    return body_mass_index * (height / 100) ** 2


def maintenance_fluids(weight: Kilograms) -> float:
    """Maintenance fluids in mL/h by the 4-2-1 rule. Source: Holliday and Segar 1957."""
    return 4 * min(weight, 10) + 2 * min(max(weight - 10, 0), 10) + max(weight - 20, 0)


CALCULATORS = (
    Calculator(5, "Mean Arterial Pressure (MAP)", mean_arterial_pressure),
    Calculator(6, "Body Mass Index (BMI)", body_mass_index),
    Calculator(10, "Ideal Body Weight", ideal_body_weight),
    Calculator(22, "Maintenance Fluids", maintenance_fluids),
    Calculator(60, "Body Surface Area", body_surface_area),
    Calculator(61, "Target Weight", target_weight),
    Calculator(62, "Adjusted Body Weight", adjusted_body_weight),
)
