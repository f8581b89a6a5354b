"""SQLCoder: a question about a database, turned into SQL by the model and run read-only; DBManual: what to know first.

Source: Liao et al. 2024, arXiv 2410.17657 (behaviour of the reference implementation, BlueZeros/ReflecTool
at e89ef65). Departures: the connection only reads and has limits; SQL is run as it is; current_time is
filled in whatever its case; own wording. The reference has a fixed manual for three databases, from which the model
writes hints; here the manual comes from the live schema and notes, and hints are an option.
"""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, NamedTuple

from annotated_types import Ge, Gt

from components.acting.arguments import text_argument
from components.core.errors import ToolError
from components.core.messages import ToolSpec
from components.core.tools import Context, Effect
from components.core.traits import PromptSetName, ToolTraits
from components.core.types import Observation
from components.files.attachments import SampleFiles
from components.prompts import load
from components.sql import SqlError, UnreadableDatabase
from components.sql.cleaning import CURRENT_TIMES, clean_sql, text_rows
from components.sql.reading import Database, ReadOnly, Row, Schema, database_of
from components.tools.backends import spec_of


def input_path(context: Context, name: str) -> Path:
    """The path of an input of the task. Raises ToolError when it has no such input, TypeError without files."""
    if not isinstance(context.state, SampleFiles):
        raise TypeError(f"this tool runs on SampleFiles, found {type(context.state).__name__}")
    return context.state.path(name)


def open_database(context: Context, name: str) -> Database:
    """The task's database of this name. Raises ToolError when there is none."""
    path = input_path(context, name)
    try:
        return database_of(path)
    except SqlError as error:
        raise ToolError(f"The input {name!r} is not a database: {error}.", "not_found") from None


def schema_of(database: Database) -> Schema:
    """The schema of a database. Raises ToolError when it cannot be read."""
    try:
        return database.schema()
    except SqlError as error:
        raise ToolError(f"{error}.", "unavailable") from None


_SHOWN_ROWS = 100
_STATEMENT = re.compile(r"\s*(```(sql\w*)?\s*)?(select|with|values)\b", re.I)
_NOW = re.compile(r"\bcurrent_time\b", re.I)  # else SQLite would take the machine's clock


class _Tried(NamedTuple):
    """A statement, and its rows or why it has none."""

    sql: str
    rows: Sequence[Row] = ()
    error: str = ""


@dataclass(frozen=True)
class SQLCoder:
    """Text-to-SQL with repair: the model sees schema, current time, question, and what failed before.

    Output: rows as ``components.sql.cleaning`` writes them; data: ``sql``, ``attempts`` (model calls), ``n_rows``. SQL
    as the query is run without a model; only when it fails is the model asked to repair it, which ``attempts: 0``
    forbids. ``seconds`` limit one statement. Raises ToolError: not_found, declined (text ``null``), conversion_failed,
    unavailable (a schema or database that cannot be read), bad_arguments.
    """

    prompts: PromptSetName = "sql_coder"
    attempts: Annotated[int, Ge(0)] = 5
    seconds: Annotated[float, Gt(0)] = 5.0
    spec: ClassVar[ToolSpec] = spec_of("SQLCoder")
    effect: ClassVar[Effect] = "pure"

    @property
    def traits(self) -> ToolTraits:
        """The limit of a call's statement."""
        return ToolTraits(timeout_seconds=self.seconds)

    async def __call__(self, context: Context, /, sql_database: Any = "", query: Any = "", **_: Any) -> Observation:
        question = text_argument(self.spec, "query", query)
        database = open_database(context, text_argument(self.spec, "sql_database", sql_database))
        tried = _Tried("", error="the query is no SQL statement, and no model was asked")
        if _STATEMENT.match(question):
            tried = await self._run(database, question)
        attempts = 0
        while tried.error and attempts < self.attempts:
            attempts += 1
            schema, now = schema_of(database).text, CURRENT_TIMES.get(database.id, "")
            message = load(self.prompts).user(
                "convert", schema=schema, now=now, question=question, failed=tried.sql, error=tried.error
            )
            reply = await context.ask([message], "tool")
            tried = await self._run(database, reply.text)
        data = {"sql": tried.sql, "attempts": attempts, "n_rows": len(tried.rows)}
        if tried.error:
            failed = f"The query could not be converted into SQL that runs, after {attempts} attempts"
            raise ToolError(f"{failed}; the last error: {tried.error}", "conversion_failed", data)
        return Observation(str(text_rows(tried.rows, _SHOWN_ROWS)), data)

    async def _run(self, database: Database, text: str) -> _Tried:
        """Run the statement in a text. Raises ToolError: declined when the text gives none, unavailable."""
        sql = text.strip()
        try:
            sql = clean_sql(_NOW.sub("current_time", text), database.id)
            if sql.strip("\"'.; ").casefold() == "null":
                raise ToolError("null", "declined")
            reader = ReadOnly(database.file, self.seconds)
            return _Tried(sql, await asyncio.to_thread(reader.run, sql))
        except UnreadableDatabase as error:
            raise ToolError(f"The database {database.id!r} cannot be read: {error}.", "unavailable") from None
        except SqlError as error:
            return _Tried(sql, error=str(error))
