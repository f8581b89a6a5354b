"""A gold statement read as loading, filtering and reading of tables, and that written as a program or as actions.

Read are statements over one table with comparisons, ranges, missing values, years, spans before now and nested
statements of the same kind, inner joins that only narrow the rows, and first or last rows; others stay SQL.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from components.core.errors import ConfigError
from components.ehr.metadata import metadata
from components.text.structured import read_yaml

FUNCTIONS = ("LoadDB", "FilterDB", "GetValue", "SQLInterpreter", "Calendar", "Calculate")
MOST_ACTIONS = 9  # without the answer
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
_AGO = re.compile(rf"datetime ?\( ?{_NAME} ?\) ?{_SIGN} ?datetime ?\( ?current_time ?, ?'([^']*)' ?\)", re.IGNORECASE)
_NESTED = re.compile(rf"{_NAME} (?:in|=) ?\( ?(select .*?) ?\)", re.IGNORECASE)
_TAKES = {"sum": "sum", "avg": "mean", "count any": "any", "count each": "distinct count"} | {
    name: name for name in ("min", "max", "count")
}
_NESTING = ("values", "min", "max")
_TOLERANT = ("distinct", "distinct count", "min", "max")  # rows that a join repeats change nothing
_READING = read_yaml(Path(__file__).with_suffix(".yaml"))


class Unreadable(Exception):
    """The statement is not of a simple kind."""


class Ago(NamedTuple):
    """A time before now, such as -2 month."""

    duration: str


class Where(NamedTuple):
    """A condition. ``value``: a text as FilterDB takes it, the values of a nested statement, or a time before now."""

    column: str
    sign: str
    value: "str | Query | Ago"


class Query(NamedTuple):
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
    if (found := _STATEMENT.fullmatch(sql)) is None:
        raise Unreadable
    scope, take, extreme = _Scope(found, tables), _take(found), ""
    where: dict[str, list[Where]] = {table: [] for table in scope.aliases.values()}
    for condition in _conditions(found["where"] or ""):
        table, pairs = _where(condition, scope)
        where[table] += pairs
    if found["order"]:
        table, column = scope.place(found["order"])
        if table != scope.base or take != "values":
            raise Unreadable
        extreme = f"{'max' if (found['last'] or '').strip().lower() == 'desc' else 'min'}({column})"
    starred = scope.base, next(iter(tables[scope.base]))
    table, column = scope.place(found["column"]) if found["column"] != "*" else starred
    if table != scope.base or (scope.joins and (take not in _TOLERANT or extreme)):
        raise Unreadable
    for *_, left, right in scope.joins:  # a join is a condition on the first table
        own, other = sorted((scope.place(left), scope.place(right)), key=lambda place: place[0] != scope.base)
        if own[0] != scope.base or other[0] == scope.base:
            raise Unreadable
        where[table].append(Where(own[1], "in", Query(other[0], tuple(where[other[0]]), "values", other[1])))
    return Query(table, tuple(where[table]), take, column, extreme)


def _take(found: re.Match[str]) -> str:
    key = " ".join(filter(None, ((found["function"] or "").lower(), found["any"] and "any", found["each"] and "each")))
    if not key:
        return "distinct" if found["distinct"] else "values"
    if key not in _TAKES or (key == "count" and found["column"] != "*"):
        raise Unreadable
    return _TAKES[key]


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


def _where(text: str, scope: _Scope) -> tuple[str, Sequence[Where]]:
    pairs: Sequence[tuple[str, str | Query | Ago]]
    if found := _COMPARED.fullmatch(text):
        pairs = [(found[2], _literal(found[3]))]
    elif found := _MISSING.fullmatch(text):
        pairs = [("!=" if found[2] else "=", "null")]
    elif found := _RANGE.fullmatch(text):
        pairs = [(">=", _literal(found[2])), ("<=", _literal(found[3]))]
    elif found := _YEAR.fullmatch(text):
        pairs = [(">=", f"{int(found[2])}-01-01"), ("<", f"{int(found[2]) + 1}-01-01")]
    elif found := _AGO.fullmatch(text):
        pairs = [(found[2], Ago(found[3]))]
    elif (found := _NESTED.fullmatch(text)) and (inner := _query(found[2].strip(), scope.tables)).take in _NESTING:
        pairs = [("in", inner)]
    else:
        raise Unreadable
    table, column = scope.place(found[1])
    return table, [Where(column, sign, value) for sign, value in pairs]


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
    for one in names:
        if one.lower() == name.lower():
            return one
    raise Unreadable


class _Step(NamedTuple):
    """An action, its argument, and conditions: column, sign and value, a number for the result of that step."""

    name: str
    argument: str = ""
    where: Sequence[tuple[str, str, str | int]] = ()


def _add_steps(query: Query, take: str, steps: list[_Step]) -> int:
    """Add the actions that read a query on the one current table; the number of the last one."""
    where: list[tuple[str, str, str | int]] = []
    for column, sign, value in query.where:
        if isinstance(value, str):
            where.append((column, sign, value))
        elif isinstance(value, Ago):
            steps.append(_Step("Calendar", value.duration))
            where.append((column, sign, len(steps)))
        elif value.take == "values":
            where.append((column, " in ", _add_steps(value, "list", steps)))
        else:
            where.append((column, "=", _add_steps(value, value.take, steps)))
    present = (f"{query.column}!=null",) if query.take in ("distinct", "sum", "distinct count") else ()
    where += [("", "", one) for one in (query.extreme, *present) if one]
    steps.append(_Step("LoadDB", query.table))
    if where:
        steps.append(_Step("FilterDB", where=where))
    steps.append(_Step("GetValue", _READING["action"][take].format(column=query.column)))
    return len(steps)


def plan(query: Query) -> Sequence[str] | None:
    """The actions without the answer, #k for the k-th result; None where too many, or to count distinct values."""
    if query.take == "distinct count":
        return None
    steps: list[_Step] = []
    last = _add_steps(query, query.take, steps)
    if query.take == "any":
        steps.append(_Step("Calculate", f"min(#{last}, 1)"))
    lines = []
    for name, argument, where in steps:
        texts = [f"{column}{sign}{f'#{value}' if isinstance(value, int) else value}" for column, sign, value in where]
        lines.append(f"{name}[{argument or '||'.join(texts)}]")
    return lines if len(lines) <= MOST_ACTIONS else None


