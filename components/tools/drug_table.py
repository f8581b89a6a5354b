"""Drugs in a JSON Lines file, one a line, found by name or synonym."""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Annotated, ClassVar

from annotated_types import Ge, Interval

from components.core.tools import Effect
from components.files.rows import Row, json_lines
from components.tools.backends import plain
from components.tools.data_files import Shipped, Stamp, first_rows, lacking, located, stamp
from components.tools.drugs import Drug, Found, alike, closest, not_found, similarity

_HOW = (
    "give a .jsonl file with name, description, state, indication, dosages and synonyms in each line, made from"
    " DrugBank's open vocabulary, openFDA's labels or RxNorm"
)
_SHORTEST_PREFIX = 3


@dataclass(frozen=True)
class DrugTable:
    """A table of drugs. Raises ConfigError for a row of another form.

    A name is taken exactly (in any case), else as the beginning of one (3 letters or more), else the most alike
    is taken when it is at least ``threshold`` alike (0-1); ``closest`` names are told otherwise.
    """

    shipped: Shipped | None = None
    path: str | None = None
    threshold: Annotated[float, Interval(ge=0, le=1)] = 0.6
    closest: Annotated[int, Ge(0)] = 5
    effect: ClassVar[Effect] = "pure"
    identity: ClassVar[str] = "table"

    def __post_init__(self) -> None:
        for row in first_rows(self.place):
            _drug(row)

    @cached_property
    def place(self) -> Path:
        """The file."""
        return located(self.shipped, self.path, "backend")

    @property
    def missing(self) -> str:
        """The file, when it is not there."""
        return lacking(self.place, _HOW)

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
        raise not_found(name, closest(name, table.names, self.closest))


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
    told = {name: _optional(row, name) for name in ("description", "state", "indication")}
    synonyms = tuple(row.texts("synonyms")) if row.values.get("synonyms") is not None else ()
    return Drug(row.text("name"), **told, dosages=tuple(_dosages(row)), synonyms=synonyms)


def _optional(row: Row, key: str) -> str | None:
    """A text that may be absent. Raises ConfigError."""
    return None if row.values.get(key) in (None, "") else row.text(key)


def _dosages(row: Row) -> Iterator[Mapping[str, str | None]]:
    """The forms that a drug comes in. Raises ConfigError."""
    rows = row.values.get("dosages") or []
    if not isinstance(rows, list) or not all(isinstance(one, dict) for one in rows):
        raise row.error("dosages", f"must be a list of objects, found {rows!r:.80}")
    for one in rows:
        inner = Row(f"{row.place}: dosages", one)
        yield {name: _optional(inner, name) for name in ("from", "route", "strength")}
