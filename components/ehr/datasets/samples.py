"""Samples of questions about health records: the database asked, the gold answer, and what every loader puts in.

Gold answers of questions whose files hold SQL only are worked out on the user's database once, then kept.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from statistics import fmean

from components.core.errors import ConfigError
from components.core.types import Problem, Sample
from components.ehr.metadata import Metadata, metadata
from components.ehr.statements import MAX_VALUE, filled
from components.files.folders import content_key, keep_json
from components.files.rows import Row, files_digest
from components.sql import SqlError
from components.sql.complexity import level, n_columns, n_slots, tables_of
from components.sql.reading import ReadOnly, readable

UNANSWERABLE = "unanswerable"  # the stratum ``level`` of questions that no table answers
_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
_COUNTING = 120.0  # seconds for the rows of one table
_RULES = "1"  # goes up when the conventions change by which SQL is run, so that kept results are made again
_MAX_ROWS = 1_000_000  # more than agents may read at once: a right answer may need them
Rows = list[list[object]]


@dataclass(frozen=True)
class Source:
    """A database that questions are asked on: what is known of it, its file, how every problem describes it, and how
    large it is, in words."""

    metadata: Metadata
    file: Path
    context: str
    size: str


@dataclass(frozen=True)
class Complexity:
    """How hard an answer is to find. ``n_slots`` is None where no template is known."""

    n_tables: int
    n_columns: int
    n_slots: int | None


@dataclass(frozen=True)
class Gold:
    """The SQL of the right answer, its cells, and its complexity."""

    sql: str
    answer: Sequence[str]
    complexity: Complexity


def database_file(path: str | Path, how: str) -> Path:
    """Return the path of a SQLite file. Raises ConfigError, saying how to get it, when there is none."""
    file = Path(path).expanduser()
    if not file.is_file():
        raise ConfigError(f"no database {file}; {how}")
    return file


def describe(known: Metadata) -> str:
    """Describe a database in a problem: overview, tables with their columns, and the current time."""
    now = f"\n\nThe current time is {known.clock}." if known.clock is not None else ""
    return f"{known.overview}\n\nTables and their columns:\n{known.columns}{now}"


def open_source(database: str, file: Path) -> Source:
    """Read about the database in ``file``. Raises ConfigError for an unknown one and for a file that cannot be read."""
    known = metadata(database)
    place, stat = readable(file).resolve(), file.stat()
    return Source(known, place, describe(known), f"{database} ({_size(place, stat.st_mtime_ns, stat.st_size)})")


@lru_cache(maxsize=16)
def _size(file: Path, changed: int, n_bytes: int) -> str:
    """How many tables a file has and how many rows they have on average (Table 3 of the article); counted once for the
    file as it is. Raises ConfigError."""
    reading = ReadOnly(file, seconds=_COUNTING)
    try:
        names = [str(name).replace('"', '""') for (name,) in reading.run(_TABLES)]
        rows = [reading.run(f'SELECT count(*) FROM "{name}"')[0][0] for name in names]
    except SqlError as error:
        raise ConfigError(f"{file}: the rows of its tables cannot be counted: {error}") from None
    return f"{len(rows)} tables, {fmean(rows):,.1f} rows per table"


def make_gold(row: Row, key: str, sql: str, answer: Sequence[str], tag: str | None, joins: bool) -> Gold:
    """Make the gold answer with the complexity of its SQL, ``row[key]``.

    ``tag`` is the template with its slots; ``joins``: tables after ``join`` count too, as in the project's own data,
    else only those after a lower-case ``from``, as in the published levels. Raises ConfigError when there are none.
    """
    tables = tables_of(sql, joins=joins)
    if not tables:
        hint = "" if joins else " (dataset.count_joins=true counts those in capitals too)"
        raise row.error(key, f"names no table after 'from', so the question has no level{hint}: {sql!r:.200}")
    return Gold(sql, answer, Complexity(len(tables), n_columns(sql), None if tag is None else n_slots(tag)))


def gold_rows(asked: Sequence[tuple[Row, str]], key: str, source: Source, *, cache: str, seconds: float) -> list[Rows]:
    """Run each statement, or take what is kept in ``cache`` by the content of statements and database.

    ``key`` is where a question's row has its SQL; ``seconds`` limits one statement. Raises ConfigError when one fails.
    """
    clock = source.metadata.clock
    name = content_key(_RULES, clock or "", files_digest(source.file), *(sql for _, sql in asked))

    def run_all() -> list[Rows]:
        reader = ReadOnly(source.file, seconds, max_rows=_MAX_ROWS, max_value=MAX_VALUE)
        return [_run(row, key, filled(sql, clock), reader) for row, sql in asked]

    return keep_json(Path(cache), name, run_all)


def _run(row: Row, key: str, sql: str, reader: ReadOnly) -> Rows:
    """The rows of one statement. Raises ConfigError."""
    try:
        found = [list(cells) for cells in reader.run(sql)]
    except SqlError as error:
        raise row.error(key, f"the gold SQL fails on {reader.path}: {error}") from None
    if any(isinstance(cell, bytes) for cells in found for cell in cells):
        raise row.error(key, f"the gold SQL gives bytes on {reader.path}; an answer must be text or numbers")
    return found


def ehr_sample(
    source: Source,
    name: str,
    question: str,
    gold: Gold | None,
    *,
    template: str | None = None,
    paraphrase: str | None = None,
    metadata: Mapping[str, object] | None = None,
    strata: Mapping[str, str] | None = None,
    cluster: str | None = None,
    may_abstain: bool = False,
) -> Sample:
    """Make a question on a database; ``may_abstain``: the agent knows that some cannot be answered.

    Its target's answer is a list of texts; None where no table answers (``gold`` None). The level is the number of
    tables of the gold SQL as a Roman number, or ``unanswerable``; it and the counts that are known are strata too,
    for tables of success against complexity. Gold is in target and metadata only.
    """
    database = source.metadata.database
    counts = {"n_tables": None, "n_columns": None, "n_slots": None} if gold is None else asdict(gold.complexity)
    facts = {
        "sql": None if gold is None else gold.sql,
        "sql_dialect": database,
        "template": template,
        "paraphrase": paraphrase,
        "answerable": gold is not None,
        "may_abstain": may_abstain,
        **counts,
    }
    levels = {
        "database": database,
        "level": UNANSWERABLE if gold is None else level(gold.complexity.n_tables),
        **{count: str(value) for count, value in counts.items() if value is not None},
    }
    return Sample(
        Problem(name, question, context=source.context),
        target={"answer": None if gold is None else list(gold.answer)},
        metadata={**facts, **(metadata or {})},
        cluster=cluster,
        strata={**levels, **(strata or {})},
        card={
            "database (size), samples of each": source.size,
            **({} if gold is None else {"tables per question": gold.complexity.n_tables}),
        },
        files={"database": str(source.file)},
    )
