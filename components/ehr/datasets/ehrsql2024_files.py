"""The files of the EHRSQL 2024 shared task: questions, SQL and answers of a split, joined by their ids.

Source: Lee et al. 2024, Clinical NLP workshop at NAACL, arXiv 2405.06673 (CC BY 4.0; ``glee4810/ehrsql-2024``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from components.files.rows import Row, existing, json_mapping
from components.files.tables import json_records
from components.files.task_samples import check_split

SPLITS_2024 = ("test", "valid", "train")
_HOW = (
    "set CLINICAL_DATA_DIR to the folder that holds ehrsql2024/, or take data/mimic_iv/ from "
    "github.com/glee4810/ehrsql-2024, build its database, and give dataset.path=..."
)
_NULL = "null"
_NO_TEMPLATE = ("", "-", "null")


@dataclass(frozen=True)
class Question2024:
    """A question with its SQL and its answer, the text of a list of rows; both None when it cannot be answered.

    ``patient`` and ``template``, with its slots left open, where the annotations are there and have them.
    """

    row: Row
    id: str
    question: str
    sql: str | None
    answer: str | None
    patient: str | None
    template: str | None = None

    def rows(self) -> list[list[Any]]:
        """The answer's rows. Raises ConfigError when it is not a list of them."""
        try:
            rows = ast.literal_eval(self.answer or "")
        except (ValueError, SyntaxError):
            rows = None
        if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
            raise self.row.error("id", f"the answer must be the text of a list of rows, found {self.answer!r:.80}")
        return rows


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
    annotated = _annotated(folder_2024(path) / split / "annotated.json")
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
            *annotated.get(name, (None, None)),
        )


def _annotated(path: Path) -> dict[str, tuple[str | None, str | None]]:
    """Question -> the patient it is about and its template, where the annotations are there and say so."""
    found: dict[str, tuple[str | None, str | None]] = {}
    for row in json_records(path) if path.is_file() else ():
        values, template = row.values.get("val_dict"), row.values.get("template")
        placed = values.get("val_placeholder") if isinstance(values, dict) else None
        patient = placed.get("patient_id") if isinstance(placed, dict) else None
        found[row.text("id")] = (
            None if patient is None else str(patient),
            template if isinstance(template, str) and template not in _NO_TEMPLATE else None,
        )
    return found
