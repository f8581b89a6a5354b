"""Questions about health records in the form that EHRAgent reads: EHRSQL's fields with the gold answer beside.

Source: Shi et al. 2024, EMNLP, arXiv 2401.07128 (the form; its own files are a download of its repository); questions
of EHRSQL: Lee et al. 2022, NeurIPS (CC BY 4.0). ``ehr_mini`` is the project's own, in the same form.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from components.core.errors import ConfigError
from components.core.types import Privacy, Sample
from components.ehr.datasets.ehrsql_questions import EhrQuestion, database_file, ehr_questions
from components.ehr.datasets.samples import Gold, Source, ehr_sample, gold, source
from components.files.kept_files import content_key
from components.files.rows import existing, files_digest
from components.files.task_samples import check_split

_SHIPPED = Path(__file__).parent
_SPLITS = ("test", "valid", "train")
_HOW = "set CLINICAL_DATA_DIR to the folder that holds the data set, or give dataset.path=..."


@dataclass(frozen=True)
class EhrAgentEdition:
    """Questions database by database; the target's answer is a list of texts.

    ``path`` is a folder, ``shipped`` one beside this file; the first that is given counts. In it ``questions`` and
    ``sqlite`` name the files of a ``{database}`` and a ``{split}``. ``wording``: the template's, as EHRAgent asks, or
    the paraphrased question's. ``unanswerable``: questions that no table answers are asked too; their target's answer
    is None. ``count_joins``: for the level, tables after ``join`` count too; the published levels count those after
    ``from`` only. ``name`` begins the samples' ids. Raises ConfigError with file, record and key.
    """

    name: str
    path: str | None = None
    shipped: str | None = None
    split: str = "test"
    databases: tuple[Literal["mimic_iii", "eicu", "treqs"], ...] = ("mimic_iii", "eicu")
    questions: str = "{database}/{split}_preprocessed.json"
    sqlite: str = "{database}/{database}.db"
    wording: Literal["template", "question"] = "template"
    unanswerable: bool = False
    count_joins: bool = False
    privacy: Privacy = "credentialed"

    def __post_init__(self) -> None:
        if not self.databases:
            raise ConfigError("dataset.databases: at least one of mimic_iii, eicu, treqs is needed, found none")
        if self.path is None and self.shipped is None:
            raise ConfigError(f"dataset.path: no data; {_HOW}")

    @property
    def splits(self) -> Sequence[str]:
        """The splits whose files are there for every database."""
        return tuple(one for one in _SPLITS if all(self._place(name, one).is_file() for name in self.databases))

    @cached_property
    def fingerprint(self) -> str:
        """Wording, choice and content of the evaluated split and the databases."""
        files = [file for name in self.databases for file in (self._file(name, self.split), self._sqlite(name))]
        return content_key(self.wording, str(self.unanswerable), str(self.count_joins), files_digest(*files))

    def load(self, split: str) -> Iterator[Sample]:
        """The questions of a split, database by database. Raises ConfigError."""
        files = {name: (self._file(name, split), source(name, self._sqlite(name))) for name in self.databases}
        return (
            self._sample(one, split, asked_of)
            for name, (file, asked_of) in files.items()
            for one in ehr_questions(file, name)
            if one.sql is not None or self.unanswerable
        )

    def _sample(self, one: EhrQuestion, split: str, asked_of: Source) -> Sample:
        """A question. Raises ConfigError."""
        database = asked_of.metadata.database
        return ehr_sample(
            asked_of,
            f"{self.name}-{split}-{database}-{one.id}",
            one.template if self.wording == "template" else one.question,
            self._gold(one),
            template=one.template,
            paraphrase=one.question,
            strata=one.strata,
            cluster=None if one.patient is None else f"{database}/{one.patient}",
            may_abstain=self.unanswerable,
        )

    @property
    def _root(self) -> Path:
        return Path(self.path).expanduser() if self.path is not None else _SHIPPED / str(self.shipped)

    def _place(self, database: str, split: str) -> Path:
        return self._root / self.questions.replace("{database}", database).replace("{split}", split)

    def _file(self, database: str, split: str) -> Path:
        check_split(self.name, split, _SPLITS)
        return existing(self._place(database, split), _HOW)

    def _sqlite(self, database: str) -> Path:
        return database_file(self._root / self.sqlite.replace("{database}", database), _HOW)

    def _gold(self, one: EhrQuestion) -> Gold | None:
        """The gold cells, one text or a list of texts, and the SQL's complexity. Raises ConfigError."""
        if one.sql is None:
            return None
        answer = one.row.values.get("answer")
        cells = [answer] if isinstance(answer, str) else answer
        if not isinstance(cells, list) or not all(isinstance(cell, str) for cell in cells):
            raise one.row.error("answer", f"must be a text or a list of texts, found {answer!r:.80}")
        return gold(one.row, "query", one.sql, cells, one.tag, self.count_joins)
