"""UMLS: a medical term's concept, its definition and relations.

Source: item 7 of ReflecTool's tools, Liao et al. 2024, arXiv 2410.17657: the first concept found, its definition
from the first of MSH, NCI, ICF, CSP, HPO that has one, 5 relations. Departures: other vocabularies define where
none of these does; no concept (empty) and no service (unavailable) are told apart.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from components.acting.arguments import given_text, text_spec
from components.core.messages import ToolSpec
from components.core.tools import Context, Effect
from components.core.traits import ToolTraits
from components.core.types import Observation
from components.tools.backends import ready
from components.tools.concepts import N_RELATIONS, Concepts

_SPEC = text_spec(
    "UMLS",
    "Look up a medical term: the concept it names, its definition and how it is related to other concepts.",
    "medical_terminology",
    "One medical term, such as a disease, finding, drug or procedure.",
    "knowledge",
)


@dataclass(frozen=True)
class UMLS:
    """One concept as lines of text. Raises ToolError: empty when no concept is found, or unavailable."""

    backend: Concepts
    spec: ClassVar[ToolSpec] = _SPEC

    @property
    def effect(self) -> Effect:
        """The backend's."""
        return self.backend.effect

    @property
    def identity(self) -> str:
        """What changes when the answers of a service can."""
        return self.backend.identity

    @property
    def traits(self) -> ToolTraits:
        """What identifies its answers, and what it lacks."""
        return ToolTraits(identity=self.identity, missing=self.missing)

    @property
    def missing(self) -> str:
        """What the backend lacks."""
        return self.backend.missing

    async def __call__(self, context: Context, medical_terminology: Any) -> Observation:
        """Look up. Raises ToolError."""
        asked = given_text(self.spec, medical_terminology)
        ready(self.spec, self.missing)
        found = await self.backend.find(asked)
        relations = [one._asdict() for one in found.relations[:N_RELATIONS]]
        facts = {"cui": found.cui, "name": found.name, "source": found.source, "relations": relations}
        return Observation(found.shown, facts)
