"""Reads a gold statement as loading, filtering and reading of tables, where it is simple enough; else it stays SQL.

Read are statements over one table with comparisons, ranges, missing values, years, spans before now and nested
statements of the same kind, inner joins that only narrow the rows, and first or last rows.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from components.core.errors import ConfigError
from components.ehr.metadata import metadata

_NAME, _SIGN, _LITERAL = r"(\w+\.\w+|\w+)", r"(=|!=|<=?|>=?)", r"('(?:[^']|'')*'|-?\d+(?:\.\d+)?)"
_STATEMENT = re.compile(
    r"select (?P<distinct>distinct )?(?:(?P<function>count|sum|avg|min|max) ?\( ?(?P<each>distinct )?)?"
    r"(?P<column>[\w.]+|\*) ?(?(function)\)|)(?P<any> ?> ?0)? from (?P<table>\w+)(?: as (?P<alias>\w+))?"
    r"(?P<joins>(?: inner join \w+(?: as \w+)? on [\w.]+ ?= ?[\w.]+)*)(?: where (?P<where>.*?))?"
    r"(?: order by (?P<order>[\w.]+)(?P<last> desc| asc)? limit 1)?",
    re.IGNORECASE,
)
_JOIN = re.compile(r"inner join (\w+)(?: as (\w+))? on ([\w.]+) ?= ?([\w.]+)", re.IGNORECASE)
_TOKEN = re.compile(r"'(?:[^']|'')*'|[()]|\bbetween\b|\band\b|[^'()\w]+|\w+", re.IGNORECASE)
_COMPARED = re.compile(rf"{_NAME} ?{_SIGN} ?{_LITERAL}")
_MISSING = re.compile(rf"{_NAME} is (not )?null", re.IGNORECASE)
_RANGE = re.compile(rf"{_NAME} between {_LITERAL} and {_LITERAL}", re.IGNORECASE)
_YEAR = re.compile(rf"strftime ?\( ?'%Y' ?, ?{_NAME} ?\) ?= ?'(\d+)'", re.IGNORECASE)
_AGO = re.compile(
    rf"datetime ?\( ?{_NAME} ?\) ?{_SIGN} ?datetime ?\( ?current_time ?, ?'([^']*)' ?\)", re.IGNORECASE
)  # fmt: skip
_NESTED = re.compile(rf"{_NAME} (?:in|=) ?\( ?(select .*?) ?\)", re.IGNORECASE)
_TAKES = {"sum": "sum", "avg": "mean", "count any": "any", "count each": "distinct count"} | {
    name: name for name in ("min", "max", "count")
}
_TOLERANT = ("distinct", "distinct count", "min", "max")  # rows that a join repeats change nothing


class Unreadable(Exception):
    """The statement is not of a simple kind."""


@dataclass(frozen=True)
class Ago:
    """A time before now, such as -2 month."""

    duration: str


@dataclass(frozen=True)
class Where:
    """A condition. ``value``: a text as FilterDB takes it, the values of a nested statement, or a time before now."""

    column: str
    sign: str
    value: "str | Query | Ago"


@dataclass(frozen=True)
class Query:
    """A table, the conditions on it in their order, then the first or last row of a column, and what is read: values,
    distinct, count, distinct count, any, sum, mean, min or max."""

    table: str
    where: tuple[Where, ...]
    take: str
    column: str
    extreme: str = ""


@lru_cache(maxsize=4096)
def translate(sql: str, database: str) -> Query | None:
    """The statement with names as the tables of this database have them; None where it is not simple."""
    try:
        return _query(sql.strip(), metadata(database).tables)
    except (Unreadable, ConfigError):
        return None


class _Scope:
    """The tables of a FROM by their names there; the first is read."""

    def __init__(self, found: re.Match[str], tables: Mapping[str, Mapping[str, object]]) -> None:
        self.tables = tables
        self.joins: Sequence[tuple[str, str, str, str]] = _JOIN.findall(found["joins"])
        sources = [(found["table"], found["alias"]), *((table, alias) for table, alias, *_ in self.joins)]
        self.aliases = {(alias or table).lower(): _spelt(table, tables) for table, alias in sources}
        if len(set(self.aliases.values())) < len(sources):
            raise Unreadable
        self.base = next(iter(self.aliases.values()))

    def place(self, written: str) -> tuple[str, str]:
        """Table and column; a column without a table is the first one's."""
        alias, _, column = written.rpartition(".")
        if alias and alias.lower() not in self.aliases:
            raise Unreadable
        table = self.aliases[alias.lower()] if alias else self.base
        return table, _spelt(column, self.tables[table])


