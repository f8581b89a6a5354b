"""UMLS: a medical term's concept, its definition and relations.

Source: item 7 of ReflecTool's tools, Liao et al. 2024, arXiv 2410.17657: the first concept found, its definition
from the first of MSH, NCI, ICF, CSP, HPO that has one, 5 relations. Departures: other vocabularies define where
none of these does; no concept (empty) and no service (unavailable) are distinguished.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol, runtime_checkable

from components.core.errors import ToolError
from components.core.messages import ToolSpec
from components.core.types import Observation
from components.tools.backends import Backend, LookupTool, spec_of

PREFERRED_SOURCES = ("MSH", "NCI", "ICF", "CSP", "HPO")
N_RELATIONS = 5


class Relation(NamedTuple):
    """``source`` is related so to ``target``; both are names of concepts."""

    source: str
    label: str
    target: str


@dataclass(frozen=True)
class Concept:
    """``definitions``: vocabulary -> text."""

    cui: str
    name: str
    definitions: Mapping[str, str]
    relations: tuple[Relation, ...] = ()

    @property
    def source(self) -> str | None:
        """The vocabulary whose definition is shown: the first preferred one that has any, else by name."""
        others = sorted(set(self.definitions) - set(PREFERRED_SOURCES))
        return next((one for one in (*PREFERRED_SOURCES, *others) if one in self.definitions), None)

    @property
    def as_text(self) -> str:
        """Name, definition and at most 5 relations, a line each."""
        source = self.source
        definition = f"{self.definitions[source]} ({source})" if source is not None else "none recorded"
        lines = [f"Name: {self.name} ({self.cui})", f"Definition: {definition}"]
        if not self.relations:
            return "\n".join([*lines, "Relations: none recorded"])
        return "\n".join([*lines, "Relations:", *(f"({', '.join(one)})" for one in self.relations[:N_RELATIONS])])


@runtime_checkable
class Concepts(Backend, Protocol):
    """Where concepts are found."""

    async def find(self, term: str) -> Concept:
        """The concept of a term. Raises ToolError: empty when there is none, or unavailable."""


def no_concept(term: str) -> ToolError:
    """The error when no concept fits."""
    return ToolError(f"There is no information on {term!r:.200}: no concept has such a name.", "empty")


@dataclass(frozen=True)
class UMLS(LookupTool):
    """One concept as lines of text. Raises ToolError: empty when no concept is found, or unavailable."""

    backend: Concepts
    spec: ClassVar[ToolSpec] = spec_of("UMLS")

    async def answer(self, text: str) -> Observation:
        """Look up a term. Raises ToolError."""
        concept = await self.backend.find(text)
        relations = [one._asdict() for one in concept.relations[:N_RELATIONS]]
        facts = {"cui": concept.cui, "name": concept.name, "source": concept.source, "relations": relations}
        return Observation(concept.as_text, facts)
