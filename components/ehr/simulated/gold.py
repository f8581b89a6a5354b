"""What the answer key holds on a question over health records: its statement, what that reads, and the answer."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from components.core.errors import ConfigError
from components.core.types import Sample
from components.ehr.metadata import metadata
from components.simulation.asked import Knowledge
from components.simulation.draws import Draws, Rates
from components.sql.complexity import tables_of

BY_HEART = 12.0  # facts that an answer takes without looking
_WORD = re.compile(r"\w+")
_TEXT = re.compile(r"'(?:[^']|'')*'")
_COLUMN = re.compile(r"\b[A-Za-z]\w*\.\"?([A-Za-z]\w*)")
_ALIAS = re.compile(r"\bas +\"?(\w+)", re.IGNORECASE)


@dataclass(frozen=True)
class Gold(Knowledge):
    """``sql`` is empty where no table answers. ``tables`` and ``columns``: those that it reads, in lower case, without
    names that it makes itself; ``may_misspell``: all columns of those tables."""

    sql: str
    database: str
    tables: frozenset[str]
    columns: frozenset[str]
    may_misspell: frozenset[str]

    @property
    def question(self) -> str:
        """The question's text."""
        return self.sample.problem.question

    @cached_property
    def names(self) -> frozenset[str]:
        """Tables and columns."""
        return self.tables | self.columns

    @cached_property
    def spelt(self) -> Mapping[str, Sequence[str]]:
        """Its tables with those of its columns that they have, spelt as the tables have them."""
        return {
            table: [one for one in columns if one.lower() in self.columns]
            for table, columns in _schema(self.database, self.tables).items()
        }

    def by_heart(self, rates: Rates) -> float:
        """How often an answer is right for which nothing was looked up."""
        return float(rates.competence**BY_HEART) if self.sql else rates.competence

    def opinion(self, known: bool, draws: Draws, besides: str = "") -> str:
        """The key's answer, or a guess."""
        if not self.sql:
            return "no result" if known else "1"
        answer = [*map(str, self.sample.target.get("answer") or ())]
        return str(answer) if known else str(draws.pick("guess", range(1, 41)))

    def is_right(self, opinion: str) -> bool:
        """Whether an opinion is the key's answer."""
        return opinion.split() == self.opinion(True, Draws(0, ())).split()


def is_records(sample: Sample) -> bool:
    """Whether the answer key's sample is a question on health records."""
    if "task" in sample.metadata or "sql_dialect" not in sample.metadata:
        return False
    return isinstance(sample.target, Mapping) and isinstance(sample.target.get("answer"), list | None)


def gold_of(sample: Sample) -> Gold:
    """The key's part of a sample."""
    sql, database = " ".join(str(sample.metadata.get("sql") or "").split()), str(sample.metadata.get("sql_dialect"))
    return Gold(sample, sql, database, *_names(sql, database))


@lru_cache(maxsize=4096)
def _names(sql: str, database: str) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """The tables and columns of a statement, and all columns of its tables; of an unknown database what is written
    behind a dot and is not made by the statement."""
    if not sql:
        return frozenset(), frozenset(), frozenset()
    tables, plain = frozenset(tables_of(sql)), _TEXT.sub("''", sql)
    schema = _schema(database, tables)
    if not schema:
        made = {one.lower() for one in _ALIAS.findall(plain)}
        columns = frozenset(one.lower() for one in _COLUMN.findall(plain)) - made
        return tables, columns, columns
    held = frozenset(one.lower() for columns in schema.values() for one in columns)
    dotted = {one.lower() for one in _COLUMN.findall(plain)}
    return tables, held & (dotted | {one.lower() for one in _WORD.findall(plain)} - tables), held


def _schema(database: str, tables: frozenset[str]) -> Mapping[str, Sequence[str]]:
    """These tables of a database with their columns; none of an unknown one."""
    try:
        held = metadata(database).tables
    except ConfigError:
        return {}
    return {table: tuple(columns) for table, columns in held.items() if table.lower() in tables}
