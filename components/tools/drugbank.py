"""DrugBank: what a drug is, what it is for and how it is given, and a table of drugs in a file.

Source: item 6 of ReflecTool's tools, Liao et al. 2024, arXiv 2410.17657, over DrugBank's licensed table, where the
most alike name always answers. Departures: a name that is only similar is marked as such, and below a threshold no
drug answers but the closest names.
"""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Protocol, runtime_checkable

import orjson
from annotated_types import Interval

from components.core.errors import ToolError
from components.core.messages import ToolSpec
from components.core.types import Observation
from components.files.rows import Row, json_lines
from components.tools.backends import Backend, FileBackend, LookupTool, plain, spec_of

Match = Literal["exact", "prefix", "fuzzy"]
_FAR = 30  # percent of letters in common, below which a name is no hint


@dataclass(frozen=True)
class Drug:
    """A drug as DrugBank's table has it; None where a source has no value.

    ``dosages``: ``from`` (the form, under that table's name for it), ``route`` and ``strength``.
    """

    name: str
    description: str | None = None
    state: str | None = None
    indication: str | None = None
    dosages: tuple[Mapping[str, str | None], ...] = ()
    synonyms: tuple[str, ...] = ()

    @property
    def as_json(self) -> str:
        """The drug as one JSON object."""
        return orjson.dumps(asdict(self)).decode()


@dataclass(frozen=True)
class Found:
    """A drug and how well its best name fits: ``similarity`` in 0-1, 1 when exact."""

    drug: Drug
    match: Match
    similarity: float


@runtime_checkable
class Drugs(Backend, Protocol):
    """Where drugs are found."""

    async def find(self, name: str) -> Found:
        """The drug of a name. Raises ToolError: not_found, with the closest names, or unavailable."""


def fitting(name: str, drug: Drug) -> Found:
    """The drug that a service returned for a name, and how well the best of its names fits."""
    best = max(similarity(plain(name), plain(known)) for known in (drug.name, *drug.synonyms))
    return Found(drug, "exact" if best == 1 else "fuzzy", best)


def similarity(name: str, other: str) -> float:
    """How alike two plain names are, 0-1: Ratcliff and Obershelp's measure, in which order counts."""
    return SequenceMatcher(None, name, other, autojunk=False).ratio()


def alike(name: str, others: Collection[str], least: float) -> list[tuple[float, str]]:
    """The plain names that are at least so similar to a plain name, best first, ties by name."""
    from rapidfuzz import fuzz, process

    bound = process.extract(name, others, scorer=fuzz.ratio, score_cutoff=100 * least, limit=None)  # never below
    scored = [(similarity(name, other), other) for other, _, _ in bound]
    return sorted((one for one in scored if one[0] >= least), key=lambda one: (-one[0], one[1]))


def not_found(name: str, closest: Sequence[str]) -> ToolError:
    """The error when no name fits."""
    hint = f" The closest names are: {', '.join(closest)}." if closest else ""
    return ToolError(f"There is no drug called {name!r:.200}.{hint}", "not_found", {"closest": list(closest)})


def closest(name: str, names: Iterable[str], n: int) -> list[str]:
    """The ``n`` names that have most letters in common with a name, best first, ties by name."""
    from rapidfuzz import fuzz, process

    hits = process.extract(
        plain(name), sorted(set(names)), scorer=fuzz.ratio, processor=plain, limit=n, score_cutoff=_FAR
    )
    return [other for other, _, _ in hits]


@dataclass(frozen=True)
class DrugBank(LookupTool):
    """One drug as a JSON object on its own line, with a warning where only a similar name was found.

    Raises ToolError: not_found with the closest names, or unavailable.
    """

    backend: Drugs
    spec: ClassVar[ToolSpec] = spec_of("DrugBank")

    async def answer(self, text: str) -> Observation:
        """Look up a drug. Raises ToolError."""
        hit = await self.backend.find(text)
        facts = {"name": hit.drug.name, "match": hit.match, "similarity": round(hit.similarity, 3)}
        warning = f"No drug is called {text!r:.200}; the most similar name is of this one:\n"
        return Observation(f"{warning if hit.match == 'fuzzy' else ''}{hit.drug.as_json}", facts)


_N_CLOSEST = 5
_SHORTEST_PREFIX = 3


@dataclass(frozen=True)
class DrugTable(FileBackend[tuple[Mapping[str, Drug], Sequence[str]]]):
    """A table of drugs in a JSON Lines file. Raises ConfigError for a row of another form.

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
        if fitting := alike(wanted, drugs.keys(), self.threshold):
            score, best = fitting[0]
            return Found(drugs[best], "fuzzy", score)
        raise not_found(name, closest(name, names, _N_CLOSEST))
