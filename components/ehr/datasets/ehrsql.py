"""EHRSQL (2022): questions of hospital staff on MIMIC-III and eICU, as EHRAgent and as ClinicalAgent Bench ask them.

Source: Lee et al. 2022, NeurIPS Datasets and Benchmarks (questions and SQL CC BY 4.0; ``glee4810/EHRSQL``); Shi et al.
2024, EMNLP, arXiv 2401.07128 (the form with gold answers; its files are a download of its repository). The databases
are made from MIMIC-III 1.4 and eICU-CRD 2.0, which are credentialed. Editions of the questions differ (2024 and 2026
changed wording and SQL), so numbers compare within one edition only. ``ehr_mini`` is the project's own, in the same
form. The open demo databases are made from the MIMIC-III demo 1.4 (doi:10.13026/C2HM2Q) and the eICU demo 2.0.1
(doi:10.13026/4mxk-na84), ODbL 1.0; numbers on them cannot be compared with those on the full databases.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from annotated_types import Gt

from components.core.errors import ConfigError
from components.core.types import Privacy, Sample
from components.ehr.datasets.samples import EhrDatabase, RecordDataset, Wording, ehr_questions
from components.files.attachments import attach
from components.files.file_dataset import HOW, NO_RESULT, FolderDataset, Part, add_request, task_sample
from components.files.folders import keep_json
from components.files.rows import files_digest, require_file
from components.sql import SqlError
from components.sql.cleaning import clean_sql
from components.sql.reading import ReadOnly, require_readable
from components.text.values import cells

_BUILD = "build it from the credentialed PhysioNet data with the scripts of github.com/glee4810/EHRSQL and"
_WITHOUT = "without credentials use"


@dataclass(frozen=True)
class Files2022(RecordDataset):
    """The files of the source. ``path`` holds ``dataset/ehrsql/{database}/{split}.json``. The gold SQL is run once,
    read-only, each statement for at most ``seconds``; what it gives is kept in ``cache``, by the content of questions
    and database. Raises ConfigError with file, record and key."""

    path: str
    seconds: Annotated[float, Gt(0)] = field(default=120.0, kw_only=True)
    privacy: Privacy = field(default="credentialed", kw_only=True)
    title = "EHRSQL"
    split_names = ("test", "valid", "train")
    how = HOW.format("ehrsql", "take dataset/ehrsql/ from github.com/glee4810/EHRSQL", "...")


@dataclass(frozen=True)
class Ehrsql(Files2022):
    """Questions database by database; the target's answer holds the distinct values that the gold SQL gives. ``sqlite``
    names each database's file. ``wording``: the template's, as EHRAgent asks, or the paraphrased question's.
    ``unanswerable``: questions that no table answers count too, as people word them; their target is None."""

    sqlite: Mapping[str, str]
    databases: tuple[EhrDatabase, ...] = ("mimic_iii", "eicu")
    wording: Wording = "template"
    unanswerable: bool = False
    cache: str = "outputs/.cache/ehrsql"
    settings = ("{0.wording}", "{0.unanswerable}")

    def __post_init__(self) -> None:
        self.require_some("databases", self.databases, EhrDatabase)

    def paths(self, split: str) -> Mapping[str, Path]:
        """A file per database."""
        return {name: ehrsql_file(self.path, name, split) for name in self.databases}

    def read(self, part: Part) -> Iterable[Sample]:
        """Read the questions on a database with their gold answers. Raises ConfigError."""
        source = self.source(part)
        questions = list(ehr_questions(part.file, part.name))
        found = source.rows(questions, "query", self.cache, self.seconds)
        prefix = f"ehrsql-{part.split}-{part.name}"
        for one, rows in zip(questions, found, strict=True):
            if rows is not None or self.unanswerable:
                text = one.text("question" if rows is None else self.wording)
                gold = None if rows is None else one.gold("query", cells(rows), joins=False)
                yield source.sample(prefix, one, text, gold, may_abstain=self.unanswerable)

    def sqlite_of(self, name: str) -> Path:
        """Return a database's file. Raises ConfigError."""
        how = f"{_BUILD} name it in dataset.sqlite; {_WITHOUT} dataset=ehr_mini, ehragent_demo or ehrsql2024"
        if name not in self.sqlite:
            raise ConfigError(f"dataset.sqlite: names no database for {name}; {how}")
        return require_file(Path(self.sqlite[name]).expanduser(), how, "database")


