"""Questions in the form of EHRSQL (2022), on MIMIC-III and eICU.

Source: Lee et al. 2022, NeurIPS Datasets and Benchmarks (CC BY 4.0; ``glee4810/EHRSQL``).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from components.files.rows import Row, json_records

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

    def answer(self) -> list[str]:
        """Return the gold cells that the file has: one text, or a list of texts. Raises ConfigError."""
        answer = self.row.values.get("answer")
        cells = [answer] if isinstance(answer, str) else answer
        if not isinstance(cells, list) or not all(isinstance(cell, str) for cell in cells):
            raise self.row.error("answer", f"must be a text or a list of texts, found {answer!r:.80}")
        return cells

    def patient_of(self, database: str) -> str | None:
        """Name the patient together with the database."""
        return None if self.patient is None else f"{database}/{self.patient}"


def ehr_questions(path: Path, database: str) -> Iterator[EhrQuestion]:
    """Read the questions of a file, all on one database. Raises ConfigError."""
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
