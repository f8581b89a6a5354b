from components.cab.scorers.texts import number, numbers
from tests.table import each_row


@each_row(
    "text, expected",
    [
        ("25.3 kg/m2", [25.3]),
        ("It is 25.3.", [25.3]),
        ("-2.4 or −3", [-2.4, -3]),
        ("24-26", [24, 26]),
        ("1,234.5 and 12,34", [1234.5, 12, 34]),
        ("1e3 then 2.5e-2", [1000, 0.025]),
        (".5mg", [0.5]),
        ("CHA2DS2-VASc 4", [4]),
        ("1.66^2 m^2", [1.66]),
        ("38 mL/min/1.73 m2, BP 120/80", [38, 120, 80]),
        ("on 2100-01-02 12:30:00 or 8/31/2023: 7", [7]),
        ("[['2.0']]", [2]),
        ("none", []),
    ],
)
def test_numbers_in_a_text(text, expected):
    assert numbers(text) == expected


@each_row("text, expected", [(" 2.0 ", 2), ("-1,000", -1000), ("2 mg", None), ("", None), ("nan", None)])
def test_whole_text_as_a_number(text, expected):
    assert number(text) == expected
