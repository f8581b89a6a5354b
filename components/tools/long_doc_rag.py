"""LongDocRAG: the passages of a task's documents that fit a question, and on wish an answer from them.

Source: item 15 of ReflecTool's tools, Liao et al. 2024, arXiv 2410.17657: a vector index with a hosted model's
embeddings, kept in the data's folder, whose answer a hosted model writes. Here BM25 over windows of words; nothing is
written, and changed files are read again; the experiment's own model answers where ``synthesis`` is set.
"""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

from annotated_types import Ge

from components.acting.arguments import text_argument
from components.core.errors import ConfigError, ToolError
from components.core.messages import ToolSpec
from components.core.tools import Context, Effect
from components.core.traits import PromptSetName
from components.core.types import Observation
from components.prompts import load
from components.tools.databases import input_path
from components.tools.documents import Window, index_documents, read_documents

_SPEC = ToolSpec(
    "LongDocRAG",
    "Search the documents that come with the task and read the passages that fit the question best.",
    {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "The documents, by the name that the task shows."},
            "query": {"type": "string", "description": "What to find in them, in the words of such documents."},
        },
        "required": ["path", "query"],
    },
    facts={"dimension": "data", "needs": "upload_files"},
)


@dataclass(frozen=True)
class LongDocRAG:
    """The ``k`` best windows of ``window_words`` words, neighbours sharing ``overlap_words``.

    Output: each window under its number, file and position; with ``synthesis`` the model's answer from them instead.
    Raises ToolError: not_found for other names than the task's inputs, empty when no window shares a word with the
    query or the model says nothing.
    """

    k: Annotated[int, Ge(1)] = 4
    window_words: Annotated[int, Ge(10)] = 200
    overlap_words: Annotated[int, Ge(0)] = 50
    synthesis: bool = False
    prompts: PromptSetName = "long_doc_rag"
    spec: ClassVar[ToolSpec] = _SPEC
    effect: ClassVar[Effect] = "pure"
    missing: ClassVar[str] = ""

    def __post_init__(self) -> None:
        if self.overlap_words >= self.window_words:
            raise ConfigError(
                f"overlap_words must be below window_words, found {self.overlap_words} and {self.window_words}"
            )
        if self.synthesis:
            load(self.prompts)

    async def __call__(self, context: Context, path: Any, query: Any) -> Observation:
        """Search. Raises ToolError."""
        name = text_argument(self.spec, "path", path)
        asked = text_argument(self.spec, "query", query)
        found = await asyncio.to_thread(self._search, input_path(context, name), asked)
        if not found:
            raise ToolError(f"No passage of {name!r:.100} shares a word with the query; try other words.", "empty")
        passages = [f"[{n}] {window.place}:\n{window.text}" for n, (window, _) in enumerate(found, 1)]
        facts = [
            {"file": window.document, "first_word": window.first, "last_word": window.last, "start": window.start,
             "end": window.end, "score": score}
            for window, score in found
        ]  # fmt: skip
        text = await self._answer(context, asked, passages) if self.synthesis else "\n\n".join(passages)
        return Observation(text, {"passages": facts})

    def _search(self, place: Path, query: str) -> list[tuple[Window, float]]:
        documents = read_documents(place)
        return index_documents(documents, self.window_words, self.overlap_words).search(query, self.k)

    async def _answer(self, context: Context, question: str, passages: list[str]) -> str:
        """What the model says from the passages. Raises ToolError when that is nothing."""
        asked = load(self.prompts).user("answer", question=question, passages=passages)
        answer = (await context.ask([asked], purpose="tool")).text.strip()
        if not answer:
            raise ToolError("The passages were found, but the model wrote no answer from them.", "empty")
        return answer
