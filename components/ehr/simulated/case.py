"""A question on health records as a prompt asks it, and how often what is written for it is right, or repaired.

Everything is done with ``competence`` to the power of the facts it takes: few where the prompt knows the tables that
the question needs and shows a solved question about the same tables and columns; few where a cause says what is wrong,
many where a failure hardly says it. Take a text out of the prompt, and its effect is gone. The constants are made up.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from components.core.errors import ConfigError
from components.core.messages import Message
from components.core.types import Sample
from components.ehr.metadata import metadata
from components.ehr.simulated.mistakes import Fault, wrong
from components.ehr.simulated.prompt import Prompt, words_of
from components.simulation.asked import Asked, Knowledge
from components.simulation.draws import Draws, Rates
from components.sql.complexity import tables_of

BY_HEART = 12.0  # facts that an answer takes without looking
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


def gold_of(sample: Sample) -> Gold | None:
    """The key's part of a question on health records; None of any other sample."""
    if "task" in sample.metadata or "sql_dialect" not in sample.metadata or not isinstance(sample.target, Mapping):
        return None
    if not isinstance(sample.target.get("answer"), list | None):
        return None
    sql, database = " ".join(str(sample.metadata.get("sql") or "").split()), str(sample.metadata.get("sql_dialect"))
    return Gold(sample, sql, database, *_names(sql, database))


@lru_cache(maxsize=4096)
def _names(sql: str, database: str) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """The tables and columns of a statement, and all columns of its tables; of an unknown one those behind dots."""
    if not sql:
        return frozenset(), frozenset(), frozenset()
    tables, plain = frozenset(tables_of(sql)), _TEXT.sub("''", sql)
    schema = _schema(database, tables)
    if not schema:
        made = {one.lower() for one in _ALIAS.findall(plain)}
        columns = frozenset(one.lower() for one in _COLUMN.findall(plain)) - made
        return tables, columns, columns
    known = frozenset(one.lower() for columns in schema.values() for one in columns)
    dotted = {one.lower() for one in _COLUMN.findall(plain)}
    return tables, known & (dotted | words_of(plain) - tables), known


def _schema(database: str, tables: frozenset[str]) -> Mapping[str, Sequence[str]]:
    try:
        listed = metadata(database).tables
    except ConfigError:
        return {}
    return {table: tuple(columns) for table, columns in listed.items() if table.lower() in tables}


FACTS, FACTS_TABLE = 2.0, 0.6  # that a cell takes, and more for each table after the first
UNKNOWN, UNLIKE = 4.0, 6.0  # more where no knowledge names the tables, where no solved question is about the same
UNSEEN = 6.0  # more where its tables and columns are nowhere in the prompt
NO_CODE, OPEN = 5.0, 3.0  # more without code, and without seeing what comes of it
CAUSE, NAMED, BARE, RAW = 0.6, 8.5, 10.0, 13.0  # repairs: a cause says what is meant; the error does; or not; a trace
BY_HAND = 3.0  # more without code
REPAIRS_UNKNOWN, REPAIRS_UNLIKE = 2.2, 2.2  # more without knowledge and a solved question
SILENT = 0.2  # of what is wrong runs all the same
GIVES_WAY = 0.5  # of failures that are not repaired, one becomes something that runs and is wrong
RECALLS = 0.5  # that knowledge, notes and causes take
LOOKS_OVER = 6.0  # that it takes to see a turned comparison, or a name that is not listed, in what is looked over
TRACE = "Traceback"


@dataclass(frozen=True)
class Case:
    """What is asked, the answer key's part, and what the prompt says."""

    asked: Asked
    gold: Gold
    prompt: Prompt

    @property
    def draws(self) -> Draws:
        """Of this request."""
        return self.asked.draws

    def happens(self, what: str, facts: float = 1.0, whole: bool = False) -> bool:
        """True as often as this many facts are known."""
        return self.draws.happens(what, float(self.asked.rates.competence**facts), whole)

    def _unprepared(self, unknown: float, unlike: float) -> float:
        """More facts where the knowledge does not name all tables, and where no solved question is about all names."""
        tables, names = self.gold.tables, self.gold.tables | self.gold.columns
        is_known = bool(tables) and tables <= words_of(self.prompt.known)
        is_alike = bool(names) and any(names <= words_of(one) for one in self.prompt.solved)
        return unknown * (not is_known) + unlike * (not is_alike)

    def facts(self, more: float = 0.0) -> float:
        """How many facts writing takes; ``more`` for the way it is written."""
        facts = FACTS + FACTS_TABLE * max(0, len(self.gold.tables) - 1) + more + self._unprepared(UNKNOWN, UNLIKE)
        return facts + UNSEEN * (not self.gold.tables | self.gold.columns <= words_of(self.prompt.text))

    def facts_to_mend(self, fault: Fault | None, failed: str, more: float = 0.0) -> float:
        """How many facts a repair takes, by what is reported of the failure and the fault that it shows."""
        source = "" if fault is None else fault.source
        facts = CAUSE if source == "cause" else RAW if failed.startswith(TRACE) else NAMED if source else BARE
        return facts + self._unprepared(REPAIRS_UNKNOWN, REPAIRS_UNLIKE) + more

    def wrong(self, text: str, silent: float = SILENT) -> str:
        """The text with a slip; at the rate ``silent`` one that runs all the same."""
        return wrong(text, self.gold.may_misspell, silent, self.draws)

    def sees_the_gap(self) -> bool:
        """Whether a question that no table answers is refused."""
        gap = not self.gold.sql and self.prompt.grounds is not None
        return gap and self.happens("sees the gap", whole=True)

    def end(self, answer: str) -> Message:
        """The final answer, in the voice that is asked for."""
        return self.prompt.end(self.asked.voice.worded(answer, self.draws))
