"""DrugBank: what a drug is, what it is for and how it is given.

Source: item 6 of ReflecTool's tools, Liao et al. 2024, arXiv 2410.17657, over DrugBank's licensed table, where the
most alike name always answers. Departures: a name that is only similar is marked as such, and below a threshold no
drug answers but the closest names.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from typing import ClassVar, Literal, Protocol, runtime_checkable

import orjson

from components.core.errors import ToolError
from components.core.messages import ToolSpec
from components.core.types import Observation
from components.tools.backends import Backend, LookupTool, plain, spec_of

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


def match_drug(name: str, drug: Drug) -> Found:
    """The drug that a service returned for a name, and how well the best of its names fits."""
    best = max(similarity(plain(name), plain(known)) for known in (drug.name, *drug.synonyms))
    return Found(drug, "exact" if best == 1 else "fuzzy", best)


def similarity(name: str, other: str) -> float:
    """How alike two plain names are, 0-1: Ratcliff and Obershelp's measure, in which order counts."""
    return SequenceMatcher(None, name, other, autojunk=False).ratio()


def similar_names(name: str, others: Collection[str], least: float) -> list[tuple[float, str]]:
    """The plain names with at least this similarity to a plain name, best first, ties by name."""
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