def sql_cell(sql: str) -> str:
    """A cell that runs the statement."""
    return f'answer = SQLInterpreter("""{sql.strip()}""")'


def program(query: Query) -> str:
    """A cell without SQL; every table and result has a variable of its name."""
    steps: list[_Step] = []
    _add_steps(query, "list", steps)
    used: Counter[str] = Counter()
    lines: list[str] = []
    results, table = [""], ""  # the variables of the steps from 1 on, and of the newest table
    for name, argument, where in steps[:-1]:  # the last reading is written by what is taken
        if name == "FilterDB":
            texts = []
            for column, sign, value in where:
                if isinstance(value, str):
                    texts.append(repr(f"{column}{sign}{value}"))
                elif steps[value - 1].name == "Calendar":
                    texts.append(f"'{column}{sign}' + {results[value]}")
                else:
                    found = results[value] if sign == " in " else f"[{results[value]}]"
                    texts.append(f"'{column} in ' + str({found})")
            joined = " + '||' + ".join(texts).replace("' + '||' + '", "||").replace("'||' + '", "'||")
            lines.append(f"{table} = FilterDB({table}, {joined})")
            results.append(table)
            continue
        variable = "since" if name == "Calendar" else argument.partition(",")[0].lower()
        used[variable] += 1
        results.append(variable if used[variable] == 1 else f"{variable}_{used[variable]}")
        lines.append(f"{results[-1]} = {name}({f'{table}, ' if name == 'GetValue' else ''}{argument!r})")
        table = results[-1] if name == "LoadDB" else table
    lines += [line.format(table=table, column=query.column) for line in _READING["cell"][query.take]]
    return "\n".join(lines)
