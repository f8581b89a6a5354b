"""Medrag: passages of medical literature for a query.

Source: item 5 of ReflecTool's tools, Liao et al. 2024, arXiv 2410.17657: BM25 over each corpus, 5 passages of
each, merged by score, the best 5 shown, 2,048 characters in all. Departure: no passage is an error "empty".
"""

from dataclasses import asdict, dataclass
from typing import Annotated, ClassVar

from annotated_types import Ge

from components.core.errors import ToolError
from components.core.messages import ToolSpec
from components.core.types import Observation
from components.tools.backends import LookupTool, spec_of
from components.tools.passages import Passages


@dataclass(frozen=True)
class Medrag(LookupTool):
    """The ``k`` best passages, one line each: number, title, content; ``longest`` characters in all.

    Raises ToolError: empty when no passage shares a word with the query, unavailable without a source.
    """

    backend: Passages
    k: Annotated[int, Ge(1)] = 5
    longest: Annotated[int, Ge(1)] = 2048
    spec: ClassVar[ToolSpec] = spec_of("Medrag")

    @property
    def identity(self) -> str:
        """The backend's, and how much is shown."""
        return f"{self.backend.identity} {self.k} {self.longest}"

    async def answer(self, text: str) -> Observation:
        """Search. Raises ToolError."""
        passages = await self.backend.search(text, self.k)
        if not passages:
            raise ToolError(f"No passage was found for {text!r:.200}; try other words.", "empty")
        lines = [f"[{n}] ({one.title}) {' '.join(one.content.split())}" for n, one in enumerate(passages, 1)]
        facts = [{name: value for name, value in asdict(one).items() if name != "content"} for one in passages]
        return Observation("\n".join(lines)[: self.longest], {"passages": facts})
