"""The manual of a database: its tables that a question needs, described in words."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated, Any, ClassVar

from annotated_types import Ge

from components.acting.arguments import text_argument
from components.core.errors import ToolError
from components.core.messages import ToolSpec
from components.core.tools import Context, Effect
from components.core.traits import PromptSetName
from components.core.types import Observation
from components.prompts import load
from components.sql.cleaning import CURRENT_TIMES
from components.sql.reading import Schema, Table
from components.text.bm25 import Bm25
from components.text.structured import read_yaml
from components.tools.backends import DATA, spec_of
from components.tools.sql_coder import open_database, schema_of

_SENTENCE = re.compile(r"(?<=\.) ")

SHIPPED = DATA / "manuals"


@dataclass(frozen=True)
class Notes:
    """Notes on a database besides its schema: lines on all of it, table -> line, and worked examples (``question``,
    ``hints``)."""

    general: Sequence[str] = ()
    tables: Mapping[str, str] = field(default_factory=dict)
    examples: Sequence[Mapping[str, str]] = ()

    def on(self, table: Table) -> str:
        """The line on a table; empty without one."""
        return self.tables.get(table.name.lower(), "")


@lru_cache(maxsize=4)
def notes_of(id: str) -> Notes:
    """The shipped notes on a database; empty ones for any other database."""
    path = SHIPPED / f"{id}.yaml"
    return Notes(**read_yaml(path)) if path.is_file() else Notes()


def fitting_tables(schema: Schema, notes: Notes, query: str, k: int) -> list[Table]:
    """The at most ``k`` tables that fit a query best, best first, by their names, columns and notes."""
    texts = []
    for table in schema.tables:
        names = " ".join((table.name, *table.columns))
        texts.append((table.name, f"{names} {names.replace('_', ' ')} {notes.on(table)}"))
    tables = {table.name: table for table in schema.tables}
    return [tables[hit.id] for hit in Bm25.over(texts).search(query, k)]


def describe_table(table: Table, notes: Notes) -> str:
    """One line on a table, its names in lower case: columns with their types, and its note."""
    columns = ", ".join(
        f"{name} {kind}{' key' if name in table.primary_key else ''}" for name, kind in table.columns.items()
    )
    return ": ".join(filter(None, (f"{table.name}({columns})".lower(), notes.on(table))))


def summarise_table(table: Table, notes: Notes) -> str:
    """The table's name in lower case, and the first sentence of its note."""
    return ": ".join(filter(None, (table.name.lower(), _SENTENCE.split(notes.on(table), maxsplit=1)[0])))


_NEXT = re.compile(r"^\W*question\b\W*:", re.I | re.M)

_LABEL = re.compile(r"\A\W*hints\b\W*:\s*", re.I)


@dataclass(frozen=True)
class DBManual:
    """The part of a database's manual that fits a query: at most ``n_tables`` tables by BM25, and the general notes.

    ``hints``: the model (role ``tool``) is given that part with worked examples and writes hints, which are returned in
    its place. Any other database than mimic_iii, mimic_iv and eicu has a manual from its schema alone. Output: text;
    data: ``database``, ``tables``. Raises ToolError: not_found, unavailable (a schema that cannot be read), empty (no
    hints), bad_arguments.
    """

    prompts: PromptSetName = "db_manual"
    n_tables: Annotated[int, Ge(1)] = 5
    hints: bool = False
    spec: ClassVar[ToolSpec] = spec_of("DBManual")
    effect: ClassVar[Effect] = "pure"

    async def __call__(self, context: Context, /, sql_database: Any = "", query: Any = "", **_: Any) -> Observation:
        question = text_argument(self.spec, "query", query)
        database = open_database(context, text_argument(self.spec, "sql_database", sql_database))
        schema, notes = schema_of(database), notes_of(database.id)
        chosen = fitting_tables(schema, notes, question, self.n_tables) or list(schema.tables)
        names = [table.name.lower() for table in chosen]
        keys = [(one.lower(), other.lower()) for one, other in schema.foreign_keys]
        prompts = load(self.prompts)
        text = prompts.render(
            "manual",
            database=database.id,
            now=CURRENT_TIMES.get(database.id, ""),
            general=list(notes.general),
            tables=[describe_table(table, notes) for table in chosen],
            joins=[" = ".join(key) for key in keys if any(end.partition(".")[0] in names for end in key)],
            others=[summarise_table(table, notes) for table in schema.tables if table not in chosen],
        )
        if self.hints:
            message = prompts.user("hints", manual=text, examples=list(notes.examples), question=question)
            reply = (await context.ask([message], "tool")).text
            text = _NEXT.split(_LABEL.sub("", reply))[0].strip()  # the next question is made up
        if not text:
            raise ToolError("The model wrote no hints for this query.", "empty")
        return Observation(text, {"database": database.id, "tables": names})