@dataclass(frozen=True)
class CabEhrsql2022(Files2022):
    """ClinicalAgent Bench's tasks mimic_iii (798 test questions) and eicu (797): the answerable ones of a database. The
    target's answer is a list of the cells that the gold SQL gives, empty where it finds no row. ``sqlite`` is the
    database, ``ask`` is added to each question (the same as in ``ehr_halt``, so it gives nothing away)."""

    database: EhrDatabase
    sqlite: str
    ask: str = NO_RESULT
    cache: str = "outputs/.cache/ehrsql2022"
    settings = ("{0.database}",)

    def paths(self, split: str) -> Mapping[str, Path]:
        """One file."""
        return {self.database: ehrsql_file(self.path, self.database, split)}

    def read(self, part: Part) -> Iterable[Sample]:
        """Read the answerable questions with their answers. Raises ConfigError."""
        questions = [one for one in ehr_questions(part.file, self.database) if one.sql is not None]
        sqlite = self.sqlite_of(self.database)

        def run_all() -> list[list[str]]:
            reader, answers = ReadOnly(sqlite, seconds=self.seconds), []
            for one in questions:
                try:
                    rows = reader.run(clean_sql(one.sql or "", self.database))
                except SqlError as error:
                    raise one.row.error("query", f"the gold SQL fails on {sqlite}: {error}") from None
                answers.append([cell_text(value) for row in rows for value in row])
            return answers

        answers = keep_json(Path(self.cache), self.identify(files_digest(part.file, sqlite)), run_all)
        for one, answer in zip(questions, answers, strict=True):
            name, text = f"{self.database}-{part.split}-{one.id}", add_request(one.question, self.ask)
            target, files = {"answer": answer}, attach(database=sqlite)
            facts = {"sql": one.sql, "sql_dialect": self.database, "template": one.template}
            of, strata, patient = self.database, one.strata, one.patient
            yield task_sample(
                of, "numerical", name, text, target, files=files, metadata=facts, strata=strata, cluster=patient
            )

    def sqlite_of(self, name: str) -> Path:
        """Return the database's file, which must be readable. Raises ConfigError."""
        how = f"{_BUILD} give dataset.sqlite=...; {_WITHOUT} dataset=cab_ehragent_demo or dataset=cab_ehrsql"
        return require_readable(require_file(Path(self.sqlite).expanduser(), how, "database"))


def ehrsql_file(path: str, database: str, split: str) -> Path:
    """Return where the repository has the questions of a database and split."""
    return Path(path).expanduser() / "dataset" / "ehrsql" / database / f"{split}.json"


def cell_text(value: object) -> str:
    """Write a cell of an answer: a number to 3 decimals without a closing ``.0``, anything else as text."""
    if isinstance(value, float):
        return f"{round(value, 3):.3f}".rstrip("0").rstrip(".")
    return str(value)


_Database = Literal["mimic_iii", "eicu", "treqs"]


@dataclass(frozen=True)
class EhrAgentEdition(FolderDataset[Sample], RecordDataset):
    """Questions database by database; the target's answer is a list of texts.

    ``questions`` and ``sqlite`` name the files of a ``{database}`` and a ``{split}``. ``wording``: the template's, as
    EHRAgent asks, or the paraphrased question's. ``unanswerable``: questions that no table answers are asked too; their
    target's answer is None. ``count_joins``: for the level, tables after ``join`` count too; the published levels count
    those after ``from`` only. ``name`` begins the samples' ids. Raises ConfigError with file, record and key.
    """

    name: str
    databases: tuple[_Database, ...] = ("mimic_iii", "eicu")
    questions: str = "{database}/{split}_preprocessed.json"
    sqlite: str = "{database}/{database}.db"
    wording: Wording = "template"
    unanswerable: bool = False
    count_joins: bool = False
    privacy: Privacy = field(default="credentialed", kw_only=True)
    split_names = ("test", "valid", "train")
    settings = ("{0.wording}", "{0.unanswerable}", "{0.count_joins}")
    how = "set CLINICAL_DATA_DIR to the folder that holds the data set, or give dataset.path=..."

    def __post_init__(self) -> None:
        self.require_some("databases", self.databases, _Database)
        super().__post_init__()

    @property
    def title(self) -> str:
        """The name of the edition."""
        return self.name

    def paths(self, split: str) -> Mapping[str, Path]:
        """A file per database."""
        return {name: self._file(self.questions.replace("{split}", split), name) for name in self.databases}

    def read(self, part: Part) -> Iterable[Sample]:
        """Read the questions on a database. Raises ConfigError."""
        source = self.source(part)
        prefix = f"{self.name}-{part.split}-{part.name}"
        for one in ehr_questions(part.file, part.name):
            if one.sql is not None or self.unanswerable:
                gold = None if one.sql is None else one.gold("query", one.answer(), self.count_joins)
                yield source.sample(prefix, one, one.text(self.wording), gold, may_abstain=self.unanswerable)

    def sqlite_of(self, name: str) -> Path:
        """Return a database's file. Raises ConfigError."""
        return require_file(self._file(self.sqlite, name), self.how, "database")

    def _file(self, name: str, database: str) -> Path:
        return self.root / name.replace("{database}", database)


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
    settings = "{0.wording}"
    split_names = ("test", "valid")
    how = "set CLINICAL_DATA_DIR to the folder that holds ehragent_demo/, or give dataset.path=..."

    def __post_init__(self) -> None:
        self.require_some("databases", self.databases, EhrDatabase)

    def paths(self, split: str) -> Mapping[str, Path]:
        """A file per database."""
        return {name: Path(self.path) / name / f"{split}_preprocessed.json" for name in self.databases}

    def read(self, part: Part) -> Iterable[Sample]:
        """Read the questions on a database. Raises ConfigError."""
        files = attach(database=self.sqlite_of(part.name))
        for one in ehr_questions(part.file, part.name):
            name, target = f"ehragent_demo-{part.split}-{part.name}-{one.id}", {"answer": one.answer(least=1)}
            facts = {"sql": one.sql, "sql_dialect": part.name, "template": one.template, "paraphrase": one.question}
            text, strata, patient = one.text(self.wording), one.strata, one.patient_of(part.name)
            yield task_sample(
                part.name, "numerical", name, text, target, files=files, metadata=facts, strata=strata, cluster=patient
            )

    def sqlite_of(self, name: str) -> Path:
        """Return a database's file, which must be readable. Raises ConfigError."""
        return require_readable(require_file(Path(self.path).expanduser() / name / f"{name}.db", self.how, "database"))
