"""Text documents of a task as overlapping windows of words, searched by BM25."""

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from components.core.errors import ToolError
from components.text.bm25 import Bm25

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

    @property
    def place(self) -> str:
        """Where it stands."""
        return f"{self.document}, words {self.first}-{self.last} of {self.n_words}"


@dataclass(frozen=True, eq=False)
class DocumentIndex:
    """Windows and their index, whose ids are the windows' numbers."""

    windows: tuple[Window, ...]
    index: Bm25

    def search(self, query: str, k: int) -> list[tuple[Window, float]]:
        """The best ``k`` windows with their scores, best first, ties in the documents' order."""
        return [(self.windows[int(hit.id)], hit.score) for hit in self.index.search(query, k)]


def read_documents(place: Path) -> tuple[Document, ...]:
    """A file, or the ``.txt`` files of a folder in the order of their names, numbers in them as numbers.

    Texts are UTF-8, else Windows-1252. Raises ToolError when there is none or they are above 64 MB.
    """
    files = [place] if place.is_file() else sorted(place.rglob("*.txt"), key=lambda path: _order(place, path))
    if not files:
        raise ToolError(f"There are no text files in the documents {place.name!r}.", "not_found")
    if sum(path.stat().st_size for path in files) > _MOST_BYTES:
        raise ToolError(f"The documents {place.name!r} are larger than {_MOST_BYTES >> 20} MB.", "unavailable")
    root = place.parent if place.is_file() else place
    return tuple(Document(path.relative_to(root).as_posix(), _text(path)) for path in files)


def _order(place: Path, path: Path) -> list[tuple[int, str]]:
    """A sorting key: numbers by size before letters."""
    parts = _NUMBER.split(path.relative_to(place).as_posix())
    return [(int(part), "") if n % 2 else (0, part) for n, part in enumerate(parts)]


def _text(path: Path) -> str:
    """A file's text."""
    raw = path.read_bytes()
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("cp1252", "replace")


def windows(document: Document, size: int, overlap: int) -> list[Window]:
    """Windows of ``size`` words, each beginning with the last ``overlap`` words of the one before.

    The last one ends with the document; no window lies within another.
    """
    spans = [(match.start(), match.end()) for match in _WORD.finditer(document.text)]
    found, first = [], 0
    while first < len(spans):
        last = min(first + size, len(spans))
        start, end = spans[first][0], spans[last - 1][1]
        text = document.text[start:end]
        found.append(Window(document.name, text, first + 1, last, len(spans), start, end))
        if last == len(spans):
            break
        first = last - overlap
    return found


@lru_cache(maxsize=32)
def index_documents(documents: tuple[Document, ...], size: int, overlap: int) -> DocumentIndex:
    """The index of these very texts, made once."""
    found = tuple(window for document in documents for window in windows(document, size, overlap))
    width = len(str(len(found)))
    return DocumentIndex(found, Bm25.over((f"{n:0{width}d}", window.text) for n, window in enumerate(found)))
