"""A folder in MedCalc-Bench's format, with rows made here."""

import csv
import json

COLUMNS = (
    "Row Number", "Calculator ID", "Calculator Name", "Category", "Output Type", "Note ID", "Note Type", "Patient Note",
    "Question", "Relevant Entities", "Ground Truth Answer", "Lower Limit", "Upper Limit", "Ground Truth Explanation",
)  # fmt: skip
AGE = {"Last menstrual date": "01/01/2023", "Current Date": "02/01/2023"}
PRESSURE = {"Systolic Blood Pressure": [120.0, "mm hg"], "Diastolic Blood Pressure": [90.0, "mm hg"]}


def row(calculator, entities, answer, lower=None, upper=None):
    values = {"Calculator ID": calculator, "Relevant Entities": repr(entities), "Ground Truth Answer": answer}
    values |= {"Lower Limit": lower or answer, "Upper Limit": upper or answer, "Patient Note": "A note,\nin two lines."}
    return values


def write_csv(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)


def write(folder, test=(), worked=100.0):
    """``test`` rows next to two one-shot rows and two worked examples, one of them with the answer ``worked``."""
    root = folder / "medcalc_bench"
    write_csv(root / "dataset/test_data.csv", test)
    ages = "('4 weeks', '3 days')"
    one_shot = [row(5, PRESSURE, "100.0", "95", "105"), row(69, AGE, ages)]
    write_csv(root / "verified/datasets/one_shot_data.csv", one_shot)
    names = {
        "5": {"Systolic Blood Pressure": "sys_bp", "Diastolic Blood Pressure": "dia_bp"},
        "69": {"Last menstrual date": "menstrual_date", "Current Date": "current_date"},
    }
    pressure = {"sys_bp": [120.0 * worked / 100, "mm hg"], "dia_bp": [90.0 * worked / 100, "mm hg"]}
    ages = {"menstrual_date": "01/01/2023", "current_date": "02/01/2023"}
    examples = {
        "5": {"Response": {"answer": worked}, "input_parameters": pressure},
        "69": {"Response": {"answer": ["4 weeks", "3 days"]}, "input_parameters": ages},
    }
    for name, found in (
        ("calculator_implementations/name_to_python.json", names),
        ("evaluation/one_shot_finalized_explanation.json", examples),
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(json.dumps(found))
    return folder
