"""ClinicalAgent Bench's tasks mimic_iii and eicu on open demo databases, with the answers that the gold SQL gives.

Source: the questions of EHRSQL (Lee et al. 2022, NeurIPS; CC BY 4.0) in the files of EHRAgent (Shi et al. 2024,
EMNLP), on databases made from the MIMIC-III demo 1.4 (doi:10.13026/C2HM2Q) and the eICU demo 2.0.1
(doi:10.13026/4mxk-na84), ODbL 1.0. Test 90 and 159 questions, valid 40 each; the numbers cannot be compared with
those published on the full databases.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from components.core.errors import ConfigError
from components.core.types import Privacy, Sample
from components.ehr.datasets.ehrsql_questions import EhrDatabase, EhrQuestion, database_file, ehr_questions
from components.files.rows import existing, files_digest
from components.files.task_samples import Attached, attached, cab_sample, check_split
from components.sql.reading import readable

_SPLITS = ("test", "valid")
_HOW = "set CLINICAL_DATA_DIR to the folder that holds ehragent_demo/, or give dataset.path=..."


@dataclass(frozen=True)
class CabEhrAgentDemo:
    """Questions with a database; the target's answer is a list of texts, the tasks are mimic_iii and eicu.

    ``path`` holds ``{database}/{split}_preprocessed.json`` and ``{database}/{database}.db``. ``wording``: the
    template's, as EHRAgent asks, or the paraphrased question's, as ClinicalAgent Bench does. Raises ConfigError
    with file, record and key.
    """

    path: str
    split: str = "test"
    databases: tuple[EhrDatabase, ...] = ("mimic_iii", "eicu")
    wording: Literal["template", "question"] = "template"
    privacy: Privacy = "open"

    def __post_init__(self) -> None:
        if not self.databases:
            raise ConfigError("dataset.databases: at least one of mimic_iii, eicu is needed, found none")

    @property
    def splits(self) -> Sequence[str]:
        """Test, and valid for demonstrations."""
        return _SPLITS

    @cached_property
    def fingerprint(self) -> str:
        """Wording and content of the evaluated split and the databases."""
        files = [file for name in self.databases for file in (self._file(name, self.split), self._sqlite(name))]
        return f"{self.wording}-{files_digest(*files)}"

    def load(self, split: str) -> Iterator[Sample]:
        """The questions of a split, database by database. Raises ConfigError."""
        files = {name: (self._file(name, split), attached(database=self._sqlite(name))) for name in self.databases}
        return (
            self._sample(one, name, split, database)
            for name, (file, database) in files.items()
            for one in ehr_questions(file, name)
        )

    def _sample(self, one: EhrQuestion, name: str, split: str, database: Attached) -> Sample:
        """A question. Raises ConfigError."""
        return cab_sample(
            name,
            f"ehragent_demo-{split}-{name}-{one.id}",
            one.template if self.wording == "template" else one.question,
            {"answer": _answer(one)},
            files=database,
            metadata={"sql": one.sql, "sql_dialect": name, "template": one.template, "paraphrase": one.question},
            strata=one.strata,
            cluster=None if one.patient is None else f"{name}/{one.patient}",
        )

    def _file(self, name: str, split: str) -> Path:
        check_split("the demo", split, _SPLITS)
        return existing(Path(self.path) / name / f"{split}_preprocessed.json", _HOW)

    def _sqlite(self, name: str) -> Path:
        return readable(database_file(Path(self.path) / name / f"{name}.db", _HOW))


def _answer(one: EhrQuestion) -> list[str]:
    """The gold cells: one text, or a list of texts. Raises ConfigError."""
    answer = one.row.values.get("answer")
    cells = [answer] if isinstance(answer, str) else answer
    if not isinstance(cells, list) or not cells or not all(isinstance(cell, str) for cell in cells):
        raise one.row.error("answer", f"must be a text or a list of texts, found {answer!r:.80}")
    return cells
