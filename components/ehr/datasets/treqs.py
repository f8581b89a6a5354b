"""MIMICSQL as EHRAgent asks it (there called TREQS): questions on five tables made from MIMIC-III.

Source: Wang, Shi, Reddy 2020, WWW, arXiv 1908.01839 (questions and SQL MIT; ``wangpinggl/TREQS``), read in its JSON
Lines of a question, its SQL and its parts; Shi et al. 2024, EMNLP, asks 996. MIMIC-III 1.4 is credentialed.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Literal

from annotated_types import Gt

from components.core.types import Privacy, Sample
from components.ehr.datasets.samples import EhrQuestion, Gold, RecordDataset, Wording
from components.ehr.metadata import metadata
from components.files.file_dataset import HOW, Part
from components.files.rows import json_lines, require_file
from components.sql.complexity import n_columns
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
class TreqsQuestion(EhrQuestion):
    """A question; ``sql`` is standard SQL, the stratum ``operation`` what it does with the values it finds."""

    tables: tuple[str, ...] = ()
    n_conditions: int = 0


@dataclass(frozen=True)
class Treqs(RecordDataset):
    """Questions in the file's order; the target's answer holds the distinct values that the gold SQL gives.

    ``path`` holds ``mimicsql_data/mimicsql_{template,natural_v2,natural}/{split}.json``, ``sqlite`` is the database
    with the tables DEMOGRAPHIC, DIAGNOSES, PROCEDURES, PRESCRIPTIONS and LAB. ``wording``: the template's, or that of
    ``edition``, as people ask it. The level is the number of tables in ``format.table``, as published. The gold SQL
    is run once, with its literals in single quotes, each statement for at most ``seconds``; what it gives is kept in
    ``cache``, by the content of statements and database. Raises ConfigError with file, line and key.
    """

    path: str
    sqlite: str
    wording: Wording = "template"
    edition: Literal["natural_v2", "natural"] = "natural_v2"
    cache: str = "outputs/.cache/treqs"
    seconds: Annotated[float, Gt(0)] = 120.0
    privacy: Privacy = field(default="credentialed", kw_only=True)
    title = "MIMICSQL"
    settings = ("{0._wording}",)
    split_names = ("test", "dev", "train")
    how = HOW.format("mimicsql_treqs", "take mimicsql_data/ from github.com/wangpinggl/TREQS", "...")

    def paths(self, split: str) -> Mapping[str, Path]:
        """The file in the wording that is asked."""
        return {"treqs": self._file(self._wording, split)}

    def read(self, part: Part) -> Iterable[Sample]:
        """Read the questions and run their SQL. Raises ConfigError."""
        questions, source = list(treqs_questions(part.file)), self.source(part)
        files = [self._file(name, part.split) for name in ("template", self.edition)]
        templates, paraphrases = (
            {one.id: one.question for one in treqs_questions(file)} if file.is_file() else {} for file in files
        )
        results = source.rows(questions, "sql", self.cache, self.seconds)
        for one, rows in zip(questions, results, strict=True):
            sql = one.sql or ""
            yield source.sample(
                f"treqs-{part.split}",
                replace(one, template=templates.get(one.id)),
                one.question,
                Gold(sql, cells(rows or ()), len(one.tables), n_columns(sql), one.n_conditions),
                metadata={"paraphrase": paraphrases.get(one.id)},
            )

    def sqlite_of(self, name: str) -> Path:
        """Return the database's file. Raises ConfigError."""
        return require_file(Path(self.sqlite).expanduser(), _HOW_DATABASE, "database")

    @property
    def _wording(self) -> str:
        return "template" if self.wording == "template" else self.edition

    def _file(self, name: str, split: str) -> Path:
        return Path(self.path).expanduser() / "mimicsql_data" / f"mimicsql_{name}" / f"{split}.json"


def treqs_questions(path: Path) -> Iterator[TreqsQuestion]:
    """Read the questions of a file. Raises ConfigError with line and key."""
    names = list(metadata("treqs").tables)
    columns = [tuple(columns) for columns in metadata("treqs").tables.values()]
    for row in json_lines(path):
        parts = row.values.get("format")
        if not isinstance(parts, dict):
            raise row.error("format", f"must be an object, found {parts!r:.80}")
        tables, conditions, operation = parts.get("table"), parts.get("cond"), parts.get("sel")
        if not isinstance(tables, list) or not tables or not all(_is_index(one, columns) for one in tables):
            numbers = f"numbers from 0 to {len(columns) - 1}"
            raise row.error("format.table", f"must be a list of {numbers}, found {tables!r:.80}")
        if not isinstance(conditions, list):
            raise row.error("format.cond", f"must be a list, found {conditions!r:.80}")
        if not isinstance(operation, int) or not _is_index(operation, OPERATIONS):
            raise row.error("format.sel", f"must be a number from 0 to 4, found {operation!r:.80}")
        sql = row.text("sql")
        if '"' in _QUOTED.sub("", sql):
            raise row.error("sql", f"has a quote that is not closed: {sql!r:.200}")
        for one in conditions:
            if not _is_condition(one, columns):
                raise row.error("format.cond", f"must hold [table, column, operator, value], found {one!r:.80}")
        name, question = row.text("key"), row.text("question_refine").strip()
        named, strata = tuple(dict.fromkeys(names[one] for one in tables)), {"operation": OPERATIONS[operation]}
        sql, n = standard_sql(sql), len(conditions)
        yield TreqsQuestion(row, name, question, None, sql, strata=strata, tables=named, n_conditions=n)


def standard_sql(sql: str) -> str:
    """Write literals in single quotes in place of double ones; columns lose their quotes. ``DEMOGRAPHIC."AGE" < "60"``
    becomes ``DEMOGRAPHIC.AGE < '60'``: databases read double quotes as names."""

    def single(found: re.Match[str]) -> str:
        if found["literal"] is None:
            return found["name"] or found[0]
        return "'" + found["literal"].replace('""', '"').replace("'", "''") + "'"

    return _QUOTED.sub(single, sql)


def _is_condition(value: object, columns: Sequence[Sequence[str]]) -> bool:
    if not isinstance(value, list) or len(value) != 4 or not isinstance(value[3], str | int | float):
        return False
    table, column, operator, _ = value
    return _is_index(table, columns) and _is_index(column, columns[table]) and _is_index(operator, OPERATORS)


def _is_index(value: object, of: Sequence[object]) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(of)
