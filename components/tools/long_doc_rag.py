"""LongDocRAG: the passages of a task's documents that fit a question, and optionally an answer from them.

Source: item 15 of ReflecTool's tools, Liao et al. 2024, arXiv 2410.17657: a vector index with a hosted model's
embeddings, kept in the data's folder, whose answer a hosted model writes. Here BM25 over windows of words; nothing is
written, and changed files are read again; the experiment's own model answers where ``synthesis`` is set.
"""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
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
from components.text.bm25 import Bm25
from components.tools.backends import spec_of
from components.tools.sql_coder import input_path

_WORD = re.compile(r"\S+")
_NUMBER = re.compile(r"(\d+)")
_MOST_BYTES = 64 << 20


@dataclass(frozen=True)
class Document:
    """A file's name and its text."""

    name: str
    text: str


@dataclass(frozen=True)
class Window:
    """A part of a document: words ``first`` to ``last`` of ``n_words``, counted from 1; characters ``start`` to
    ``end`` (exclusive) of its text."""

    document: str
    text: str
    first: int
    last: int
    n_words: int
    start: int
    end: int


def read_documents(place: Path) -> tuple[Document, ...]:
    """A file, or the ``.txt`` files of a folder in the order of their names, numbers in them as numbers.

    Texts are UTF-8, else Windows-1252. Raises ToolError when there is none or they are above 64 MB.
    """

    def order(path: Path) -> list[tuple[int, str]]:
        parts = _NUMBER.split(path.relative_to(place).as_posix())
        return [(int(part), "") if n % 2 else (0, part) for n, part in enumerate(parts)]

    files = [place] if place.is_file() else sorted(place.rglob("*.txt"), key=order)
    if not files:
        raise ToolError(f"There are no text files in the documents {place.name!r}.", "not_found")
    if sum(path.stat().st_size for path in files) > _MOST_BYTES:
        raise ToolError(f"The documents {place.name!r} are larger than {_MOST_BYTES >> 20} MB.", "unavailable")
    root, documents = place.parent if place.is_file() else place, []
    for path in files:
        raw = path.read_bytes()
        try:
            text = raw.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = raw.decode("cp1252", "replace")
        documents.append(Document(path.relative_to(root).as_posix(), text))
    return tuple(documents)


def windows(document: Document, size: int, overlap: int) -> list[Window]:
    """Windows of ``size`` words, each beginning with the last ``overlap`` words of the one before.

    The last one ends with the document; no window lies within another.
    """
    spans = [(match.start(), match.end()) for match in _WORD.finditer(document.text)]
    parts = []
    for first in range(0, max(len(spans) - overlap, 1) if spans else 0, size - overlap):
        last = min(first + size, len(spans))
        start, end = spans[first][0], spans[last - 1][1]
        parts.append(Window(document.name, document.text[start:end], first + 1, last, len(spans), start, end))
    return parts


@lru_cache(maxsize=32)
def index_documents(documents: tuple[Document, ...], size: int, overlap: int) -> tuple[Sequence[Window], Bm25]:
    """The windows of these very texts, and their index, whose ids are the windows' numbers; made once."""
    parts = [window for document in documents for window in windows(document, size, overlap)]
    width = len(str(len(parts)))
    return parts, Bm25.over((f"{n:0{width}d}", window.text) for n, window in enumerate(parts))


@dataclass(frozen=True)
class LongDocRAG:
    """The ``k`` best windows of ``window_words`` words, neighbours sharing ``overlap_words``.

    Output: each window under its number, file and position; with ``synthesis`` the model's answer from them instead.
    Raises ToolError: not_found for other names than the task's inputs, empty when no window shares a word with the
    query or the model writes nothing.
    """

    k: Annotated[int, Ge(1)] = 4
    window_words: Annotated[int, Ge(10)] = 200
    overlap_words: Annotated[int, Ge(0)] = 50
    synthesis: bool = False
    prompts: PromptSetName = "long_doc_rag"
    spec: ClassVar[ToolSpec] = spec_of("LongDocRAG")
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
        name, question = text_argument(self.spec, "path", path), text_argument(self.spec, "query", query)
        hits = await asyncio.to_thread(self._search, input_path(context, name), question)
        if not hits:
            raise ToolError(f"No passage of {name!r:.100} shares a word with the query; try other words.", "empty")
        passages, facts = [], []
        for n, (one, score) in enumerate(hits, 1):
            passages.append(f"[{n}] {one.document}, words {one.first}-{one.last} of {one.n_words}:\n{one.text}")
            place = {"file": one.document, "first_word": one.first, "last_word": one.last}
            facts.append({**place, "start": one.start, "end": one.end, "score": score})
        text = "\n\n".join(passages)
        if self.synthesis:
            message = load(self.prompts).user("answer", question=question, passages=passages)
            text = (await context.ask([message], purpose="tool")).text.strip()
            if not text:
                raise ToolError("The passages were found, but the model wrote no answer from them.", "empty")
        return Observation(text, {"passages": facts})

    def _search(self, place: Path, query: str) -> list[tuple[Window, float]]:
        """The best windows with their scores, best first, ties in the documents' order."""
        parts, bm25 = index_documents(read_documents(place), self.window_words, self.overlap_words)
        return [(parts[int(hit.id)], hit.score) for hit in bm25.search(query, self.k)]
