"""Reading a gold statement as loading, filtering and reading of tables, where it is simple enough for that.

Read are statements over one table whose conditions are comparisons, ranges, missing values, years, spans before now and
nested statements of the same kind, inner joins that only narrow the rows, and first or last rows. Everything else is
left to SQL.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from components.core.errors import ConfigError
from components.ehr.metadata import metadata
from components.ehr.simulated.sql_words import Unreadable, Words

Take = Literal["values", "distinct", "count", "distinct count", "any", "sum", "mean", "min", "max"]
_FUNCTIONS: Mapping[str, Take] = {"sum": "sum", "avg": "mean", "min": "min", "max": "max"}
_TOLERANT = ("distinct", "distinct count", "min", "max")  # rows that a join repeats change nothing


@dataclass(frozen=True)
class Ago:
    """A time before now, such as -2 month."""

    duration: str


@dataclass(frozen=True)
class Where:
    """A condition. ``value``: a text as FilterDB takes it, the values of a nested statement, or a time before now."""

    column: str
    sign: str
    value: str | Query | Ago


@dataclass(frozen=True)
class Query:
    """A table, the conditions on it in their order, then the first or last row of a column, and what is read."""

    table: str
    where: tuple[Where, ...]
    take: Take
    column: str
    extreme: str = ""


@lru_cache(maxsize=4096)
def translated(sql: str, database: str) -> Query | None:
    """The statement with names as the tables of this database have them; None where it is not simple."""
    try:
        reader = _Reader(Words.of(sql), metadata(database).tables)
        query = reader.query()
        reader.words.expect("")
    except (Unreadable, ConfigError):
        return None
    return query


@dataclass
class _Scope:
    """What stands in a FROM: names and aliases of tables, the first of which is read; ``narrows``: the others."""

    aliases: dict[str, str] = field(default_factory=dict)
    base: str = ""
    narrows: list[tuple[str, str, str]] = field(default_factory=list)


@dataclass
class _Reader:
    """Reads tokens from left to right. All raise Unreadable."""

    words: Words
    tables: Mapping[str, Mapping[str, object]]

    def query(self) -> Query:
        """A statement."""
        self.words.expect("select")
        distinct = self.words.accept("distinct")
        take, written = self.selected(distinct)
        self.words.expect("from")
        scope = self.sources()
        found: dict[str, list[Where]] = {name: [] for name in scope.aliases.values()}
        if self.words.accept("where"):
            self.condition(scope, found)
            while self.words.accept("and"):
                self.condition(scope, found)
        extreme = self.ordered(scope, take)
        base = scope.base
        column = next(iter(self.tables[base])) if written == "*" else self.column(written, scope, base)
        if scope.narrows and (take not in _TOLERANT or extreme):
            raise Unreadable
        joined = [
            Where(own, "in", Query(table, tuple(found[table]), "values", other)) for own, table, other in scope.narrows
        ]
        return Query(base, (*found[base], *joined), take, column, extreme)

    def selected(self, distinct: bool) -> tuple[Take, str]:
        """What is read, and the column as it is written."""
        first = self.words.next()
        name = first.lower()
        if name == "count":
            self.words.expect("(")
            inner = self.words.accept("distinct")
            column = self.words.next()
            self.words.expect(")")
            if self.words.accept(">"):
                self.words.expect("0")
                return "any", column
            if inner:
                return "distinct count", column
            return ("count", column) if column == "*" else self.words.fail()
        if name in _FUNCTIONS and self.words.accept("("):
            column = self.words.next()
            self.words.expect(")")
            return _FUNCTIONS[name], column
        return ("distinct" if distinct else "values"), first

    def sources(self) -> _Scope:
        """FROM, with inner joins on one pair of columns each."""
        scope = _Scope()
        scope.base = self.source(scope)
        while self.words.accept("inner"):
            self.words.expect("join")
            table = self.source(scope)
            self.words.expect("on")
            left = self.words.next()
            self.words.expect("=")
            right = self.words.next()
            own, other = (left, right) if self.table_of(left, scope) == scope.base else (right, left)
            scope.narrows.append((self.column(own, scope, scope.base), table, self.column(other, scope, table)))
        return scope

    def source(self, scope: _Scope) -> str:
        """A table, perhaps under another name; the same one twice is not simple."""
        written = self.words.next()
        table = next((name for name in self.tables if name.lower() == written.lower()), None) or self.words.fail()
        if table in scope.aliases.values():
            raise Unreadable
        scope.aliases[(self.words.next() if self.words.accept("as") else written).lower()] = table
        return table

    def condition(self, scope: _Scope, found: dict[str, list[Where]]) -> None:
        """One condition, put to the others of its table."""
        name = self.words.next()
        function = name.lower() if self.words.peek() == "(" else ""
        if function:
            name = self.inside(function)
        table = self.table_of(name, scope)
        column = self.column(name, scope, table)
        if function == "strftime":
            self.words.expect("=")
            year = int(self.words.literal())
            found[table] += [Where(column, ">=", f"{year}-01-01"), Where(column, "<", f"{year + 1}-01-01")]
        elif function:
            sign = self.words.sign()
            self.words.expect("datetime")
            self.words.expect("(")
            self.words.expect("current_time")
            self.words.expect(",")
            found[table].append(Where(column, sign, Ago(self.words.literal())))
            self.words.expect(")")
        else:
            found[table] += self.compared(column)

    def inside(self, function: str) -> str:
        """The column in a function of time."""
        self.words.expect("(")
        if function == "strftime":
            if self.words.literal() != "%Y":
                raise Unreadable
            self.words.expect(",")
        elif function != "datetime":
            raise Unreadable
        column = self.words.next()
        self.words.expect(")")
        return column

    def compared(self, column: str) -> list[Where]:
        """What follows a column."""
        if self.words.accept("is"):
            sign = "!=" if self.words.accept("not") else "="
            self.words.expect("null")
            return [Where(column, sign, "null")]
        if self.words.accept("between"):
            low = self.words.literal()
            self.words.expect("and")
            return [Where(column, ">=", low), Where(column, "<=", self.words.literal())]
        listed = self.words.accept("in")
        sign = "in" if listed else self.words.sign()
        if self.words.accept("("):
            inner = self.query()
            self.words.expect(")")
            if sign not in ("in", "=") or inner.take not in ("values", "min", "max"):
                raise Unreadable
            return [Where(column, "in", inner)]
        if listed:
            raise Unreadable
        return [Where(column, sign, self.words.literal())]

    def ordered(self, scope: _Scope, take: Take) -> str:
        """The first or last row: min(COLUMN) or max(COLUMN), as FilterDB takes it; empty where all rows are meant."""
        if not self.words.accept("order"):
            return ""
        self.words.expect("by")
        column = self.column(self.words.next(), scope, scope.base)
        which = "max" if self.words.accept("desc") else "min"
        self.words.accept("asc")
        self.words.expect("limit")
        self.words.expect("1")
        return f"{which}({column})" if take == "values" else self.words.fail()

    def column(self, written: str, scope: _Scope, table: str) -> str:
        """A column's name as its table has it."""
        if self.table_of(written, scope) != table:
            raise Unreadable
        name = written.rpartition(".")[2].lower()
        return next((one for one in self.tables[table] if one.lower() == name), None) or self.words.fail()

    def table_of(self, written: str, scope: _Scope) -> str:
        """The table of a column; of one without a table the first."""
        alias = written.rpartition(".")[0].lower()
        return (scope.aliases.get(alias) or self.words.fail()) if alias else scope.base