def _query(sql: str, tables: Mapping[str, Mapping[str, object]]) -> Query:
    """A statement. Raises Unreadable."""
    if (found := _STATEMENT.fullmatch(sql)) is None:
        raise Unreadable
    scope, take = _Scope(found, tables), _take(found)
    where: dict[str, list[Where]] = {table: [] for table in scope.aliases.values()}
    for condition in _conditions(found["where"] or ""):
        for table, one in _where(condition, scope):
            where[table].append(one)
    extreme = _extreme(found, scope, take)
    table, column = (
        scope.place(found["column"]) if found["column"] != "*" else (scope.base, next(iter(tables[scope.base])))
    )
    if table != scope.base or (scope.joins and (take not in _TOLERANT or extreme)):
        raise Unreadable
    narrowed = [_narrowed(left, right, where, scope) for _, _, left, right in scope.joins]
    return Query(table, (*where[table], *narrowed), take, column, extreme)


def _take(found: re.Match[str]) -> str:
    """What is read."""
    key = " ".join(filter(None, ((found["function"] or "").lower(), found["any"] and "any", found["each"] and "each")))
    if not key:
        return "distinct" if found["distinct"] else "values"
    if key not in _TAKES or (key == "count" and found["column"] != "*"):
        raise Unreadable
    return _TAKES[key]


def _extreme(found: re.Match[str], scope: _Scope, take: str) -> str:
    """The first or last row, as FilterDB takes it; empty where all rows are meant."""
    if not found["order"]:
        return ""
    table, column = scope.place(found["order"])
    if table != scope.base or take != "values":
        raise Unreadable
    return f"{'max' if (found['last'] or '').strip().lower() == 'desc' else 'min'}({column})"


def _narrowed(left: str, right: str, where: Mapping[str, list[Where]], scope: _Scope) -> Where:
    """A join as a condition on the first table."""
    own, other = sorted((scope.place(left), scope.place(right)), key=lambda place: place[0] != scope.base)
    if own[0] != scope.base or other[0] == scope.base:
        raise Unreadable
    return Where(own[1], "in", Query(other[0], tuple(where[other[0]]), "values", other[1]))


def _conditions(text: str) -> Iterator[str]:
    """The conditions between ANDs that are in no brackets and end no range."""
    part, depth, ranges = "", 0, False
    for token in _TOKEN.findall(text):
        depth += (token == "(") - (token == ")")
        if token.lower() == "and" and not depth and not ranges:
            yield part.strip()
            part = ""
            continue
        if not depth:
            ranges = token.lower() == "between" or (ranges and token.lower() != "and")
        part += token
    if part.strip():
        yield part.strip()


def _where(text: str, scope: _Scope) -> list[tuple[str, Where]]:
    """One condition, as one or two of them, each with its table."""
    for form, read in _CONDITIONS:
        if found := form.fullmatch(text):
            table, column = scope.place(found[1])
            return [(table, Where(column, sign, value)) for sign, value in read(found, scope)]
    raise Unreadable


def _nested(found: re.Match[str], scope: _Scope) -> "_Pairs":
    """The values of a nested statement."""
    inner = _query(found[2].strip(), scope.tables)
    if inner.take not in ("values", "min", "max"):
        raise Unreadable
    return [("in", inner)]


def _literal(text: str) -> str:
    """A number, or a text without its quotes that FilterDB takes as it is."""
    if text[:1] != "'":
        return text
    text = text[1:-1].replace("''", "'")
    plain = text == text.strip() and "||" not in text and text[:1] not in ("'", '"', "")
    if not plain or text.lower() in ("null", "none", "nan"):
        raise Unreadable
    return text


def _spelt(name: str, names: Mapping[str, object]) -> str:
    """A name as the database has it."""
    for one in names:
        if one.lower() == name.lower():
            return one
    raise Unreadable


_Pairs: TypeAlias = Sequence[tuple[str, str | Query | Ago]]  # signs and values
_CONDITIONS: Sequence[tuple[re.Pattern[str], Callable[[re.Match[str], _Scope], _Pairs]]] = (  # on a name, group 1
    (_COMPARED, lambda found, _: [(found[2], _literal(found[3]))]),
    (_MISSING, lambda found, _: [("!=" if found[2] else "=", "null")]),
    (_RANGE, lambda found, _: [(">=", _literal(found[2])), ("<=", _literal(found[3]))]),
    (_YEAR, lambda found, _: [(">=", f"{int(found[2])}-01-01"), ("<", f"{int(found[2]) + 1}-01-01")]),
    (_AGO, lambda found, _: [(found[2], Ago(found[3]))]),
    (_NESTED, _nested),
)
