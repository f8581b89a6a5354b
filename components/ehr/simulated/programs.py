"""Writing a query that was read from a statement as a program of the tools' functions, or as their actions."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from components.ehr.simulated.translate import Ago, Query

FUNCTIONS = ("LoadDB", "FilterDB", "GetValue", "SQLInterpreter", "Calendar", "Calculate")
MOST_ACTIONS = 9  # without the answer
_LOOPS = {
    "distinct": (
        "answer = []",
        "for value in GetValue({table}, '{column}, list'):",
        "    if value not in answer:",
        "        answer.append(value)",
    ),
    "sum": ("answer = 0", "for value in GetValue({table}, '{column}, list'):", "    answer += float(value)"),
}
_LINES = {
    "values": "answer = GetValue({table}, '{column}')",
    "count": "answer = len({table})",
    "distinct count": "answer = len(set(GetValue({table}, '{column}, list')))",
    "any": "answer = 1 if len({table}) > 0 else 0",
}
_READS = {"values": "{0}", "distinct": "{0}", "count": "{0}, count", "any": "{0}, count"}


def sql_cell(sql: str) -> str:
    """A cell that hands the statement on."""
    return f'answer = SQLInterpreter("""{sql.strip()}""")'


def program(query: Query) -> str:
    """A cell without SQL."""
    writer = _Program()
    table = writer.filtered(query)
    lines = _LOOPS.get(query.take) or (
        _LINES.get(query.take, f"answer = GetValue({{table}}, '{{column}}, {query.take}')"),
    )
    writer.lines += [line.format(table=table, column=query.column) for line in lines]
    return "\n".join(writer.lines)


def functions_in(text: str) -> frozenset[str]:
    """The tools' functions that a cell calls."""
    return frozenset(one for one in FUNCTIONS if f"{one}(" in text)


def plan(query: Query) -> Sequence[str] | None:
    """The actions without the answer, in which #k stands for the k-th result; None where they are too many, or one
    would be to count what differs."""
    if query.take == "distinct count":
        return None
    writer = _Plan()
    last = writer.read(query)
    if query.take == "any":
        writer.lines.append(f"Calculate[min({last}, 1)]")
    return writer.lines if len(writer.lines) <= MOST_ACTIONS else None


def _present(query: Query) -> Sequence[str]:
    """What leaves out missing values where they are no answers."""
    return (f"{query.column}!=null",) if query.take in ("distinct", "sum", "distinct count") else ()


@dataclass
class _Program:
    """Lines of code; every table has a variable of its name."""

    lines: list[str] = field(default_factory=list)
    used: dict[str, int] = field(default_factory=dict)

    def filtered(self, query: Query) -> str:
        """The variable of a query's rows."""
        parts = [self.condition(one.column, one.sign, one.value) for one in query.where]
        parts += [repr(one) for one in (query.extreme, *_present(query)) if one]
        name = self.variable(query.table)
        self.lines.append(f"{name} = LoadDB('{query.table}')")
        if parts:
            text = " + '||' + ".join(parts).replace("' + '||' + '", "||").replace("'||' + '", "'||")
            self.lines.append(f"{name} = FilterDB({name}, {text})")
        return name

    def condition(self, column: str, sign: str, value: str | Query | Ago) -> str:
        """The code of one condition."""
        if isinstance(value, str):
            return repr(f"{column}{sign}{value}")
        if isinstance(value, Ago):
            since = self.variable("since")
            self.lines.append(f"{since} = Calendar('{value.duration}')")
            return f"'{column}{sign}' + {since}"
        table, found = self.filtered(value), self.variable(value.column)
        read = "list" if value.take == "values" else value.take
        self.lines.append(f"{found} = GetValue({table}, '{value.column}, {read}')")
        return f"'{column} in ' + str({found if read == 'list' else f'[{found}]'})"

    def variable(self, name: str) -> str:
        """A name that no other line has."""
        name = name.lower()
        self.used[name] = self.used.get(name, 0) + 1
        return name if self.used[name] == 1 else f"{name}_{self.used[name]}"


@dataclass
class _Plan:
    """Actions on the one current table."""

    lines: list[str] = field(default_factory=list)

    def read(self, query: Query, take: str | None = None, listed: bool = False) -> str:
        """The reference to what is read of a query."""
        parts = [f"{one.column}{self.value(one.sign, one.value)}" for one in query.where]
        parts += [one for one in (query.extreme, *_present(query)) if one]
        self.lines.append(f"LoadDB[{query.table}]")
        if parts:
            self.lines.append(f"FilterDB[{'||'.join(parts)}]")
        form = "{0}, list" if listed else _READS.get(take or query.take, f"{{0}}, {query.take}")
        self.lines.append(f"GetValue[{form.format(query.column)}]")
        return f"#{len(self.lines)}"

    def value(self, sign: str, value: str | Query | Ago) -> str:
        """Sign and value of a condition."""
        if isinstance(value, str):
            return f"{sign}{value}"
        if isinstance(value, Ago):
            self.lines.append(f"Calendar[{value.duration}]")
            return f"{sign}#{len(self.lines)}"
        listed = value.take == "values"
        found = self.read(value, listed=listed)
        return f" in {found}" if listed else f"={found}"
