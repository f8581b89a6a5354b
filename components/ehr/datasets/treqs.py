"""MIMICSQL as EHRAgent asks it (there called TREQS): questions on five tables made from MIMIC-III.

Source: Wang, Shi, Reddy 2020, WWW, arXiv 1908.01839 (questions and SQL MIT; ``wangpinggl/TREQS``), read in its JSON
Lines of a question, its SQL and the parts that the SQL was made from; Shi et al. 2024, EMNLP, asks 996. The database is
made from MIMIC-III 1.4, which is credentialed.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from annotated_types import Gt

from components.core.types import Privacy, Sample
from components.ehr.datasets.samples import (
    Complexity,
    Gold,
    Source,
    database_file,
    ehr_sample,
    gold_rows,
    open_source,
)
from components.ehr.metadata import metadata
from components.files.file_dataset import FileDataset, Part
from components.files.folders import content_key
from components.files.rows import Row, json_lines
from components.sql.complexity import TREQS_TABLES, n_columns
from components.text.values import cells

_HOW_DATABASE = (
    "build mimic.db from the credentialed MIMIC-III with the scripts of github.com/wangpinggl/TREQS and name it in "
    "dataset.sqlite; without credentials use dataset=ehr_mini dataset.databases=[treqs]"
)
OPERATORS = ("=", ">", "<", ">=", "<=")
OPERATIONS = ("none", "count", "max", "min", "avg")
# A literal that is one already, a column's name in quotes, or a literal in a name's quotes.
_QUOTED = re.compile(r"""'(?:[^']|'')*'|(?<=\.)"(?P<name>\w+)"|"(?P<literal>(?:[^"]|"")*)\"""")


@dataclass(frozen=True)
class Condition:
    """What a question asks for: ``table`` and ``column`` by name, ``value`` as text."""

    table: str
    column: str
    operator: str
    value: str


@dataclass(frozen=True)
class TreqsQuestion:
    """A question; ``sql`` is standard SQL, ``operation`` what it does with the values it finds."""

    row: Row
    key: str
    question: str
    sql: str
    tables: tuple[str, ...]
    conditions: tuple[Condition, ...]
    operation: str


class AnsweredTreqs(NamedTuple):
    """A question with its gold answer, the database it is asked on, and its text in both wordings."""

    question: TreqsQuestion
    gold: Gold
    source: Source
    template: str | None
    paraphrase: str | None


@dataclass(frozen=True)
class Treqs(FileDataset[AnsweredTreqs]):
    """Questions in the file's order; the target's answer holds the distinct values that the gold SQL gives.

    ``path`` holds ``mimicsql_data/mimicsql_{template,natural_v2,natural}/{split}.json``, ``sqlite`` is the database
    with the tables DEMOGRAPHIC, DIAGNOSES, PROCEDURES, PRESCRIPTIONS and LAB. ``wording``: the template's, or that of
    ``edition``, as people ask it. The level is the number of tables in ``format.table``, as published. The gold SQL
    is run once, with its literals in single quotes, each statement for at most ``seconds``; what it gives is kept in
    ``cache``, by the content of statements and database. Raises ConfigError with file, line and key.
    """

    path: str
    sqlite: str
    wording: Literal["template", "question"] = "template"
    edition: Literal["natural_v2", "natural"] = "natural_v2"
    cache: str = "outputs/.cache/treqs"
    seconds: Annotated[float, Gt(0)] = 120.0
    privacy: Privacy = field(default="credentialed", kw_only=True)
    title = "MIMICSQL"
    split_names = ("test", "dev", "train")
    how = (
        "set CLINICAL_DATA_DIR to the folder that holds mimicsql_treqs/, or take mimicsql_data/ from "
        "github.com/wangpinggl/TREQS and give dataset.path=..."
    )

    def paths(self, split: str) -> Mapping[str, Path]:
        """The file in the wording that is asked."""
        return {"treqs": self._file(self._asked, split)}

    def contents(self, split: str) -> Sequence[Path]:
        """Name the file and the database."""
        return [*super().contents(split), self._database]

    def identify(self, digest: str) -> str:
        """Add the wording."""
        return content_key(self._asked, digest)

    def read(self, part: Part) -> Iterable[AnsweredTreqs]:
        """Read the questions and run their SQL. Raises ConfigError."""
        questions, source = list(treqs_questions(part.file)), open_source("treqs", self._database)
        asked = [(one.row, one.sql) for one in questions]
        results = gold_rows(asked, "sql", source, cache=self.cache, seconds=self.seconds)
        templates, paraphrases = (self._worded(name, part.split) for name in ("template", self.edition))
        for one, rows in zip(questions, results, strict=True):
            complexity = Complexity(len(one.tables), n_columns(one.sql), len(one.conditions))
            gold = Gold(one.sql, cells(rows), complexity)
            yield AnsweredTreqs(one, gold, source, templates.get(one.key), paraphrases.get(one.key))

    def sample(self, item: AnsweredTreqs, part: Part) -> Sample:
        """Make a question."""
        return ehr_sample(
            item.source,
            f"treqs-{part.split}-{item.question.key}",
            item.question.question,
            item.gold,
            template=item.template,
            paraphrase=item.paraphrase,
            strata={"operation": item.question.operation},
        )

    def _worded(self, name: str, split: str) -> Mapping[str, str]:
        """Key -> question in a wording; empty where its file is not there."""
        file = self._file(name, split)
        return {one.key: one.question for one in treqs_questions(file)} if file.is_file() else {}

    @property
    def _asked(self) -> str:
        return "template" if self.wording == "template" else self.edition

    @property
    def _database(self) -> Path:
        return database_file(self.sqlite, _HOW_DATABASE)

    def _file(self, name: str, split: str) -> Path:
        return Path(self.path).expanduser() / "mimicsql_data" / f"mimicsql_{name}" / f"{split}.json"


