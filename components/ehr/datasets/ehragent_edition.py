"""Questions about health records in the form that EHRAgent reads: EHRSQL's fields with the gold answer.

Source: Shi et al. 2024, EMNLP, arXiv 2401.07128 (the form; its own files are a download of its repository); questions
of EHRSQL: Lee et al. 2022, NeurIPS (CC BY 4.0). ``ehr_mini`` is the project's own, in the same form. The open demo
databases are made from the MIMIC-III demo 1.4 (doi:10.13026/C2HM2Q) and the eICU demo 2.0.1 (doi:10.13026/4mxk-na84),
ODbL 1.0; numbers on them cannot be compared with those published on the full databases.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from components.core.errors import ConfigError
from components.core.types import Privacy, Sample
from components.ehr.datasets.ehrsql_questions import EhrDatabase, EhrQuestion, ehr_questions
from components.ehr.datasets.samples import Gold, Source, database_file, ehr_sample, make_gold, open_source
from components.files.attachments import Attached, attach
from components.files.file_dataset import FileDataset, Part
from components.files.folders import content_key
from components.files.samples import task_sample
from components.sql.reading import readable

_SHIPPED = Path(__file__).parent


@dataclass(frozen=True)
class EhrAgentEdition(FileDataset[tuple[EhrQuestion, Source]]):
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
    databases: tuple[Literal["mimic_iii", "eicu", "treqs"], ...] = ("mimic_iii", "eicu")
    questions: str = "{database}/{split}_preprocessed.json"
    sqlite: str = "{database}/{database}.db"
    wording: Literal["template", "question"] = "template"
    unanswerable: bool = False
    count_joins: bool = False
    privacy: Privacy = field(default="credentialed", kw_only=True)
    split_names = ("test", "valid", "train")
    how = "set CLINICAL_DATA_DIR to the folder that holds the data set, or give dataset.path=..."

    def __post_init__(self) -> None:
        if not self.databases:
            raise ConfigError("dataset.databases: at least one of mimic_iii, eicu, treqs is needed, found none")
        if self.path is None and self.shipped is None:
            raise ConfigError(f"dataset.path: no data; {self.how}")

    @property
    def title(self) -> str:
        """The name of the edition."""
        return self.name

    def paths(self, split: str) -> Mapping[str, Path]:
        """A file per database."""
        return {name: self._file(self.questions.replace("{split}", split), name) for name in self.databases}

    def contents(self, split: str) -> Sequence[Path]:
        """Name the file and the database of each part."""
        return [file for part in self.locate(split) for file in (part.file, self._sqlite(part.name))]

    def identify(self, digest: str) -> str:
        """Add wording and choice."""
        return content_key(self.wording, str(self.unanswerable), str(self.count_joins), digest)

    def read(self, part: Part) -> Iterable[tuple[EhrQuestion, Source]]:
        """Read the questions on a database. Raises ConfigError."""
        source = open_source(part.name, self._sqlite(part.name))
        questions = ehr_questions(part.file, part.name)
        return ((one, source) for one in questions if one.sql is not None or self.unanswerable)

    def sample(self, item: tuple[EhrQuestion, Source], part: Part) -> Sample:
        """Make a question. Raises ConfigError."""
        one, source = item
        return ehr_sample(
            source,
            f"{self.name}-{part.split}-{part.name}-{one.id}",
            one.template if self.wording == "template" else one.question,
            self._gold(one),
            template=one.template,
            paraphrase=one.question,
            strata=one.strata,
            cluster=one.patient_of(part.name),
            may_abstain=self.unanswerable,
        )

    def _file(self, name: str, database: str) -> Path:
        root = Path(self.path).expanduser() if self.path is not None else _SHIPPED / str(self.shipped)
        return root / name.replace("{database}", database)

    def _sqlite(self, database: str) -> Path:
        return database_file(self._file(self.sqlite, database), self.how)

    def _gold(self, one: EhrQuestion) -> Gold | None:
        """The gold cells and the SQL's complexity. Raises ConfigError."""
        if one.sql is None:
            return None
        return make_gold(one.row, "query", one.sql, one.answer(), one.tag, self.count_joins)


@dataclass(frozen=True)
class CabEhrAgentDemo(FileDataset[tuple[EhrQuestion, Attached]]):
    """ClinicalAgent Bench's tasks mimic_iii and eicu on the open demo databases, with EHRAgent's gold answers.

    Test 90 and 159 questions, valid 40 each; the target's answer is a list of texts. ``path`` holds
    ``{database}/{split}_preprocessed.json`` and ``{database}/{database}.db``. ``wording``: the template's, as EHRAgent
    asks, or the paraphrased question's, as ClinicalAgent Bench does. Raises ConfigError with file, record and key.
    """

    path: str
    databases: tuple[EhrDatabase, ...] = ("mimic_iii", "eicu")
    wording: Literal["template", "question"] = "template"
    title = "the demo"
    split_names = ("test", "valid")
    how = "set CLINICAL_DATA_DIR to the folder that holds ehragent_demo/, or give dataset.path=..."

    def __post_init__(self) -> None:
        if not self.databases:
            raise ConfigError("dataset.databases: at least one of mimic_iii, eicu is needed, found none")

    def paths(self, split: str) -> Mapping[str, Path]:
        """A file per database."""
        return {name: Path(self.path) / name / f"{split}_preprocessed.json" for name in self.databases}

    def contents(self, split: str) -> Sequence[Path]:
        """Name the file and the database of each part."""
        return [file for part in self.locate(split) for file in (part.file, self._sqlite(part))]

    def identify(self, digest: str) -> str:
        """Add the wording."""
        return f"{self.wording}-{digest}"

    def read(self, part: Part) -> Iterable[tuple[EhrQuestion, Attached]]:
        """Read the questions on a database. Raises ConfigError."""
        database = attach(database=self._sqlite(part))
        return ((one, database) for one in ehr_questions(part.file, part.name))

    def sample(self, item: tuple[EhrQuestion, Attached], part: Part) -> Sample:
        """Make a question. Raises ConfigError."""
        one, database = item
        answer = one.answer()
        if not answer:
            raise one.row.error("answer", "must be a text or a list of texts, found []")
        return task_sample(
            part.name,
            "numerical",
            f"ehragent_demo-{part.split}-{part.name}-{one.id}",
            one.template if self.wording == "template" else one.question,
            {"answer": answer},
            files=database,
            metadata={"sql": one.sql, "sql_dialect": part.name, "template": one.template, "paraphrase": one.question},
            strata=one.strata,
            cluster=one.patient_of(part.name),
        )

    def _sqlite(self, part: Part) -> Path:
        return readable(database_file(part.file.parent / f"{part.name}.db", self.how))
