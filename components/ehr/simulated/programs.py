"""Writing a query that was read from a statement as a program of the tools' functions, or as their actions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from components.ehr.simulated.translate import Ago, Query, Where
from components.text.structured import read_yaml

FUNCTIONS = ("LoadDB", "FilterDB", "GetValue", "SQLInterpreter", "Calendar", "Calculate")
MOST_ACTIONS = 9  # without the answer
_TABLE = read_yaml(Path(__file__).with_suffix(".yaml"))
_CELL: Mapping[str, Sequence[str]] = _TABLE["cell"]
_ACTION: Mapping[str, str] = _TABLE["action"]


def sql_cell(sql: str) -> str:
    """A cell that runs the statement."""
    return f'answer = SQLInterpreter("""{sql.strip()}""")'


def called_functions(text: str) -> frozenset[str]:
    """The tools' functions that a cell calls."""
    return frozenset(one for one in FUNCTIONS if f"{one}(" in text)


def program(query: Query) -> str:
    """A cell without SQL."""
    writer = _Program()
    table = writer.rows(query)
    return "\n".join([*writer.lines, *(line.format(table=table, column=query.column) for line in _CELL[query.take])])


def plan(query: Query) -> Sequence[str] | None:
    """The actions without the answer, in which #k stands for the k-th result; None where they are too many, or one
    would be to count distinct values."""
    if query.take == "distinct count":
        return None
    writer = _Plan()
    last = writer.value(query, query.take)
    if query.take == "any":
        writer.lines.append(f"Calculate[min({last}, 1)]")
    return writer.lines if len(writer.lines) <= MOST_ACTIONS else None


def _whole(query: Query) -> Sequence[str]:
    """The conditions after those of the statement: a first or last row, and no missing values where they are not
    answers."""
    present = (f"{query.column}!=null",) if query.take in ("distinct", "sum", "distinct count") else ()
    return [one for one in (query.extreme, *present) if one]


@dataclass
class _Program:
    """Lines of code; every table has a variable of its name."""

    lines: list[str] = field(default_factory=list)
    used: dict[str, int] = field(default_factory=dict)

    def rows(self, query: Query) -> str:
        """The variable of a query's rows."""
        parts = [*(self.condition(one) for one in query.where), *map(repr, _whole(query))]
        name = self.variable(query.table)
        self.lines.append(f"{name} = LoadDB('{query.table}')")
        if parts:
            text = " + '||' + ".join(parts).replace("' + '||' + '", "||").replace("'||' + '", "'||")
            self.lines.append(f"{name} = FilterDB({name}, {text})")
        return name

    def condition(self, one: Where) -> str:
        """The code of one condition."""
        if isinstance(one.value, str):
            return repr(f"{one.column}{one.sign}{one.value}")
        if isinstance(one.value, Ago):
            since = self.variable("since")
            self.lines.append(f"{since} = Calendar('{one.value.duration}')")
            return f"'{one.column}{one.sign}' + {since}"
        table, found = self.rows(one.value), self.variable(one.value.column)
        read = "list" if one.value.take == "values" else one.value.take
        self.lines.append(f"{found} = GetValue({table}, '{one.value.column}, {read}')")
        return f"'{one.column} in ' + str({found if read == 'list' else f'[{found}]'})"

    def variable(self, name: str) -> str:
        """A name that no other line has."""
        name = name.lower()
        self.used[name] = self.used.get(name, 0) + 1
        return name if self.used[name] == 1 else f"{name}_{self.used[name]}"


@dataclass
class _Plan:
    """Actions on the one current table; each result has a reference, its number."""

    lines: list[str] = field(default_factory=list)

    def value(self, query: Query, take: str) -> str:
        """The reference to what is read of a query."""
        parts = [*(f"{one.column}{self.condition(one)}" for one in query.where), *_whole(query)]
        self.act("LoadDB", query.table)
        if parts:
            self.act("FilterDB", "||".join(parts))
        return self.act("GetValue", _ACTION[take].format(column=query.column))

    def condition(self, one: Where) -> str:
        """Sign and value of a condition."""
        if isinstance(one.value, str):
            return f"{one.sign}{one.value}"
        if isinstance(one.value, Ago):
            return f"{one.sign}{self.act('Calendar', one.value.duration)}"
        if one.value.take == "values":
            return f" in {self.value(one.value, 'list')}"
        return f"={self.value(one.value, one.value.take)}"

    def act(self, name: str, argument: str) -> str:
        """Add an action; its reference."""
        self.lines.append(f"{name}[{argument}]")
        return f"#{len(self.lines)}"
