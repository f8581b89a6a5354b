"""MIMICSQL as EHRAgent asks it (there called TREQS): questions on five tables made from MIMIC-III.

Source: Wang, Shi, Reddy 2020, WWW, arXiv 1908.01839 (questions and SQL MIT; ``wangpinggl/TREQS``); Shi et al. 2024,
EMNLP, asks 996. The database is made from MIMIC-III 1.4, which is credentialed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

from annotated_types import Gt

from components.core.types import Privacy, Sample
from components.ehr.datasets.ehrsql_questions import database_file
from components.ehr.datasets.gold import Rows, gold_rows
from components.ehr.datasets.mimicsql import TreqsQuestion, treqs_questions
from components.ehr.datasets.samples import Gold, Source, ehr_sample, source
from components.files.kept_files import content_key
from components.files.rows import existing, files_digest
from components.files.task_samples import check_split
from components.sql.complexity import n_columns
from components.text.values import cells

_SPLITS = ("test", "dev", "train")
_HOW = (
    "set CLINICAL_DATA_DIR to the folder that holds mimicsql_treqs/, or take mimicsql_data/ from "
    "github.com/wangpinggl/TREQS and give dataset.path=..."
)
_HOW_DATABASE = (
    "build mimic.db from the credentialed MIMIC-III with the scripts of github.com/wangpinggl/TREQS and name it in "
    "dataset.sqlite; without credentials use dataset=ehr_mini dataset.databases=[treqs]"
)


@dataclass(frozen=True)
class Treqs:
    """Questions in the file's order; the target's answer holds the distinct values that the gold SQL gives.

    ``path`` holds ``mimicsql_data/mimicsql_{template,natural_v2,natural}/{split}.json``, ``sqlite`` is the database
    with the tables DEMOGRAPHIC, DIAGNOSES, PROCEDURES, PRESCRIPTIONS and LAB. ``wording``: the template's, or that of
    ``edition``, as people ask it. The level is the number of tables in ``format.table``, as published. The gold SQL
    is run once, with its literals in single quotes, each statement for at most ``seconds``; what it gives is kept in
    ``cache``, by the content of statements and database. Raises ConfigError with file, line and key.
    """

    path: str
    sqlite: str
    split: str = "test"
    wording: Literal["template", "question"] = "template"
    edition: Literal["natural_v2", "natural"] = "natural_v2"
    cache: str = "outputs/.cache/treqs"
    seconds: Annotated[float, Gt(0)] = 120.0
    privacy: Privacy = "credentialed"

    @property
    def splits(self) -> Sequence[str]:
        """The splits whose files are there."""
        return tuple(split for split in _SPLITS if self._place(self._asked, split).is_file())

    @cached_property
    def fingerprint(self) -> str:
        """Wording and content of the evaluated split and the database."""
        return content_key(self._asked, files_digest(self._file(self.split), self._database))

    def load(self, split: str) -> Iterator[Sample]:
        """The questions of a split. Raises ConfigError."""
        questions = list(treqs_questions(self._file(split)))
        asked_of = source("treqs", self._database)
        rows = gold_rows(
            [(one.row, one.sql) for one in questions],
            "sql",
            asked_of.file,
            asked_of.metadata.clock,
            cache=self.cache,
            seconds=self.seconds,
        )
        worded = {name: self._worded(name, split) for name in ("template", self.edition)}
        return (self._sample(one, found, split, asked_of, worded) for one, found in zip(questions, rows, strict=True))

    def _sample(
        self, one: TreqsQuestion, rows: Rows, split: str, asked_of: Source, worded: Mapping[str, Mapping[str, str]]
    ) -> Sample:
        found = Gold(one.sql, cells(rows), len(one.tables), n_columns(one.sql), len(one.conditions))
        return ehr_sample(
            asked_of,
            f"treqs-{split}-{one.key}",
            one.question,
            found,
            template=worded["template"].get(one.key),
            paraphrase=worded[self.edition].get(one.key),
            strata={"operation": one.operation},
        )

    def _worded(self, name: str, split: str) -> Mapping[str, str]:
        """Key -> question in a wording; empty where its file is not there."""
        place = self._place(name, split)
        return {one.key: one.question for one in treqs_questions(place)} if place.is_file() else {}

    @property
    def _asked(self) -> str:
        return "template" if self.wording == "template" else self.edition

    @property
    def _database(self) -> Path:
        return database_file(self.sqlite, _HOW_DATABASE)

    def _place(self, name: str, split: str) -> Path:
        return Path(self.path).expanduser() / "mimicsql_data" / f"mimicsql_{name}" / f"{split}.json"

    def _file(self, split: str) -> Path:
        check_split("MIMICSQL", split, _SPLITS)
        return existing(self._place(self._asked, split), _HOW)
