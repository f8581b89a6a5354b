"""MedCalc-Bench's structured entities as arguments of our calculators, and its gold answers.

Source of the data: Khandekar et al. 2024, arXiv 2406.12036 (CC BY-SA 4.0). Only the check reads them; an
agent never does. Values keep their unit as text, so that the calculators convert them. ``entities.json``
maps entities, in lower case, to arguments; after ``|`` stands what another calculator calls it.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import orjson

from components.arithmetic.functions import Value
from components.core.errors import ConfigError
from components.files.rows import csv_records, json_object, require_file
from components.medcalc.calculators import ClinicalCalculator

Part = Literal["test", "one_shot", "worked"]
PARTS: tuple[Part, ...] = ("test", "one_shot", "worked")
_HOW = "set CLINICAL_DATA_DIR to a folder with medcalc_bench/ of github.com/ncbi-nlp/MedCalc-Bench"
_UNITS = {
    "degrees celsisus": "celsius", "degrees fahreinheit": "fahrenheit", "µL": "/µL", "mm^3": "/µL", "m^3": "/µL",
}  # fmt: skip
_WORDS: Mapping[str, str] = {
    "no encephalopathy": "none",
    "grade 0": "none",
    "less than or equal to normal limit": "normal",
    "severe": "moderate to severe",
}
_ANSWER = ("Ground Truth Answer", "Lower Limit", "Upper Limit")
_IGNORED = frozenset(
    {
        "chronic renal failure",
        "continuous veno-venous hemodialysis for ≥24 hours in the past week",
        "cycle length",
        "hypotension",
        "sex",
    }
)


@dataclass(frozen=True)
class Row:
    """One row: which calculator, its entities, the answer and its limits (texts, as in the file)."""

    place: str
    calculator: int
    entities: Mapping[str, Any]
    answer: str
    lower: str
    upper: str


def read_rows(folder: Path, part: Part) -> Iterator[Row]:
    """The rows of medcalc_bench/: the test rows, the one-shot rows, or the worked examples of the paper.

    A worked example has the one-shot row's limits and its own answer. Raises ConfigError.
    """
    root = folder / "medcalc_bench"
    if part == "worked":
        yield from _worked(root)
        return
    name = "dataset/test_data.csv" if part == "test" else "verified/datasets/one_shot_data.csv"
    path = require_file(root / name, _HOW)
    for number, row in enumerate(csv_records(path), 1):
        place = f"{path.name} row {number}"
        try:
            entities = literal_eval(row.text("Relevant Entities"))
            calculator = int(row.text("Calculator ID"))
        except (ValueError, SyntaxError) as error:
            raise ConfigError(f"{place}: not a row of MedCalc-Bench: {error}") from None
        answer, lower, upper = (row.text(name).strip() for name in _ANSWER)
        yield Row(place, calculator, entities, answer, lower, upper)


def _worked(root: Path) -> Iterator[Row]:
    """The worked examples, whose short names of entities are those of name_to_python.json."""
    limits = {row.calculator: row for row in read_rows(root.parent, "one_shot")}
    names = dict(json_object(require_file(root / "calculator_implementations/name_to_python.json", _HOW)))
    path = require_file(root / "evaluation/one_shot_finalized_explanation.json", _HOW)
    for key, found in json_object(path):
        full = {short: name for name, short in names[key].values.items()}
        try:
            given = {full.get(name, name): value for name, value in found.values["input_parameters"].items()}
            answer, row = found.values["Response"]["answer"], limits[int(key)]
        except (KeyError, ValueError) as error:
            raise ConfigError(f"{found.place}: not a worked example: {error} is missing") from None
        text = str(tuple(answer)) if isinstance(answer, list) else str(answer)
        yield Row(f"{path.name} {key}", row.calculator, given, text, row.lower, row.upper)


def arguments(calculator: ClinicalCalculator, entities: Mapping[str, Any]) -> dict[str, Value]:
    """The arguments of a row. Raises ConfigError for an entity that no argument stands for."""
    if calculator.name == "steroid_conversion":
        steroid, dose, unit = entities["input steroid"]
        return {"dose": f"{dose} {unit}", "steroid": _drug(steroid), "target": _drug(entities["target steroid"])}
    if calculator.name == "morphine_milligram_equivalents":
        return _opioids(entities)
    found: dict[str, Value] = {}
    for entity, value in entities.items():
        name = _argument(calculator, entity)
        if not name:
            continue
        if isinstance(calculator.kinds[name], tuple) and isinstance(value, bool):
            if value:
                found[name] = "localized" if name == "solid_tumor" else str(value)
        elif isinstance(value, bool):
            found[name] = bool(found.get(name)) or (not value if entity.lower() == "cough absent" else value)
        else:
            found[name] = _value(value)
    return found


def _argument(calculator: ClinicalCalculator, entity: str) -> str:
    """The calculator's name for an entity; empty for what no score of ours needs."""
    plain = entity.strip().lower()
    names = _names().get(plain, plain.replace(" ", "_")).split("|")
    known = next((name for name in names if name in calculator.kinds), "")
    if not known and plain not in _IGNORED:
        raise ConfigError(f"{calculator.name}: no argument stands for the entity {entity!r}")
    return known


@lru_cache(maxsize=1)
def _names() -> dict[str, str]:
    found: dict[str, str] = orjson.loads((Path(__file__).parent / "entities.json").read_bytes())
    return found


def _value(value: Any) -> Value:
    """A number with its unit as one text; words in our spelling."""
    if isinstance(value, list):
        amount, unit = value
        return f"{amount} {_UNITS.get(unit, unit)}"
    if isinstance(value, str):
        return _WORDS.get(value.strip().lower(), value)
    number: float = value
    return number


def _drug(name: str) -> str:
    """A steroid without its route."""
    return name.split()[0].lower()


def _opioids(entities: Mapping[str, Any]) -> dict[str, Value]:
    """Doses times doses per day; fentanyl is in micrograms."""
    found: dict[str, Value] = {}
    for entity, value in entities.items():
        if entity.endswith(" Dose"):
            times = entities[f"{entity} Per Day"][0]
            found[entity.removesuffix(" Dose").lower().replace(" ", "_")] = f"{value[0] * times} {value[1]}"
    return found


def agrees(row: Row, value: Value, shown: str) -> bool:
    """Whether a value is inside the limits, both inclusive; dates and gestational ages must be equal."""
    try:
        lower, upper = float(row.lower), float(row.upper)
    except ValueError:
        return shown == row.answer.replace("'", "")
    return isinstance(value, int | float) and lower <= value <= upper
