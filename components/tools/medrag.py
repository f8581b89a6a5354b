"""Medrag: passages of medical literature for a query.

Source: item 5 of ReflecTool's tools, Liao et al. 2024, arXiv 2410.17657: BM25 over each corpus, 5 passages of
each, merged by score, the best 5 shown, 2,048 characters in all. Departure: no passage is an error "empty".
"""

from dataclasses import asdict, dataclass
from typing import Annotated, Any, ClassVar

from annotated_types import Ge

from components.acting.arguments import given_text, text_spec
from components.core.errors import ToolError
from components.core.messages import ToolSpec
from components.core.tools import Context, Effect
from components.core.traits import ToolTraits
from components.core.types import Observation
from components.tools.backends import ready
from components.tools.passages import Passages

_SPEC = text_spec(
    "Medrag",
    "Search medical literature (textbooks, reviews, abstracts) and read the passages that fit best.",
    "query",
    "What to look for, in words that such a text would use.",
    "knowledge",
)


@dataclass(frozen=True)
class Medrag:
    """The ``k`` best passages, one line each: number, title, content; ``longest`` characters in all.

    Raises ToolError: empty when no passage shares a word with the query, unavailable without a source.
    """

    backend: Passages
    k: Annotated[int, Ge(1)] = 5
    longest: Annotated[int, Ge(1)] = 2048
    spec: ClassVar[ToolSpec] = _SPEC

    @property
    def effect(self) -> Effect:
        """The backend's."""
        return self.backend.effect

    @property
    def identity(self) -> str:
        """What changes when the answers can."""
        return f"{self.backend.identity} {self.k} {self.longest}"

    @property
    def traits(self) -> ToolTraits:
        """What identifies its answers, and what it lacks."""
        return ToolTraits(identity=self.identity, missing=self.missing)

    @property
    def missing(self) -> str:
        """What the backend lacks."""
        return self.backend.missing

    async def __call__(self, context: Context, query: Any) -> Observation:
        """Search. Raises ToolError."""
        asked = given_text(self.spec, query)
        ready(self.spec, self.missing)
        passages = await self.backend.search(asked, self.k)
        if not passages:
            raise ToolError(f"No passage was found for {asked!r:.200}; try other words.", "empty")
        lines = [f"[{n}] ({one.title}) {' '.join(one.content.split())}" for n, one in enumerate(passages, 1)]
        facts = [{name: value for name, value in asdict(one).items() if name != "content"} for one in passages]
        return Observation("\n".join(lines)[: self.longest], {"passages": facts})
