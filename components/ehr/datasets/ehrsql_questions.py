"""Questions in the form of EHRSQL (2022), on MIMIC-III and eICU, and the answers that their gold SQL gives.

Source: Lee et al. 2022, NeurIPS Datasets and Benchmarks (CC BY 4.0; ``glee4810/EHRSQL``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from components.core.errors import ConfigError
from components.files.rows import Row
from components.files.tables import json_records
from components.sql import SqlError
from components.sql.cleaning import clean_sql
from components.sql.reading import ReadOnly

EhrDatabase = Literal["mimic_iii", "eicu"]
_NO_SQL = ("nan", "null")
_PATIENTS = ("patient_id", "subject_id", "uniquepid")  # slots that name the patient


@dataclass(frozen=True)
class EhrQuestion:
    """A question: its text as people ask it, the template it was made from, and its SQL (None: unanswerable).

    ``tag`` is the template with its slots left open, where the file has it.
    """

    row: Row
    id: str
    question: str
    template: str
    sql: str | None
    patient: str | None = None
    strata: dict[str, str] = field(default_factory=dict)
    tag: str | None = None


def ehr_questions(path: Path, database: str) -> Iterator[EhrQuestion]:
    """The questions of a file, all on one database. Raises ConfigError."""
    for row in json_records(path):
        if row.text("db_id") != database:
            raise row.error("db_id", f"must be {database!r} in this file, found {row.text('db_id')!r}")
        yield _question(row)


def _question(row: Row) -> EhrQuestion:
    sql, impossible = row.text("query"), row.values.get("is_impossible", False)
    if not isinstance(impossible, bool):
        raise row.error("is_impossible", f"must be true or false, found {impossible!r:.80}")
    if not impossible and sql in _NO_SQL:
        raise row.error("query", f"an answerable question needs its SQL, found {sql!r}")
    value, tag = row.values.get("value"), row.values.get("q_tag")
    slots = value if isinstance(value, dict) else {}
    patient = next((slots[name] for name in _PATIENTS if slots.get(name) is not None), None)
    strata = {name: row.values[key] for name, key in (("importance", "importance"), ("wording", "para_type"))
              if isinstance(row.values.get(key), str)}  # fmt: skip
    return EhrQuestion(
        row,
        row.text("id"),
        row.text("question").strip(),
        row.text("template").strip(),
        None if impossible else sql,
        None if patient is None else str(patient),
        strata,
        tag if isinstance(tag, str) else None,
    )


def gold_answers(questions: Iterable[EhrQuestion], database: Path, dialect: str, seconds: float) -> list[list[str]]:
    """The cells that each question's SQL gives, as texts. Raises ConfigError when one cannot be run."""
    reader = ReadOnly(database, seconds=seconds)
    answers = []
    for question in questions:
        try:
            rows = reader.run(clean_sql(question.sql or "", dialect))
        except SqlError as error:
            raise question.row.error("query", f"the gold SQL fails on {database}: {error}") from None
        answers.append(cells_of(rows))
    return answers


def cells_of(rows: Iterable[Sequence[Any]]) -> list[str]:
    """The cells of a result, row by row: numbers to 3 decimals without a closing ``.0``, anything else as text."""
    return [_cell(value) for row in rows for value in row]


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{round(value, 3):.3f}".rstrip("0").rstrip(".")
    return str(value)


def database_file(path: str | Path, how: str) -> Path:
    """A SQLite file. Raises ConfigError, saying how to get it, when there is none."""
    file = Path(path).expanduser()
    if not file.is_file():
        raise ConfigError(f"no database {file}; {how}")
    return file
