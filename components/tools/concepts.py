"""A concept of a medical vocabulary, and where concepts are found."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

from components.core.errors import ToolError
from components.tools.backends import Backend

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
    def shown(self) -> str:
        """Name, definition and at most 5 relations, a line each."""
        source = self.source
        told = f"{self.definitions[source]} ({source})" if source is not None else "none recorded"
        lines = [f"Name: {self.name} ({self.cui})", f"Definition: {told}"]
        if not self.relations:
            return "\n".join([*lines, "Relations: none recorded"])
        return "\n".join([*lines, "Relations:", *(f"({', '.join(one)})" for one in self.relations[:N_RELATIONS])])


@runtime_checkable
class Concepts(Backend, Protocol):
    """Where concepts are found."""

    async def find(self, term: str) -> Concept:
        """The concept of a term. Raises ToolError: empty when there is none, or unavailable."""


def no_concept(term: str) -> ToolError:
    """What the model hears when no concept fits."""
    return ToolError(f"There is no information on {term!r:.200}: no concept has such a name.", "empty")
