"""Questions in the form of EHRSQL (2022), on MIMIC-III and eICU, and what data sets of questions on databases share.

Source: Lee et al. 2022, NeurIPS Datasets and Benchmarks (CC BY 4.0; ``glee4810/EHRSQL``).
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from components.core.errors import ConfigError
from components.core.types import Sample
from components.files.file_dataset import FileDataset, Part
from components.files.rows import Row, json_records

EhrDatabase = Literal["mimic_iii", "eicu"]
Wording = Literal["template", "question"]
_NO_SQL = ("nan", "null")
_PATIENTS = ("patient_id", "subject_id", "uniquepid")  # slots that name the patient


class RecordDataset(FileDataset[Sample]):
    """Questions on databases of health records: a file of questions and a database per part."""

    @abstractmethod
    def sqlite_of(self, name: str) -> Path:
        """Return the database that the questions of a part are asked on. Raises ConfigError."""

    def contents(self, split: str) -> Sequence[Path]:
        """Name the file and the database of each part."""
        return [file for part in self.locate(split) for file in (part.file, self.sqlite_of(part.name))]

    def sample(self, item: Sample, part: Part) -> Sample:
        """Return the sample, which ``read`` makes."""
        return item


@dataclass(frozen=True)
class EhrQuestion:
    """A question: its text as people ask it, the template it was made from, and its SQL (None: unanswerable).

    ``tag`` is the template with its slots left open, where the file has it.
    """

    row: Row
    id: str
    question: str
    template: str | None
    sql: str | None
    patient: str | None = None
    strata: Mapping[str, str] = field(default_factory=dict)
    tag: str | None = None

    def answer(self) -> list[str]:
        """Return the gold cells that the file has: one text, or a list of texts. Raises ConfigError."""
        answer = self.row.values.get("answer")
        cells = [answer] if isinstance(answer, str) else answer
        if not isinstance(cells, list) or not all(isinstance(cell, str) for cell in cells):
            raise self.row.error("answer", f"must be a text or a list of texts, found {answer!r:.80}")
        return cells

    def text(self, wording: Wording) -> str:
        """Return the template's text, or as people ask."""
        return self.template if wording == "template" and self.template is not None else self.question

    def patient_of(self, database: str) -> str | None:
        """Name the patient together with the database."""
        return None if self.patient is None else f"{database}/{self.patient}"


def require_some(key: str, chosen: Sequence[str], known: Any) -> None:
    """Raise ConfigError for an empty choice of these names (a ``Literal``)."""
    if not chosen:
        raise ConfigError(f"dataset.{key}: at least one of {', '.join(get_args(known))} is needed, found none")


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
    patient = next((str(slots[name]) for name in _PATIENTS if slots.get(name) is not None), None)
    strata = {name: row.values.get(key) for name, key in (("importance", "importance"), ("wording", "para_type"))}
    return EhrQuestion(
        row,
        row.text("id"),
        row.text("question").strip(),
        row.text("template").strip(),
        None if impossible else sql,
        patient,
        {name: text for name, text in strata.items() if isinstance(text, str)},
        tag if isinstance(tag, str) else None,
    )
