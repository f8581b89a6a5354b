"""ClinicalAgent Bench's tasks mimic_iii and eicu: EHRSQL (2022), answered from the whole database.

Source: Lee et al. 2022, NeurIPS Datasets and Benchmarks (questions and SQL CC BY 4.0; ``glee4810/EHRSQL``). The
databases are built from MIMIC-III 1.4 and eICU-CRD 2.0, which are credentialed. ClinicalAgent Bench takes the
answerable test questions (mimic_iii 798, eicu 797) with the cells of the gold SQL's result as answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated

import orjson
from annotated_types import Gt

from components.core.types import Privacy, Sample
from components.ehr.datasets.ehrsql_questions import (
    EhrDatabase,
    EhrQuestion,
    database_file,
    ehr_questions,
    gold_answers,
)
from components.files.kept_files import content_key, keep_bytes, kept_bytes
from components.files.rows import existing, files_digest
from components.files.task_samples import NO_RESULT, asked, attached, cab_sample, check_split
from components.sql.reading import readable

_SPLITS = ("test", "valid", "train")
_HOW = (
    "set CLINICAL_DATA_DIR to the folder that holds ehrsql/, or take dataset/ehrsql/ from github.com/glee4810/EHRSQL "
    "and give dataset.path=..."
)
_HOW_DATABASE = (
    "build it from the credentialed PhysioNet data with the scripts of github.com/glee4810/EHRSQL and give "
    "dataset.sqlite=...; without credentials use dataset=cab_ehragent_demo or dataset=cab_ehrsql"
)


@dataclass(frozen=True)
class CabEhrsql2022:
    """Answerable questions on ``database``; the target's answer is a list of texts, empty where SQL finds no row.

    ``path`` holds ``dataset/ehrsql/{database}/{split}.json``, ``sqlite`` is the database, ``ask`` is added to each
    question (the same as in ``ehr_halt``, so it gives nothing away). The gold SQL is run once, read-only, each
    statement for at most ``seconds``; the answers are kept in ``cache``, by the content of questions and database.
    Raises ConfigError with file, record and key.
    """

    path: str
    database: EhrDatabase
    sqlite: str
    split: str = "test"
    ask: str = NO_RESULT
    cache: str = "outputs/.cache/ehrsql2022"
    seconds: Annotated[float, Gt(0)] = 120.0
    privacy: Privacy = "credentialed"

    @property
    def splits(self) -> Sequence[str]:
        """The splits whose files are there."""
        return tuple(split for split in _SPLITS if (self._folder / f"{split}.json").is_file())

    @cached_property
    def fingerprint(self) -> str:
        """Content of the evaluated split and the database."""
        return self._digest(self.split)

    def load(self, split: str) -> Iterator[Sample]:
        """The answerable questions of a split in the file's order. Raises ConfigError."""
        questions = [one for one in ehr_questions(self._file(split), self.database) if one.sql is not None]
        answers = self._answers(split, questions)
        return (self._sample(one, split, answer) for one, answer in zip(questions, answers, strict=True))

    def _answers(self, split: str, questions: Sequence[EhrQuestion]) -> list[list[str]]:
        """The gold answers, kept ones where this was done before."""
        cache, name = Path(self.cache), f"{self._digest(split)}.json"
        raw = kept_bytes(cache, name)
        if raw is None:
            raw = orjson.dumps(gold_answers(questions, self._sqlite, self.database, self.seconds))
            keep_bytes(cache, name, raw)
        answers: list[list[str]] = orjson.loads(raw)
        return answers

    def _sample(self, one: EhrQuestion, split: str, answer: list[str]) -> Sample:
        return cab_sample(
            self.database,
            f"{self.database}-{split}-{one.id}",
            asked(one.question, self.ask),
            {"answer": answer},
            files=attached(database=self._sqlite),
            metadata={"sql": one.sql, "sql_dialect": self.database, "template": one.template},
            strata=one.strata,
            cluster=one.patient,
        )

    @property
    def _folder(self) -> Path:
        return Path(self.path) / "dataset" / "ehrsql" / self.database

    @property
    def _sqlite(self) -> Path:
        return readable(database_file(self.sqlite, _HOW_DATABASE))

    def _file(self, split: str) -> Path:
        check_split("EHRSQL", split, _SPLITS)
        return existing(self._folder / f"{split}.json", _HOW)

    def _digest(self, split: str) -> str:
        return content_key(self.database, files_digest(self._file(split), self._sqlite))
