"""Questions about health records in the form that EHRAgent reads: EHRSQL's fields with the gold answer.

Source: Shi et al. 2024, EMNLP, arXiv 2401.07128 (the form; its own files are a download of its repository); questions
of EHRSQL: Lee et al. 2022, NeurIPS (CC BY 4.0). ``ehr_mini`` is the project's own, in the same form. The open demo
databases are made from the MIMIC-III demo 1.4 (doi:10.13026/C2HM2Q) and the eICU demo 2.0.1 (doi:10.13026/4mxk-na84),
ODbL 1.0; numbers on them cannot be compared with those published on the full databases.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from components.core.errors import ConfigError
from components.core.types import Privacy, Sample
from components.ehr.datasets.samples import (
    EhrDatabase,
    RecordDataset,
    Wording,
    database_file,
    ehr_questions,
    require_some,
)
from components.files.attachments import attach
from components.files.file_dataset import Part, task_sample
from components.files.rows import content_key
from components.sql.reading import require_readable

_SHIPPED = Path(__file__).parent
_Database = Literal["mimic_iii", "eicu", "treqs"]


@dataclass(frozen=True)
class EhrAgentEdition(RecordDataset):
    """Questions database by database; the target's answer is a list of texts.

    ``path`` is a folder, ``shipped`` one next to this file; the first that is given counts. In it ``questions`` and
    ``sqlite`` name the files of a ``{database}`` and a ``{split}``. ``wording``: the template's, as EHRAgent asks, or
    the paraphrased question's. ``unanswerable``: questions that no table answers are asked too; their target's answer
    is None. ``count_joins``: for the level, tables after ``join`` count too; the published levels count those after
    ``from`` only. ``name`` begins the samples' ids. Raises ConfigError with file, record and key.
    """

    name: str
    path: str | None = None
    shipped: str | None = None
    databases: tuple[_Database, ...] = ("mimic_iii", "eicu")
    questions: str = "{database}/{split}_preprocessed.json"
    sqlite: str = "{database}/{database}.db"
    wording: Wording = "template"
    unanswerable: bool = False
    count_joins: bool = False
    privacy: Privacy = field(default="credentialed", kw_only=True)
    split_names = ("test", "valid", "train")
    how = "set CLINICAL_DATA_DIR to the folder that holds the data set, or give dataset.path=..."

    def __post_init__(self) -> None:
        require_some("databases", self.databases, _Database)
        if self.path is None and self.shipped is None:
            raise ConfigError(f"dataset.path: no data; {self.how}")

    @property
    def title(self) -> str:
        """The name of the edition."""
        return self.name

    def paths(self, split: str) -> Mapping[str, Path]:
        """A file per database."""
        return {name: self._file(self.questions.replace("{split}", split), name) for name in self.databases}

    def identify(self, digest: str) -> str:
        """Add wording and choice."""
        return content_key(self.wording, str(self.unanswerable), str(self.count_joins), digest)

    def read(self, part: Part) -> Iterable[Sample]:
        """Read the questions on a database. Raises ConfigError."""
        source = self.source(part)
        return (
            source.sample(
                f"{self.name}-{part.split}-{part.name}",
                one,
                one.text(self.wording),
                None if one.sql is None else one.gold("query", one.answer(), self.count_joins),
                cluster=one.patient_of(part.name),
                may_abstain=self.unanswerable,
            )
            for one in ehr_questions(part.file, part.name)
            if one.sql is not None or self.unanswerable
        )

    def sqlite_of(self, name: str) -> Path:
        """Return a database's file. Raises ConfigError."""
        return database_file(self._file(self.sqlite, name), self.how)

    def _file(self, name: str, database: str) -> Path:
        root = Path(self.path).expanduser() if self.path is not None else _SHIPPED / str(self.shipped)
        return root / name.replace("{database}", database)


@dataclass(frozen=True)
class CabEhrAgentDemo(RecordDataset):
    """ClinicalAgent Bench's tasks mimic_iii and eicu on the open demo databases, with EHRAgent's gold answers. Test 90
    and 159 questions, valid 40 each; the target's answer is a list of texts. ``path`` holds
    ``{database}/{split}_preprocessed.json`` and ``{database}/{database}.db``. ``wording``: the template's, as EHRAgent
    asks, or the paraphrased question's, as ClinicalAgent Bench does. Raises ConfigError with file, record and key."""

    path: str
    databases: tuple[EhrDatabase, ...] = ("mimic_iii", "eicu")
    wording: Wording = "template"
    title = "the demo"
    split_names = ("test", "valid")
    how = "set CLINICAL_DATA_DIR to the folder that holds ehragent_demo/, or give dataset.path=..."

    def __post_init__(self) -> None:
        require_some("databases", self.databases, EhrDatabase)

    def paths(self, split: str) -> Mapping[str, Path]:
        """A file per database."""
        return {name: Path(self.path) / name / f"{split}_preprocessed.json" for name in self.databases}

    def identify(self, digest: str) -> str:
        """Add the wording."""
        return f"{self.wording}-{digest}"

    def read(self, part: Part) -> Iterable[Sample]:
        """Read the questions on a database. Raises ConfigError."""
        database = attach(database=self.sqlite_of(part.name))
        return (
            task_sample(
                part.name,
                "numerical",
                f"ehragent_demo-{part.split}-{part.name}-{one.id}",
                one.text(self.wording),
                {"answer": one.answer(least=1)},
                files=database,
                metadata={
                    "sql": one.sql,
                    "sql_dialect": part.name,
                    "template": one.template,
                    "paraphrase": one.question,
                },
                strata=one.strata,
                cluster=one.patient_of(part.name),
            )
            for one in ehr_questions(part.file, part.name)
        )

    def sqlite_of(self, name: str) -> Path:
        """Return a database's file, which must be readable. Raises ConfigError."""
        return require_readable(database_file(Path(self.path) / name / f"{name}.db", self.how))
