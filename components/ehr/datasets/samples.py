"""Questions about health records: the form of EHRSQL (2022), the database asked, the gold answer, and their samples.

Source: Lee et al. 2022, NeurIPS Datasets and Benchmarks (CC BY 4.0; ``glee4810/EHRSQL``). Gold answers of questions
whose files hold SQL only are computed on the user's database once, then cached.
"""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from statistics import fmean
from typing import Any, Literal, NamedTuple, get_args

from components.core.errors import ConfigError
from components.core.types import Problem, Sample
from components.ehr.interpreters import MAX_VALUE, fill_placeholders
from components.ehr.metadata import Metadata, metadata
from components.files.file_dataset import Part, SampleDataset
from components.files.folders import keep_json
from components.files.rows import Row, content_key, files_digest, json_records
from components.sql import SqlError
from components.sql.complexity import level, n_columns, n_slots, tables_of
from components.sql.reading import ReadOnly, require_readable

EhrDatabase = Literal["mimic_iii", "eicu"]
Wording = Literal["template", "question"]
_NO_SQL = ("nan", "null")
_PATIENTS = ("patient_id", "subject_id", "uniquepid")  # slots that name the patient
_STRATA = {"importance": "importance", "wording": "para_type"}  # stratum -> key


class RecordDataset(SampleDataset):
    """Questions on databases of health records: a file of questions and a database per part."""

    @abstractmethod
    def sqlite_of(self, name: str) -> Path:
        """Return the database that the questions of a part are asked on. Raises ConfigError."""

    def require_some(self, key: str, chosen: Sequence[str], known: Any) -> None:
        """Raise ConfigError for an empty choice of these names (a ``Literal``)."""
        if not chosen:
            raise ConfigError(f"dataset.{key}: at least one of {', '.join(get_args(known))} is needed, found none")

    def source(self, part: Part) -> "Source":
        """Read about the database of a part. Raises ConfigError."""
        return open_source(part.name, self.sqlite_of(part.name))

    def contents(self, split: str) -> Sequence[Path]:
        """Name the file and the database of each part."""
        return [file for part in self.locate(split) for file in (part.file, self.sqlite_of(part.name))]

    def items(self, split: str) -> Iterable[tuple[Part, Iterable[Sample]]]:
        """Read all questions, which checks gold SQL and databases, before the first sample. Raises ConfigError."""
        return [(part, list(items)) for part, items in super().items(split)]


class Gold(NamedTuple):
    """The SQL of the right answer, its cells, and its complexity; ``n_slots`` is None where no template is known."""

    sql: str
    answer: Sequence[str]
    n_tables: int
    n_columns: int
    n_slots: int | None


@dataclass(frozen=True)
class EhrQuestion:
    """A question: its text as people ask it, the template it was made from, and its SQL (None: unanswerable). ``tag``
    is the template with its slots left open, where the file has it."""

    row: Row
    id: str
    question: str
    template: str | None
    sql: str | None
    patient: str | None = None
    strata: Mapping[str, str] = field(default_factory=dict)
    tag: str | None = None

    def answer(self, least: int = 0) -> list[str]:
        """Return the gold cells that the file has: one text, or a list of texts. Raises ConfigError."""
        answer = self.row.values.get("answer")
        cells = [answer] if isinstance(answer, str) else answer
        if not isinstance(cells, list) or len(cells) < least or not all(isinstance(cell, str) for cell in cells):
            raise self.row.error("answer", f"must be a text or a list of texts, found {answer!r:.80}")
        return cells

    def text(self, wording: Wording) -> str:
        """Return the template's text, or as people ask."""
        return self.template if wording == "template" and self.template is not None else self.question

    def gold(self, key: str, answer: Sequence[str], joins: bool) -> Gold:
        """Make the gold answer with the complexity of its SQL, ``row[key]``. ``joins``: tables after ``join`` count
        too, else only those after a lower-case ``from``, as in the published levels. Raises ConfigError for none."""
        sql, tag = self.sql or "", self.tag
        tables = tables_of(sql, joins=joins)
        if not tables:
            hint = "" if joins else " (dataset.count_joins=true counts those in capitals too)"
            raise self.row.error(key, f"names no table after 'from', so the question has no level{hint}: {sql!r:.200}")
        return Gold(sql, answer, len(tables), n_columns(sql), None if tag is None else n_slots(tag))

    def patient_of(self, database: str) -> str | None:
        """Name the patient together with the database."""
        return None if self.patient is None else f"{database}/{self.patient}"


def ehr_questions(path: Path, database: str) -> Iterator[EhrQuestion]:
    """Read the questions of a file, all on one database. Raises ConfigError."""
    for row in json_records(path):
        if row.text("db_id") != database:
            raise row.error("db_id", f"must be {database!r} in this file, found {row.text('db_id')!r}")
        sql, impossible = row.text("query"), row.values.get("is_impossible", False)
        if not isinstance(impossible, bool):
            raise row.error("is_impossible", f"must be true or false, found {impossible!r:.80}")
        if not impossible and sql in _NO_SQL:
            raise row.error("query", f"an answerable question needs its SQL, found {sql!r}")
        value, tag = row.values.get("value"), row.values.get("q_tag")
        slots = value if isinstance(value, dict) else {}
        name, question, template = row.text("id"), row.text("question").strip(), row.text("template").strip()
        patient = next((str(slots[slot]) for slot in _PATIENTS if slots.get(slot) is not None), None)
        strata = {stratum: text for stratum, key in _STRATA.items() if isinstance(text := row.values.get(key), str)}
        tag, answerable = tag if isinstance(tag, str) else None, None if impossible else sql
        yield EhrQuestion(row, name, question, template, answerable, patient, strata, tag)


