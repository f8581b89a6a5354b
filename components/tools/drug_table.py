"""Drugs in a JSON Lines file, one a line, found by name or synonym."""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, ClassVar

from annotated_types import Interval

from components.files.rows import Row, json_lines
from components.tools.backends import FileBackend, Stamp, plain, stamp
from components.tools.drugbank import Drug, Found, alike, closest, not_found, similarity

_N_CLOSEST = 5
_SHORTEST_PREFIX = 3


@dataclass(frozen=True)
class DrugTable(FileBackend):
    """A table of drugs. Raises ConfigError for a row of another form.

    An exact name (in any case) is taken first, then one that begins so (3 letters or more), then the most similar one
    when its similarity (0-1) reaches ``threshold``; otherwise the 5 closest names are reported.
    """

    threshold: Annotated[float, Interval(ge=0, le=1)] = 0.6
    how: ClassVar[str] = (
        "give a .jsonl file with name, description, state, indication, dosages and synonyms in each line, made from"
        " DrugBank's open vocabulary, openFDA's labels or RxNorm"
    )
    identity: ClassVar[str] = "table"

    def check(self, row: Row) -> Drug:
        """Read a row. Raises ConfigError."""
        return _drug(row)

    async def find(self, name: str) -> Found:
        """The drug of a name. Raises ToolError with the closest names."""
        return await asyncio.to_thread(self._find, name)

    def _find(self, name: str) -> Found:
        table = _read(stamp(self.place))
        asked = plain(name)
        if asked in table.exact:
            return Found(table.exact[asked], "exact", 1.0)
        if len(asked) >= _SHORTEST_PREFIX:
            begun = [known for known in table.exact if known.startswith(asked)]
            if begun:
                best = min(begun, key=lambda known: (len(known), known))
                return Found(table.exact[best], "prefix", similarity(asked, best))
        if fitting := alike(asked, table.exact.keys(), self.threshold):
            score, best = fitting[0]
            return Found(table.exact[best], "fuzzy", score)
        raise not_found(name, closest(name, table.names, _N_CLOSEST))


@dataclass(frozen=True)
class _Table:
    """``exact``: plain name or synonym -> drug; names go before synonyms, the first row wins."""

    exact: Mapping[str, Drug]
    names: tuple[str, ...]


@lru_cache(maxsize=4)
def _read(file: Stamp) -> _Table:
    """The table of a file, read once while it stays as it is."""
    drugs = [_drug(row) for row in json_lines(Path(file.path))]
    exact: dict[str, Drug] = {}
    for drug in drugs:
        exact.setdefault(plain(drug.name), drug)
    for drug in drugs:
        for synonym in drug.synonyms:
            exact.setdefault(plain(synonym), drug)
    exact.pop("", None)
    return _Table(exact, tuple(drug.name for drug in drugs))


def _drug(row: Row) -> Drug:
    """A row's drug. Raises ConfigError."""
    texts = {name: _optional(row, name) for name in ("description", "state", "indication")}
    synonyms = tuple(row.texts("synonyms")) if row.values.get("synonyms") is not None else ()
    return Drug(row.text("name"), **texts, dosages=tuple(_dosages(row)), synonyms=synonyms)


def _optional(row: Row, key: str) -> str | None:
    """A text that may be absent. Raises ConfigError."""
    return None if row.values.get(key) in (None, "") else row.text(key)


def _dosages(row: Row) -> Iterator[Mapping[str, str | None]]:
    """The forms that a drug comes in. Raises ConfigError."""
    for one in row.rows("dosages") if row.values.get("dosages") else ():
        yield {name: _optional(one, name) for name in ("from", "route", "strength")}
