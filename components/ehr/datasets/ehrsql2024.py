"""EHRSQL 2024 on the open MIMIC-IV demo, and EHR-Halt: questions of hospital staff that no table answers.

Source: Lee et al. 2024, Clinical NLP workshop at NAACL, arXiv 2405.06673 (questions, SQL and answers CC BY 4.0,
``glee4810/ehrsql-2024``; database ODbL 1.0, from the MIMIC-IV demo 2.2, doi:10.13026/dp1f-ex47): 1,167 test questions,
233 of them unanswerable. ClinicalAgent Bench (Liao et al. 2024, arXiv 2410.17657) takes the answerable test questions
as its task ehrsql: 934. Its task ehr_halt has the unanswerable ones and those of EHRSQL 2022 on MIMIC-III and eICU (Lee
et al. 2022, NeurIPS, CC BY 4.0): 1,032 test questions; the right answer is that there is no result.
"""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from annotated_types import Gt

from components.core.errors import ConfigError
from components.core.types import Sample
from components.ehr.datasets.ehrsql import ehrsql_file
from components.ehr.datasets.samples import EhrQuestion, RecordDataset, Rows, ehr_questions
from components.files.attachments import attach
from components.files.file_dataset import HOW, NO_RESULT, OneFile, Part, add_request, task_sample
from components.files.rows import Row, json_mapping, json_records, require_file
from components.sql.reading import require_readable
from components.text.values import cells

_FOLDER = "data/mimic_iv"
_NULL = "null"
_NO_TEMPLATE = ("", "-", "null")
_PUBLISHED_ROWS = 100  # an answer is cut after them
HOW_2024 = HOW.format(
    "ehrsql2024", "take data/mimic_iv/ from github.com/glee4810/ehrsql-2024, build its database,", "..."
)


def split_files(path: str | Path, split: str) -> list[Path]:
    """Return questions, SQL and answers of a split. Raises ConfigError when one is missing."""
    folder = Path(path) / _FOLDER / split
    return [require_file(folder / f"{name}.json", HOW_2024) for name in ("data", "label", "answer")]


def database_2024(path: str | Path) -> Path:
    """Return the MIMIC-IV demo database. Raises ConfigError when it is missing."""
    return require_file(Path(path) / _FOLDER / "mimic_iv.sqlite", HOW_2024)


def questions_2024(data: Path) -> Iterator[EhrQuestion]:
    """Read the questions of ``data.json`` with SQL and answers from the files next to it. Raises ConfigError. Patient
    and template, with its slots left open, are there where annotated. ``row.values`` has the answer, a list as text."""
    labels, answers = (
        json_mapping(require_file(data.with_name(name), HOW_2024)) for name in ("label.json", "answer.json")
    )
    path = data.with_name("annotated.json")
    annotated: dict[str, tuple[str | None, str | None]] = {}
    for row in json_records(path) if path.is_file() else ():
        values, template = row.values.get("val_dict"), row.values.get("template")
        placed = values.get("val_placeholder") if isinstance(values, dict) else None
        patient = placed.get("patient_id") if isinstance(placed, dict) else None
        known = isinstance(template, str) and template not in _NO_TEMPLATE
        annotated[row.text("id")] = None if patient is None else str(patient), str(template) if known else None
    for row in json_records(data, "data"):
        name = row.text("id")
        sql, answer = labels.text(name), answers.text(name)
        if (sql == _NULL) != (answer == _NULL):
            raise labels.error(name, f"has SQL or an answer, but not both: {sql!r:.60} and {answer!r:.60}")
        patient, template = annotated.get(name, (None, None))
        whole = Row(row.place, {**row.values, "answer": answer})
        question = row.text("question").strip()
        yield EhrQuestion(whole, name, question, template, None if sql == _NULL else sql, patient, tag=template)


def published_rows(question: EhrQuestion) -> Rows:
    """Return the answer's rows. Raises ConfigError when it is not a list of them."""
    answer = question.row.text("answer")
    try:
        rows = ast.literal_eval(answer)
    except (ValueError, SyntaxError):
        rows = None
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise question.row.error("id", f"the answer must be the text of a list of rows, found {answer!r:.80}")
    return rows


@dataclass(frozen=True)
class Files2024(OneFile[Sample], RecordDataset):
    """Files of the shared task: ``path`` holds ``data/mimic_iv`` with a folder per split and ``mimic_iv.sqlite``."""

    title = "EHRSQL 2024"
    part = "mimic_iv"
    file = f"{_FOLDER}/{{split}}/data.json"
    split_names = ("test", "valid", "train")
    how = HOW_2024

    def contents(self, split: str) -> Sequence[Path]:
        """Name questions, SQL, answers and the database."""
        self.locate(split)
        return [*split_files(self.path, split), self.sqlite_of("mimic_iv")]

    def sqlite_of(self, name: str) -> Path:
        """Return the database's file. Raises ConfigError."""
        return database_2024(self.path)