_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
_COUNTING = 120.0  # seconds for the rows of one table
_RULES = "1"  # goes up when the conventions change by which SQL is run, so that cached results are computed again
_MAX_ROWS = 1_000_000  # more than agents may read at once: a right answer may need them
Rows = list[list[object]]


class Source(NamedTuple):
    """A database of questions: what is known of it, its file, how problems describe it, and its size in words."""

    metadata: Metadata
    file: Path
    context: str
    size: str

    def rows(self, questions: Sequence[EhrQuestion], key: str, cache: str, seconds: float) -> list[Rows | None]:
        """Run each question's statement, or take what is in ``cache`` by the content of statements and database; None
        for a question without SQL. ``key`` is where a row has it; ``seconds`` limits each. Raises ConfigError."""
        clock, file = self.metadata.clock, self.file
        statements = [(one.row, one.sql) for one in questions if one.sql is not None]
        name = content_key(_RULES, clock or "", files_digest(file), *(sql for _, sql in statements))

        def run_all() -> list[Rows]:
            reader = ReadOnly(file, seconds, max_rows=_MAX_ROWS, max_value=MAX_VALUE)
            results = []
            for row, sql in statements:
                try:
                    found = [list(cells) for cells in reader.run(fill_placeholders(sql, clock))]
                except SqlError as error:
                    raise row.error(key, f"the gold SQL fails on {file}: {error}") from None
                if any(isinstance(cell, bytes) for cells in found for cell in cells):
                    raise row.error(key, f"the gold SQL gives bytes on {file}; an answer must be text or numbers")
                results.append(found)
            return results

        results = iter(keep_json(Path(cache), name, run_all))
        return [None if one.sql is None else next(results) for one in questions]

    def sample(
        self,
        prefix: str,
        question: EhrQuestion,
        text: str,
        gold: Gold | None,
        *,
        metadata: Mapping[str, object] | None = None,
        cluster: str | None = None,
        may_abstain: bool = False,
    ) -> Sample:
        """Make a question, worded so; ``prefix`` begins its id, ``may_abstain``: the agent knows that some cannot be
        answered. Its target's answer is a list of texts; None where no table answers (``gold`` None). The level is the
        number of tables of the gold SQL as a Roman number, or ``unanswerable``; it and the counts that are known are
        strata too, for tables of success against complexity. Gold is in target and metadata only."""
        database = self.metadata.database
        counted: dict[str, str | float] = {} if gold is None else {"tables per question": gold.n_tables}
        counts = {name: getattr(gold, name, None) for name in ("n_tables", "n_columns", "n_slots")}
        facts = {
            "sql": None if gold is None else gold.sql,
            "sql_dialect": database,
            "template": question.template,
            "paraphrase": question.question,
            "answerable": gold is not None,
            "may_abstain": may_abstain,
            **counts,
        }
        levels = {
            "database": database,
            "level": "unanswerable" if gold is None else level(gold.n_tables),
            **{count: str(value) for count, value in counts.items() if value is not None},
        }
        return Sample(
            Problem(f"{prefix}-{question.id}", text, context=self.context),
            target={"answer": None if gold is None else list(gold.answer)},
            metadata={**facts, **(metadata or {})},
            cluster=cluster or question.patient_of(database),
            strata={**levels, **question.strata},
            card={"database (size), samples of each": self.size} | counted,
            files={"database": str(self.file)},
        )


def open_source(database: str, file: Path) -> Source:
    """Read about the database in ``file``: problems show overview, tables with their columns, and the current time.
    Raises ConfigError for an unknown one and for a file that cannot be read."""
    known = metadata(database)
    place, stat = require_readable(file).resolve(), file.stat()
    now = f"\n\nThe current time is {known.clock}." if known.clock is not None else ""
    context = f"{known.overview}\n\nTables and their columns:\n{known.columns}{now}"
    return Source(known, place, context, f"{database} ({_size(place, stat.st_mtime_ns, stat.st_size)})")


@lru_cache(maxsize=16)
def _size(file: Path, changed: int, n_bytes: int) -> str:
    """How many tables a file has and how many rows they have on average (Table 3 of the article); counted once."""
    reading = ReadOnly(file, seconds=_COUNTING)
    try:
        names = [str(name).replace('"', '""') for (name,) in reading.run(_TABLES)]
        rows = [reading.run(f'SELECT count(*) FROM "{name}"')[0][0] for name in names]
    except SqlError as error:
        raise ConfigError(f"{file}: the rows of its tables cannot be counted: {error}") from None
    return f"{len(rows)} tables, {fmean(rows):,.1f} rows per table"
