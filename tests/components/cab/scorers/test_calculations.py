import csv
import os
from datetime import date
from pathlib import Path

import pytest

from components.cab.scorers.calculations import official, read_date, read_number, strict
from components.cab.scorers.case import Case, Unscored
from tests.table import each_row

DECIMAL = {"answer": "25.3", "Output Type": "decimal", "Low Limit": "24.035", "Upper Limit": "26.565"}
NEGATIVE = {"answer": "-2.41", "Output Type": "decimal", "Low Limit": "-2.2895", "Upper Limit": "-2.5305"}
LARGE = {"answer": "1250.0", "Output Type": "decimal", "Low Limit": "1187.5", "Upper Limit": "1312.5"}
SCORE = {"answer": "4", "Output Type": "integer", "Low Limit": "4", "Upper Limit": "4"}
AGE = {"answer": "('33 weeks', '4 days')", "Output Type": "integer", "Low Limit": None, "Upper Limit": None}
DAY = {"answer": "08/31/2023", "Output Type": "date", "Low Limit": None, "Upper Limit": None}


@each_row(
    "key, answer, by_reference, repaired",
    [
        (DECIMAL, "24.035", 1, 1),
        (DECIMAL, "a BMI of 25.3 kg/m2", 1, 1),
        (DECIMAL, "70 25.3 end", 0, 1),
        (DECIMAL, "The answer is 25.3.", 0, 1),
        (DECIMAL, "The answer is 70 / 1.66^2 = 25.4 kg/m2", 1, 1),
        (DECIMAL, "The answer is 25.3 kg/m2 (normal 18.5 to 22 )", 0, 1),
        (DECIMAL, "26.57", 0, 0),
        (DECIMAL, "nan", 0, 0),
        (DECIMAL, "about 5..2 units", 0, 0),
        (DECIMAL, "no number", 0, 0),
        (NEGATIVE, "The value is -2.4 here", 0, 1),
        (LARGE, "1,250 mL", 0, 1),
        (SCORE, "14 points", 1, 0),
        (SCORE, "4.0", 1, 1),
        (SCORE, "The total is 4 out of 9.", 1, 1),
        (SCORE, "Age: 1 point. Stroke: 2 points. That makes 4", 1, 1),
        (SCORE, "four", 0, 0),
        (AGE, "33 weeks and 4 days", 0, 1),
        (AGE, "33w4d", 0, 1),
        (AGE, "('33 weeks', '4 days')", 0, 1),
        (AGE, "(33 weeks, 4 days)", 1, 1),
        (AGE, "33 weeks", 0, 0),
        (DAY, "Due on August 31, 2023.", 0, 1),
        (DAY, "from 11/24/2022 it is 08/31/2023", 1, 1),
        (DAY, "08/31/2022", 0, 0),
        (DAY, "in late summer", 0, 0),
    ],
)
def test_value(key, answer, by_reference, repaired):
    case = Case(answer, key)
    assert (official(case).value, strict(case).value) == (by_reference, repaired)


@each_row(
    "text",
    [
        "2023-08-31",
        "8/31/23",
        "31 August 2023",
        "31st of Aug. 2023",
        "Aug 31, 2023",
        "31/08/2023",
        "08.31.2023",
        "08-31-2023",
    ],
)
def test_dates_are_read_however_written(text):
    assert read_date(f"It is on {text}, I think") == date(2023, 8, 31)


@each_row("text", ["", "31", "13/32/2023", "Room 12, 2023", "version 1.2.3"])
def test_texts_that_are_not_a_date(text):
    assert read_date(text) is None


def test_without_announcement_the_last_number_counts():
    assert read_number("x = 5, so 7 units") == 7


@each_row(
    "key, message",
    [
        ({**SCORE, "Output Type": "text"}, "decimal, integer or date"),
        ({**DECIMAL, "Low Limit": None}, "limits must be numbers"),
        ({**SCORE, "answer": "four"}, "neither a number nor a date"),
    ],
)
def test_broken_key_cannot_be_scored(key, message):
    with pytest.raises(Unscored, match=message):
        strict(Case("4", key))


FOLDER = os.environ.get("CLINICAL_DATA_DIR")


@pytest.mark.skipif(not FOLDER, reason="needs CLINICAL_DATA_DIR")
def test_every_gold_answer_of_the_data_is_right_and_so_is_its_explanation():
    before = csv.field_size_limit(10_000_000)
    with (Path(FOLDER or "") / "medcalc_bench" / "dataset" / "test_data.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    csv.field_size_limit(before)
    assert len(rows) >= 300
    for row in rows:
        limits = {"Low Limit": row["Lower Limit"], "Upper Limit": row["Upper Limit"]}
        key = {"answer": row["Ground Truth Answer"], "Output Type": row["Output Type"], **limits}
        for answer in (row["Ground Truth Answer"], row["Ground Truth Explanation"]):
            assert strict(Case(answer, key)).value == 1, (key, answer[-200:])
