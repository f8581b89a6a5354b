"""DrugBank: what a drug is, what it is for and how it is given.

Source: item 6 of ReflecTool's tools, Liao et al. 2024, arXiv 2410.17657, over DrugBank's licensed table, where the
most alike name always answers. Departures: a name that is only alike is told as such, and below a threshold no
drug answers but the closest names.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from components.acting.arguments import given_text, text_spec
from components.core.messages import ToolSpec
from components.core.tools import Context, Effect
from components.core.traits import ToolTraits
from components.core.types import Observation
from components.tools.backends import ready
from components.tools.drugs import Drugs, Found

_SPEC = text_spec(
    "DrugBank",
    "Look up a drug: description, state, indication, dosage forms with route and strength, and synonyms.",
    "drug_name",
    "Generic name, brand name or synonym of one drug.",
    "knowledge",
)


@dataclass(frozen=True)
class DrugBank:
    """One drug as a JSON object, on a line of its own.

    Raises ToolError: not_found with the closest names, or unavailable.
    """

    backend: Drugs
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

    async def __call__(self, context: Context, drug_name: Any) -> Observation:
        """Look up. Raises ToolError."""
        asked = given_text(self.spec, drug_name)
        ready(self.spec, self.missing)
        found = await self.backend.find(asked)
        facts = {"name": found.drug.name, "match": found.match, "similarity": round(found.similarity, 3)}
        return Observation(_told(asked, found), facts)


def _told(asked: str, found: Found) -> str:
    """The drug, and a warning where only a similar name was found: it may be another drug."""
    if found.match != "fuzzy":
        return found.drug.shown
    return f"No drug is called {asked!r:.200}; the most similar name is of this one:\n{found.drug.shown}"
