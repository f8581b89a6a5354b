"""ClinicalAgent Bench's task ehrsql: EHRSQL 2024 on the open MIMIC-IV demo, answered from a database with SQL.

Source: Lee et al. 2024, Clinical NLP workshop at NAACL, arXiv 2405.06673 (questions, SQL and answers CC BY 4.0;
database ODbL 1.0, from the MIMIC-IV demo 2.2, doi:10.13026/dp1f-ex47). ClinicalAgent Bench takes the answerable
test questions: 934 of 1,167.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from components.core.types import Privacy, Sample
from components.ehr.datasets.ehrsql2024_files import (
    SPLITS_2024,
    Question2024,
    files_2024,
    folder_2024,
    questions_2024,
    sqlite_2024,
)
from components.files.rows import files_digest
from components.files.task_samples import NO_RESULT, asked, attached, cab_sample
from components.sql.reading import readable


@dataclass(frozen=True)
class CabEhrsql:
    """Answerable questions; the target's answer is the text of a nested list, rows of texts.

    ``path`` holds ``data/mimic_iv`` with a folder per split and ``mimic_iv.sqlite``; ``ask`` is added to each
    question (the same as in ``ehr_halt``, so it gives nothing away). Raises ConfigError with file,
    record and key.
    """

    path: str
    split: str = "test"
    ask: str = NO_RESULT
    privacy: Privacy = "open"

    @property
    def splits(self) -> Sequence[str]:
        """The splits whose folders are there."""
        return tuple(split for split in SPLITS_2024 if (folder_2024(self.path) / split).is_dir())

    @cached_property
    def fingerprint(self) -> str:
        """Content of the evaluated split and the database."""
        return files_digest(*files_2024(self.path, self.split), sqlite_2024(self.path))

    def load(self, split: str) -> Iterator[Sample]:
        """The answerable questions of a split in the file's order. Raises ConfigError."""
        files_2024(self.path, split)
        sqlite = attached(database=readable(sqlite_2024(self.path)))
        return (
            cab_sample(
                "ehrsql",
                f"ehrsql-{split}-{one.id}",
                asked(one.question, self.ask),
                {"answer": _answer(one)},
                files=sqlite,
                metadata={"sql": one.sql, "sql_dialect": "mimic_iv"},
                cluster=one.patient,
            )
            for one in questions_2024(self.path, split)
            if one.sql is not None
        )


def _answer(one: Question2024) -> str:
    """The answer's text. Raises ConfigError when it is not that of a list of rows."""
    one.rows()
    return one.answer or ""
