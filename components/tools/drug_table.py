"""Drugs in a JSON Lines file, one per line, found by name or synonym."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from annotated_types import Interval

from components.files.rows import Row, json_lines
from components.tools.backends import FileBackend, plain
from components.tools.drugbank import Drug, Found, closest, not_found, similar_names, similarity

_N_CLOSEST = 5
_SHORTEST_PREFIX = 3


@dataclass(frozen=True)
class DrugTable(FileBackend[tuple[Mapping[str, Drug], Sequence[str]]]):
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

    def read(self, row: Row) -> Drug:
        """The drug of a row. Raises ConfigError."""

        def texts(row: Row, *keys: str) -> dict[str, str | None]:
            return {key: None if row.values.get(key) in (None, "") else row.text(key) for key in keys}

        rows = row.rows("dosages") if row.values.get("dosages") else ()
        dosages = tuple(texts(one, "from", "route", "strength") for one in rows)
        synonyms = tuple(row.texts("synonyms")) if row.values.get("synonyms") is not None else ()
        facts = texts(row, "description", "state", "indication")
        return Drug(row.text("name"), **facts, dosages=dosages, synonyms=synonyms)

    def load(self, files: Sequence[Path]) -> tuple[Mapping[str, Drug], Sequence[str]]:
        """Plain name, else synonym -> drug (the first row wins), and the names as they are. Raises ConfigError."""
        drugs = [self.read(row) for row in json_lines(files[0])]
        exact: dict[str, Drug] = {}
        for drug in drugs:
            exact.setdefault(plain(drug.name), drug)
        for drug in drugs:
            for synonym in drug.synonyms:
                exact.setdefault(plain(synonym), drug)
        exact.pop("", None)
        return exact, [drug.name for drug in drugs]

    def known_as(self, name: str) -> str | None:
        """The drug that has exactly this name or synonym, in any case; None for none."""
        drug = self.loaded[0].get(plain(name))
        return None if drug is None else drug.name

    async def find(self, name: str) -> Found:
        """The drug of a name. Raises ToolError with the closest names."""
        return await asyncio.to_thread(self._find, name)

    def _find(self, name: str) -> Found:
        (drugs, names), wanted = self.loaded, plain(name)
        if wanted in drugs:
            return Found(drugs[wanted], "exact", 1.0)
        begun = [known for known in drugs if known.startswith(wanted)] if len(wanted) >= _SHORTEST_PREFIX else ()
        if begun:
            best = min(begun, key=lambda known: (len(known), known))
            return Found(drugs[best], "prefix", similarity(wanted, best))
        if fitting := similar_names(wanted, drugs.keys(), self.threshold):
            score, best = fitting[0]
            return Found(drugs[best], "fuzzy", score)
        raise not_found(name, closest(name, names, _N_CLOSEST))
