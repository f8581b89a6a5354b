"""The files of the EHRSQL 2024 shared task: questions, SQL and answers of a split, joined by their ids.

Source: Lee et al. 2024, Clinical NLP workshop at NAACL, arXiv 2405.06673 (CC BY 4.0; ``glee4810/ehrsql-2024``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from components.cab_samples import check_split
from components.rows import Row, existing, json_mapping
from components.tables import json_records

SPLITS_2024 = ("test", "valid", "train")
_HOW = (
    "set CLINICAL_DATA_DIR to the folder that holds ehrsql2024/, or take data/mimic_iv/ from "
    "github.com/glee4810/ehrsql-2024, build its database, and give dataset.path=..."
)
_NULL = "null"


@dataclass(frozen=True)
class Question2024:
    """A question with its SQL and its answer, the text of a list of rows; both None when it cannot be answered."""

    row: Row
    id: str
    question: str
    sql: str | None
    answer: str | None
    patient: str | None


def folder_2024(path: str) -> Path:
    """The folder of the splits and the database."""
    return Path(path) / "data" / "mimic_iv"


def files_2024(path: str, split: str) -> tuple[Path, Path, Path]:
    """Questions, SQL and answers of a split. Raises ConfigError."""
    check_split("EHRSQL 2024", split, SPLITS_2024)
    data, label, answer = (existing(folder_2024(path) / split / f"{n}.json", _HOW) for n in ("data", "label", "answer"))
    return data, label, answer


def sqlite_2024(path: str) -> Path:
    """The MIMIC-IV demo database. Raises ConfigError."""
    return existing(folder_2024(path) / "mimic_iv.sqlite", _HOW)


def questions_2024(path: str, split: str) -> Iterator[Question2024]:
    """The questions of a split in the file's order. Raises ConfigError."""
    data, label, answer = files_2024(path, split)
    labels, answers = json_mapping(label), json_mapping(answer)
    patients = _patients(folder_2024(path) / split / "annotated.json")
    for row in json_records(data, "data"):
        name = row.text("id")
        sql, gold = labels.text(name), answers.text(name)
        if (sql == _NULL) != (gold == _NULL):
            raise labels.error(name, f"has SQL or an answer, but not both: {sql!r:.60} and {gold!r:.60}")
        answerable = sql != _NULL
        yield Question2024(
            row,
            name,
            row.text("question").strip(),
            sql if answerable else None,
            gold if answerable else None,
            patients.get(name),
        )


def _patients(path: Path) -> dict[str, str]:
    """Question -> the patient it is about, where the annotations are there and say so."""
    found: dict[str, str] = {}
    for row in json_records(path) if path.is_file() else ():
        values: Any = row.values.get("val_dict")
        placed = values.get("val_placeholder") if isinstance(values, dict) else None
        if isinstance(placed, dict) and "patient_id" in placed:
            found[row.text("id")] = str(placed["patient_id"])
    return found
