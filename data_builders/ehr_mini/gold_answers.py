"""Gold answers of questions, and which questions are refused because their answer is none, too long, or a tie."""

import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field

from components.text.values import cells
from data_builders.ehr_mini.schema import asked

MOST_VALUES = 20

_TOKEN = re.compile(r"'(?:[^']|'')*'|[()]")
_LAST = re.compile(r"\s*select (?P<what>.+?) from (?P<rest>.+) order by (?P<key>\S+) (?P<way>asc|desc) limit 1\s*")


@dataclass(frozen=True)
class Asker:
    """Answers gold SQL on a database with a clock, each statement once."""

    connection: sqlite3.Connection
    clock: str | None
    _known: dict[str, list[str]] = field(default_factory=dict)

    def answer(self, sql: str, single: bool = False) -> list[str] | None:
        """The gold list; None for a question that must not be asked.

        It is refused when nothing is found, when there are more than 20 values, when the first or last of several
        rows at the same time is meant, and, with ``single``, when there is more than one value.
        """
        if sql not in self._known:
            values = cells(asked(self.connection, sql, self.clock))
            self._known[sql] = [] if len(values) > MOST_VALUES or self.tied(sql) else values
        values = self._known[sql]
        return None if not values or (single and len(values) > 1) else values

    def tied(self, sql: str) -> bool:
        """Whether some ``order by ... limit 1`` of a statement chooses among different values at the same place."""
        for part in selects(sql):
            if found := _LAST.fullmatch(part):
                what, key = found["what"], found["key"]
                probe = f"select {what}, {key} from {found['rest']} order by {key} {found['way']}"
                rows = asked(self.connection, probe, self.clock).fetchall()
                if len({value for value, place in rows if place == rows[0][1]}) > 1:
                    return True
        return False


def selects(sql: str) -> Iterator[str]:
    """The statement and everything that stands between parentheses in it."""
    yield sql
    starts: list[int] = []
    for token in _TOKEN.finditer(sql):
        if token[0] == "(":
            starts.append(token.end())
        elif token[0] == ")":
            yield sql[starts.pop() : token.start()]