def treqs_questions(path: Path) -> Iterator[TreqsQuestion]:
    """Read the questions of a file. Raises ConfigError with line and key."""
    known = {table.upper(): tuple(columns) for table, columns in metadata("treqs").tables.items()}
    columns = [(table, known[table]) for table in TREQS_TABLES]
    for row in json_lines(path):
        parts = row.values.get("format")
        if not isinstance(parts, dict):
            raise row.error("format", f"must be an object, found {parts!r:.80}")
        tables, conditions = parts.get("table"), parts.get("cond")
        if not isinstance(tables, list) or not tables or not all(_index(one, columns) for one in tables):
            raise row.error(
                "format.table", f"must be a list of numbers from 0 to {len(columns) - 1}, found {tables!r:.80}"
            )
        if not isinstance(conditions, list):
            raise row.error("format.cond", f"must be a list, found {conditions!r:.80}")
        if not _index(parts.get("sel"), OPERATIONS):
            raise row.error("format.sel", f"must be a number from 0 to 4, found {parts.get('sel')!r:.80}")
        yield TreqsQuestion(
            row,
            row.text("key"),
            row.text("question_refine").strip(),
            _statement(row),
            tuple(dict.fromkeys(columns[one][0] for one in tables)),
            tuple(_condition(row, one, columns) for one in conditions),
            OPERATIONS[parts["sel"]],
        )


def standard_sql(sql: str) -> str:
    """Write literals in single quotes in place of double ones; columns lose their quotes.

    ``DEMOGRAPHIC."AGE" < "60"`` becomes ``DEMOGRAPHIC.AGE < '60'``: databases read double quotes as names.
    """

    def single(found: re.Match[str]) -> str:
        if found["name"] is not None:
            return found["name"]
        if found["literal"] is None:
            return found[0]
        return "'" + found["literal"].replace('""', '"').replace("'", "''") + "'"

    return _QUOTED.sub(single, sql)


def _statement(row: Row) -> str:
    """The row's SQL. Raises ConfigError for a quote that is not closed."""
    sql = row.text("sql")
    if '"' in _QUOTED.sub("", sql):
        raise row.error("sql", f"has a quote that is not closed: {sql!r:.200}")
    return standard_sql(sql)


def _condition(row: Row, value: Any, columns: list[tuple[str, tuple[str, ...]]]) -> Condition:
    """[table, column, operator, value] with names for numbers. Raises ConfigError."""
    if isinstance(value, list) and len(value) == 4 and isinstance(value[3], str | int | float):
        table, column, operator, wanted = value
        if _index(table, columns) and _index(column, columns[table][1]) and _index(operator, OPERATORS):
            return Condition(columns[table][0], columns[table][1][column], OPERATORS[operator], str(wanted))
    raise row.error("format.cond", f"must hold [table, column, operator, value], found {value!r:.80}")


def _index(value: Any, of: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(of)
