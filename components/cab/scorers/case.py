"""An answer of ClinicalAgent Bench with what is needed to score it, and a reading of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from components.cab.tasks import Form
from components.sql import SqlError
from components.sql.cleaning import clean_sql, text_rows
from components.sql.reading import Database, ReadOnly, database_of


class Unscored(Exception):
    """The answer cannot be scored, and the model is not at fault; the text gives the reason."""


@dataclass(frozen=True)
class Reading:
    """A score in [0, 1], what was read in the answer and what was right."""

    value: float
    read: object
    right: object

    @property
    def explanation(self) -> str:
        """Both in one line, cut at 300 characters each."""
        return f"read {str(self.read)[:300]!r}, right is {str(self.right)[:300]!r}"


@dataclass(frozen=True)
class Executed:
    """The result of a statement: rows of texts (numbers to 3 decimals, sorted, at most 100), or an error."""

    rows: list[list[str]] = field(default_factory=list)
    error: str = ""


@dataclass(frozen=True)
class Case:
    """An answer and its key. ``dialect`` is the dataset id of the database, ``seconds`` limit a statement."""

    answer: str
    target: Any
    choices: Mapping[str, str] = field(default_factory=dict)
    database: Path | None = None
    dialect: str = ""
    seconds: float = 5.0
    form: Form = "choice"

    @cached_property
    def opened(self) -> Database:
        """The database that is there. Raises Unscored."""
        if self.database is None:
            raise Unscored("the answer is SQL, and the sample has no database to run it on")
        try:
            return database_of(self.database)
        except SqlError as error:
            raise Unscored(str(error)) from None

    @cached_property
    def executed(self) -> Executed:
        """What the answer gives when it is run as SQL, cleaned, read-only; once. Raises Unscored without a database."""
        database = self.opened
        try:
            sql = clean_sql(self.answer, self.dialect or database.id)
            return Executed(text_rows(ReadOnly(database.file, self.seconds).run(sql)))
        except SqlError as error:
            return Executed(error=str(error))

    def value(self, key: str) -> Any:
        """A value of the answer key. Raises Unscored."""
        if not isinstance(self.target, Mapping) or key not in self.target:
            raise Unscored(f"the answer key has no {key!r}: {self.target!r:.120}")
        return self.target[key]
