"""EHRSQL (2022) as EHRAgent asks it: questions of hospital staff on MIMIC-III and eICU, answered from the tables.

Source: Lee et al. 2022, NeurIPS Datasets and Benchmarks (questions and SQL CC BY 4.0; ``glee4810/EHRSQL``); Shi et al.
2024, EMNLP. The databases are made from MIMIC-III 1.4 and eICU-CRD 2.0, which are credentialed. Editions of the
questions differ (2024 and 2026 changed wording and SQL), so numbers compare within one edition only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

from annotated_types import Gt

from components.core.errors import ConfigError
from components.core.types import Privacy, Sample
from components.ehr.datasets.ehrsql_questions import EhrDatabase, EhrQuestion, database_file, ehr_questions
from components.ehr.datasets.gold import gold_rows
from components.ehr.datasets.samples import Gold, Source, ehr_sample, gold, source
from components.files.kept_files import content_key
from components.files.rows import existing, files_digest
from components.files.task_samples import check_split
from components.text.values import cells

_SPLITS = ("test", "valid", "train")
_HOW = (
    "set CLINICAL_DATA_DIR to the folder that holds ehrsql/, or take dataset/ehrsql/ from github.com/glee4810/EHRSQL "
    "and give dataset.path=..."
)
_HOW_DATABASE = (
    "build it from the credentialed PhysioNet data with the scripts of github.com/glee4810/EHRSQL and name it in "
    "dataset.sqlite; without credentials use dataset=ehr_mini, ehragent_demo or ehrsql2024"
)


@dataclass(frozen=True)
class Ehrsql:
    """Questions database by database; the target's answer holds the distinct values that the gold SQL gives.

    ``path`` holds ``dataset/ehrsql/{database}/{split}.json``, ``sqlite`` names each database's file. ``wording``: the
    template's, as EHRAgent asks, or the paraphrased question's. ``unanswerable``: questions that no table answers are
    asked too, always as people word them (their templates are mere headings); their target's answer is None. The gold
    SQL is run once, read-only, each statement for at most ``seconds``; what it gives is kept in ``cache``, by the
    content of questions and database. Raises ConfigError with file, record and key.
    """

    path: str
    sqlite: Mapping[str, str]
    databases: tuple[EhrDatabase, ...] = ("mimic_iii", "eicu")
    split: str = "test"
    wording: Literal["template", "question"] = "template"
    unanswerable: bool = False
    cache: str = "outputs/.cache/ehrsql"
    seconds: Annotated[float, Gt(0)] = 120.0
    privacy: Privacy = "credentialed"

    def __post_init__(self) -> None:
        if not self.databases:
            raise ConfigError("dataset.databases: at least one of mimic_iii, eicu is needed, found none")

    @property
    def splits(self) -> Sequence[str]:
        """The splits whose files are there for every database."""
        return tuple(one for one in _SPLITS if all(self._place(name, one).is_file() for name in self.databases))

    @cached_property
    def fingerprint(self) -> str:
        """Wording, choice and content of the evaluated split and the databases."""
        files = [file for name in self.databases for file in (self._file(name, self.split), self._sqlite(name))]
        return content_key(self.wording, str(self.unanswerable), files_digest(*files))

    def load(self, split: str) -> Iterator[Sample]:
        """The questions of a split, database by database. Raises ConfigError."""
        files = {name: (self._file(name, split), source(name, self._sqlite(name))) for name in self.databases}
        return (
            self._sample(one, found, split, asked_of)
            for file, asked_of in files.values()
            for one, found in self._answered(file, asked_of)
            if found is not None or self.unanswerable
        )

    def _answered(self, file: Path, asked_of: Source) -> Iterator[tuple[EhrQuestion, Gold | None]]:
        """The questions of a file with their gold answers. Raises ConfigError."""
        known = asked_of.metadata
        questions = list(ehr_questions(file, known.database))
        asked = [(one.row, one.sql) for one in questions if one.sql is not None]
        results = iter(
            gold_rows(asked, "query", asked_of.file, known.clock, cache=self.cache, seconds=self.seconds)
        )  # fmt: skip
        for one in questions:
            if one.sql is None:
                yield one, None
            else:
                yield one, gold(one.row, "query", one.sql, cells(next(results)), one.tag, joins=False)

    def _sample(self, one: EhrQuestion, found: Gold | None, split: str, asked_of: Source) -> Sample:
        database = asked_of.metadata.database
        return ehr_sample(
            asked_of,
            f"ehrsql-{split}-{database}-{one.id}",
            one.template if self.wording == "template" and found is not None else one.question,
            found,
            template=one.template,
            paraphrase=one.question,
            strata=one.strata,
            cluster=None if one.patient is None else f"{database}/{one.patient}",
            may_abstain=self.unanswerable,
        )

    def _place(self, database: str, split: str) -> Path:
        return Path(self.path).expanduser() / "dataset" / "ehrsql" / database / f"{split}.json"

    def _file(self, database: str, split: str) -> Path:
        check_split("EHRSQL", split, _SPLITS)
        return existing(self._place(database, split), _HOW)

    def _sqlite(self, database: str) -> Path:
        if database not in self.sqlite:
            raise ConfigError(f"dataset.sqlite: names no database for {database}; {_HOW_DATABASE}")
        return database_file(self.sqlite[database], _HOW_DATABASE)
