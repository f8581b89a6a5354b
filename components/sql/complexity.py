"""How complex a question over health records is, by its gold SQL: tables, columns, slots, and the level.

Source: Shi et al. 2024 (EHRAgent), arXiv 2401.07128, whose levels are numbers of tables. The published code takes what
follows a lower-case ``from``: it misses joined tables and SQL in capitals, and finds words in texts.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_PUBLISHED_TABLE = re.compile(r"\bfrom\s+(\w+)")
_TOKEN = re.compile(
    r"--[^\n]*|/\*.*?\*/|\s+"  # not a token
    r"|(?P<literal>'(?:[^']|'')*')"
    r'|(?P<name>"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]|[^\W\d]\w*)'
    r"|(?P<other>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|.)",
    re.DOTALL,
)
# Names of common table expressions: ``name [(columns)] as [not materialized] (``, after WITH or a comma.
_EXPRESSION = re.compile(
    r"(?:with(?: recursive)?|\x00,) (\w+)(?: \x00\((?: \w+| \x00,)* \x00\))? as(?: not)?(?: materialized)? \x00\("
)
_DERIVED = re.compile(r"t\d+")
_SUBQUERY = {"select", "with", "values"}
_ENDS = {"where", "group", "order", "having", "limit", "union", "intersect", "except", "window", "select"}
_UNITS = ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX")


def tables_of(sql: str, joins: bool = True) -> tuple[str, ...]:
    """Distinct tables that a statement reads, by first appearance. With ``joins`` (the project's rule): base tables
    after FROM, JOIN and the commas between them, in any case, in lower case; names of common table expressions, table
    functions and words inside texts are none. Else the published rule."""
    if not joins:
        return tuple(dict.fromkeys(_PUBLISHED_TABLE.findall(sql)))
    tokens = _tokens(sql)
    text = " ".join(token.text if token.named else f"\x00{token.text}" for token in tokens)
    own = set(_EXPRESSION.findall(text))
    return tuple(dict.fromkeys(name for name in _sources(tokens) if name not in own))


def n_columns(sql: str) -> int:
    """Distinct columns, written ``table.column`` in any case and quotes, of all but derived tables (``t1``)."""
    tokens = _tokens(sql)
    pieces = zip(tokens, tokens[1:], tokens[2:], strict=False)
    return len({
        (table.text, column.text)
        for table, dot, column in pieces
        if dot.text == "." and table.named and column.named and not _DERIVED.fullmatch(table.text)
    })  # fmt: skip


def n_slots(q_tag: str) -> int:
    """Slots of a question's template: its opening braces and brackets."""
    return q_tag.count("{") + q_tag.count("[")


def level(n_tables: int) -> str:
    """The level of a question: its number of tables in Roman numerals. Raises ValueError below 1."""
    if n_tables < 1:
        raise ValueError(f"a question that reads no table has no level, found {n_tables} tables")
    tens, units = divmod(n_tables, 10)
    return "X" * tens + _UNITS[units]


@dataclass(frozen=True)
class _Token:
    """A name or keyword in lower case, or a sign; ``quoted`` names are never keywords."""

    text: str
    named: bool = False
    quoted: bool = False

    def is_word(self, *words: str) -> bool:
        """Whether it is one of these keywords."""
        return self.named and not self.quoted and self.text in words


def _tokens(sql: str) -> list[_Token]:
    """The names and signs of a statement; a text is one sign, as numbers are."""
    found = []
    for match in _TOKEN.finditer(sql):
        if name := match["name"]:
            quoted = name[0] in '"`['
            found.append(_Token((name[1:-1] if quoted else name).lower(), True, quoted))
        elif match["literal"]:
            found.append(_Token("''"))
        elif other := match["other"]:
            found.append(_Token(other))
    return found


def _sources(tokens: Sequence[_Token]) -> Iterator[str]:
    """Every name where a table can be. ``listings``: per parenthesis, whether a list of tables continues."""
    listings, expecting, end = [False], False, _Token("")
    for before, token, after in zip([end, *tokens], tokens, [*tokens[1:], end], strict=False):
        if token.text == "(" and not token.named:  # a sub-query, tables where one is expected, or anything else
            expecting = expecting and not after.is_word(*_SUBQUERY)
            listings.append(expecting)
        elif token.text == ")" and not token.named:
            if len(listings) > 1:  # one too many changes nothing
                listings.pop()
                expecting = False
        elif token.is_word("from") and not before.is_word("distinct"):  # "is distinct from" compares
            listings[-1] = expecting = True
        elif token.is_word("join") or (token.text == "," and listings[-1]):
            expecting = True
        elif token.is_word(*_ENDS):
            listings[-1] = expecting = False
        elif expecting and token.named and after.text != ".":
            expecting = False
            if after.text != "(":
                yield token.text
