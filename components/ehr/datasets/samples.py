"""Samples of questions about health records: what all loaders put into them, whatever layout they read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from statistics import fmean

from components.core.errors import ConfigError
from components.core.types import Problem, Sample
from components.ehr.metadata import Metadata, metadata
from components.files.rows import Row
from components.sql import SqlError
from components.sql.complexity import level, n_columns, n_slots, tables_of
from components.sql.reading import ReadOnly, readable

UNANSWERABLE = "unanswerable"  # the stratum ``level`` of questions that no table answers
_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
_COUNTING = 120.0  # seconds for the rows of one table
_COUNTS = ("n_tables", "n_columns", "n_slots")


@dataclass(frozen=True)
class Source:
    """A database that questions are asked on: what is known of it, its file, what every problem says of it, and how
    large it is, in words."""

    metadata: Metadata
    file: Path
    context: str
    size: str


@dataclass(frozen=True)
class Gold:
    """What the right answer is and how hard it is to find. ``n_slots`` is None where no template tells."""

    sql: str
    answer: Sequence[str]
    n_tables: int
    n_columns: int
    n_slots: int | None


def context(known: Metadata) -> str:
    """What a problem says of its database: overview, tables with their columns, and the time that is now."""
    now = f"\n\nThe current time is {known.clock}." if known.clock is not None else ""
    return f"{known.overview}\n\nTables and their columns:\n{known.columns}{now}"


def source(database: str, file: Path) -> Source:
    """The database in ``file``. Raises ConfigError for an unknown one and for a file that cannot be read."""
    known = metadata(database)
    place, stat = readable(file).resolve(), file.stat()
    return Source(known, place, context(known), f"{database} ({_size(place, stat.st_mtime_ns, stat.st_size)})")


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


def gold(row: Row, key: str, sql: str, answer: Sequence[str], tag: str | None, joins: bool) -> Gold:
    """The gold answer with the complexity of its SQL, ``row[key]``.

    ``tag`` is the template with its slots; ``joins``: tables after ``join`` count too, as in the project's own data,
    else only those after a lower-case ``from``, as in the published levels. Raises ConfigError when there are none.
    """
    tables = tables_of(sql, joins=joins)
    if not tables:
        hint = "" if joins else " (dataset.count_joins=true counts those in capitals too)"
        raise row.error(key, f"names no table after 'from', so the question has no level{hint}: {sql!r:.200}")
    return Gold(sql, answer, len(tables), n_columns(sql), None if tag is None else n_slots(tag))


def ehr_sample(
    asked_of: Source,
    name: str,
    question: str,
    found: Gold | None,
    *,
    template: str | None = None,
    paraphrase: str | None = None,
    metadata: Mapping[str, object] | None = None,
    strata: Mapping[str, str] | None = None,
    cluster: str | None = None,
    may_abstain: bool = False,
) -> Sample:
    """A question on a database; ``may_abstain``: the agent is told that some cannot be answered.

    Its target's answer is a list of texts; None where no table answers (``found`` None).

    The level is the number of tables of the gold SQL as a Roman number, or ``unanswerable``; it and the counts that
    are known are strata too, for tables of success against complexity. Gold stands in target and metadata only.
    """
    counts = {} if found is None else {name: getattr(found, name) for name in _COUNTS}
    facts = {
        "sql": None if found is None else found.sql,
        "sql_dialect": asked_of.metadata.database,
        "template": template,
        "paraphrase": paraphrase,
        "answerable": found is not None,
        "may_abstain": may_abstain,
        **dict.fromkeys(_COUNTS),
        **counts,
    }
    levels = {
        "database": asked_of.metadata.database,
        "level": UNANSWERABLE if found is None else level(found.n_tables),
        **{name: str(count) for name, count in counts.items() if count is not None},
    }
    return Sample(
        Problem(name, question, context=asked_of.context),
        target={"answer": None if found is None else list(found.answer)},
        metadata={**facts, **(metadata or {})},
        cluster=cluster,
        strata={**levels, **(strata or {})},
        card={
            "database (size), samples of each": asked_of.size,
            **({} if found is None else {"tables per question": found.n_tables}),
        },
        files={"database": str(asked_of.file)},
    )