@dataclass(frozen=True)
class Ehrsql2024(Files2024):
    """Questions in the file's order; the target's answer is a list of texts, None for ``unanswerable`` ones.

    Published answers are rounded to 3 decimals and cut after 100 rows, so where the gold SQL gives the published answer
    on this database, what it gives is the target, in full; elsewhere (tables that the database lacks) the published
    answer is, and ``metadata["executable"]`` is False. Each statement runs once, for at most ``seconds`` (``cache``).
    """

    unanswerable: bool = True
    cache: str = "outputs/.cache/ehrsql2024"
    seconds: Annotated[float, Gt(0)] = 120.0
    settings = ("{0.unanswerable}",)

    def read(self, part: Part) -> Iterable[Sample]:
        """Read the questions and run their SQL. Raises ConfigError."""
        questions, source = list(questions_2024(part.file)), self.source(part)
        found = source.rows(questions, "id", self.cache, self.seconds)
        for one, rows in zip(questions, found, strict=True):
            gold = executable = None
            if rows is not None:  # the published ones but for rounding, order and the cut
                published = published_rows(one)
                ours, theirs = (Counter(tuple(map(_rounded, row)) for row in each) for each in (rows, published))
                executable = ours == theirs or (len(published) == _PUBLISHED_ROWS and theirs <= ours)
                gold = one.gold("id", cells(rows if executable else published), joins=True)
            elif not self.unanswerable:
                continue
            name, facts, patient = f"ehrsql2024-{part.split}", {"executable": executable}, one.patient
            yield source.sample(
                name, one, one.question, gold, metadata=facts, cluster=patient, may_abstain=self.unanswerable
            )


def _rounded(cell: object) -> str:
    try:
        return f"{float(cell):.3f}" if isinstance(cell, str | int | float) else str(cell)
    except ValueError:
        return str(cell)


@dataclass(frozen=True)
class CabEhrsql(Files2024):
    """ClinicalAgent Bench's task ehrsql: answerable questions; the target's answer is the text of a list of rows.
    ``ask`` is added to each question (the same as in ``ehr_halt``, so it gives nothing away)."""

    ask: str = NO_RESULT

    def read(self, part: Part) -> Iterable[Sample]:
        """Read the answerable questions. Raises ConfigError."""
        split_files(self.path, part.split)
        files = attach(database=require_readable(self.sqlite_of(part.name)))
        for one in questions_2024(part.file):
            if one.sql is None:
                continue
            published_rows(one)  # which refuses what is no list of rows
            name, text, who = f"ehrsql-{part.split}-{one.id}", add_request(one.question, self.ask), one.patient
            target, facts = {"answer": one.row.text("answer")}, {"sql": one.sql, "sql_dialect": "mimic_iv"}
            yield task_sample("ehrsql", "numerical", name, text, target, files=files, metadata=facts, cluster=who)


_Source = Literal["mimic_iv", "mimic_iii", "eicu"]
_HOW_DATABASE = "name a SQLite file of the same tables in dataset.sqlite, or leave the source out of dataset.sources"


@dataclass(frozen=True)
class EhrHalt(RecordDataset):
    """Unanswerable questions with the database they are asked on; the target is an empty eval block. ``path`` holds the
    folders ``ehrsql`` and ``ehrsql2024``, ``sqlite`` names the databases on MIMIC-III and eICU: any of the same tables
    will do, since no row can hold an answer. ``ask`` is added to each question."""

    path: str
    sqlite: Mapping[str, str] = field(default_factory=dict)
    sources: tuple[_Source, ...] = ("mimic_iv", "mimic_iii", "eicu")
    ask: str = NO_RESULT
    title = "EHR-Halt"
    split_names = ("test", "valid", "train")
    how = HOW.format(
        "ehrsql/ and ehrsql2024", "take them from github.com/glee4810/EHRSQL and glee4810/ehrsql-2024", "..."
    )

    def __post_init__(self) -> None:
        self.require_some("sources", self.sources, _Source)

    @property
    def _newer(self) -> Path:
        return Path(self.path) / "ehrsql2024"

    def paths(self, split: str) -> Mapping[str, Path]:
        """A file per source."""
        newer = self._newer / "data" / "mimic_iv" / split / "data.json"
        older = str(Path(self.path) / "ehrsql")
        return {name: newer if name == "mimic_iv" else ehrsql_file(older, name, split) for name in self.sources}

    def contents(self, split: str) -> Sequence[Path]:
        """Name all files and the databases, the newer questions twice: fingerprints of earlier runs have them so."""
        files = {part.name: part.file for part in self.locate(split)}
        newer = split_files(self._newer, split) if "mimic_iv" in files else []
        older = [file for name, file in files.items() if name != "mimic_iv"]
        return [*newer, *older, *newer[:1], *(self.sqlite_of(name) for name in self.sources)]

    def read(self, part: Part) -> Iterable[Sample]:
        """Read the unanswerable questions of a source. Raises ConfigError."""
        database = attach(database=self.sqlite_of(part.name))
        questions = questions_2024(part.file) if part.name == "mimic_iv" else ehr_questions(part.file, part.name)
        facts, strata = {"sql_dialect": part.name}, {"database": part.name}
        for one in (one for one in questions if one.sql is None):
            name, text = f"ehr_halt-{part.split}-{part.name}-{one.id}", add_request(one.question, self.ask)
            yield task_sample("ehr_halt", "trust", name, text, {}, files=database, metadata=facts, strata=strata)

    def sqlite_of(self, name: str) -> Path:
        """Return a source's database, which must be readable. Raises ConfigError."""
        if name == "mimic_iv":
            return database_2024(self._newer)
        if name not in self.sqlite:
            raise ConfigError(f"dataset.sqlite: names no database for {name}; {_HOW_DATABASE}")
        return require_readable(require_file(Path(self.sqlite[name]).expanduser(), _HOW_DATABASE, "database"))
