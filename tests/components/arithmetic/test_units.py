import pytest

from components.arithmetic.units import ALIASES, FUNCTIONS, SUBSTANCES, as_call, convert, read_unit
from components.core.errors import ToolError
from tests.table import each_row


def test_every_alias_means_a_substance():
    assert set(ALIASES.values()) <= set(SUBSTANCES)
    assert not set(ALIASES) & set(SUBSTANCES)


def test_masses_give_the_conversion_factors_of_laboratories():
    # mmol/L -> mg/dL, as on conversion charts
    factors = {"glucose": 18.02, "cholesterol": 38.67, "triglycerides": 88.5, "calcium": 4.008, "bun": 2.801}
    assert {name: round(SUBSTANCES[name].mass / 10, 1) for name in factors} == {
        name: round(factor, 1) for name, factor in factors.items()
    }
    assert round(SUBSTANCES["creatinine"].mass / 10, 1) == 11.3  # 88.4 umol/L are 1 mg/dL
    assert round(SUBSTANCES["bilirubin"].mass / 10, 1) == 58.5  # 17.1 umol/L are 1 mg/dL


@each_row(
    "value, start, end, expected",
    [
        (1, "kg", "g", 1000),
        (10, "lbs", "kg", 4.5359237),
        (72, "in", "cm", 182.88),
        (1, "mL", "cm^3", 1),
        (4500, "/µL", "10^9/L", 4.5),
        (181, "K/uL", "x10^9/L", 181),
        (5, "10*3/mm³", "cells/mm3", 5000),
        (1, "mcg/kg/min", "mg/kg/h", 0.06),
        (90, "mL/min/1.73m2", "mL/s/1.73m²", 1.5),
        (7.5, "kPa", "mm Hg", 56.2548),
        (2, "mg/dL", "g/L", 0.02),
        (60, "bpm", "beats per minute", 60),
        (50, "%", "fraction", 0.5),
        (1, "week", "days", 7),
        (98.6, "°F", "degrees Celsius", 37),
        (0, "C", "K", 273.15),
        (300, "kelvin", "fahrenheit", 80.33),
        (1, "kcal", "kJ", 4.184),
        (20, "kg/m^2", "g/cm²", 2),
    ],
)
def test_plain_units_are_converted(value, start, end, expected):
    assert convert(value, start, end) == pytest.approx(expected, rel=1e-6)


@each_row(
    "value, start, end, substance, expected",
    [
        (5.5, "mmol/L", "mg/dL", "glucose", 99.09),
        (88.4, "umol/L", "mg/dL", "Creatinine", 1.0),
        (2.5, "mmol/L", "mEq/L", "calcium", 5),
        (10, "mg/dL", "mEq/L", "Ca", 4.99),
        (140, "mEq/L", "mmol/L", "na", 140),
        (10, "µIU/mL", "pmol/L", "insulin", 60),
        (400, "IU", "mcg", "vitamin_d", 10),
        (14, "g/dL", "mmol/L", "haemoglobin", 8.688),
    ],
)
def test_a_substance_relates_mass_amount_charge_and_activity(value, start, end, substance, expected):
    assert convert(value, start, end, substance) == pytest.approx(expected, rel=1e-3)
    assert convert(expected, end, start, substance) == pytest.approx(value, rel=1e-3)


@each_row(
    "start, end, substance, message",
    [
        ("mmol/L", "mg/dL", "", "name the substance"),
        ("mmol/L", "mg/dL", "unobtainium", "not known; there are albumin"),
        ("mEq/L", "mmol/L", "glucose", "glucose: 'mEq/L' cannot be converted"),
        ("kg", "m", "sodium", "cannot be converted"),
        ("C", "mg", "", "only one of them is a temperature"),
        ("mg", "dragons", "", "'dragons' is not a known unit"),
        ("mg//L", "g", "", "not a known unit"),
        ("", "g", "", "not a known unit"),
        ("mg/+", "g", "", "not a known unit"),
    ],
)
def test_impossible_conversions_are_refused(start, end, substance, message):
    with pytest.raises(ToolError, match=message) as caught:
        convert(1, start, end, substance)
    assert caught.value.label == "invalid_expression"


def test_a_unit_is_a_factor_and_powers():
    unit = read_unit("mL")
    assert unit.factor == pytest.approx(1e-6) and unit.powers == {"length": 3}
    assert read_unit("mg/kg").powers == {}


@each_row(
    "text, call",
    [
        ("110 mg/dL glucose to mmol/L", "convert(110, 'mg/dL', 'mmol/L', 'glucose')"),
        ("5.6 mmol/L of total cholesterol in mg/dL", "convert(5.6, 'mmol/L', 'mg/dL', 'total cholesterol')"),
        ("120 µmol/L to mg/dL of creatinine", "convert(120, 'µmol/L', 'mg/dL', 'creatinine')"),
        ("98.6 °F to °C", "convert(98.6, '°F', '°C', '')"),
        ("3 + 4", "3 + 4"),
        ("convert(1, 'kg', 'g to')", "convert(1, 'kg', 'g to')"),
    ],
)
def test_a_spoken_conversion_becomes_a_call(text, call):
    assert as_call(text) == call


def test_expressions_call_it_with_numbers():
    assert FUNCTIONS["convert"](2, "kg", "g") == 2000
    with pytest.raises(ToolError, match="convert needs numbers"):
        FUNCTIONS["convert"]("2", "kg", "g")
