"""BM25 indexes of JSON Lines files, kept in a cache folder under the digest of what they index."""

import os
import zipfile
from array import array
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import orjson
from numpy.typing import NDArray

from components.core.errors import ConfigError
from components.files.rows import Row, json_lines
from components.text.bm25 import Bm25
from components.tools.data_files import digest

_FORMAT = "1"  # raise it when the analysis of texts or the layout changes


@dataclass(frozen=True, eq=False)
class FileIndex:
    """An index over the rows of a file; ``offsets`` are where the rows begin, in bytes, in the index's order."""

    path: Path
    bm25: Bm25
    offsets: NDArray[np.int64]

    def row(self, name: str) -> Row:
        """The row of an id that a search gave."""
        with self.path.open("rb") as file:
            file.seek(int(self.offsets[self._numbers[name]]))
            return Row(str(self.path), orjson.loads(file.readline()))

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.bm25.ids)}


def indexed(path: Path, cache: Path | None) -> FileIndex:
    """The index of a file of passages, from the cache where it is there. Raises ConfigError for a bad row."""
    if cache is None:
        return _made(path)
    kept = cache / f"{digest(_FORMAT, path)}.npz"
    index = _read(kept, path)
    if index is None:
        index = _made(path)
        _write(kept, index)
    return index


def passage_text(row: Row) -> tuple[str, str]:
    """A passage's id and what of it is indexed. Raises ConfigError."""
    return row.text("id"), f"{row.text('title')}. {row.text('content')}"


def _made(path: Path) -> FileIndex:
    """Index the rows, each under its id, by title and content."""
    try:
        bm25 = Bm25.over(map(passage_text, json_lines(path)))
    except ValueError as error:
        raise ConfigError(f"{path}: {error}") from None
    starts, position = array("q"), 0
    with path.open("rb") as file:
        for line in file:
            if line.strip():
                starts.append(position)
            position += len(line)
    return FileIndex(path, bm25, np.asarray(starts, np.int64))


def _write(kept: Path, index: FileIndex) -> None:
    """Keep an index; a reader sees the whole file or none."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    new = kept.with_suffix(f".{os.getpid()}.new")
    bm25 = index.bm25
    with new.open("wb") as file:
        np.savez(
            file, starts=bm25.starts, documents=bm25.documents, counts=bm25.counts, lengths=bm25.lengths,
            offsets=index.offsets, ids=_packed(bm25.ids), terms=_packed(tuple(bm25.rows)),
        )  # fmt: skip
    new.replace(kept)


def _read(kept: Path, path: Path) -> FileIndex | None:
    """A kept index; None when there is none that can be read."""
    try:
        with kept.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            ids, terms = _unpacked(file["ids"]), _unpacked(file["terms"])
            rows = {term: number for number, term in enumerate(terms)}
            bm25 = Bm25(ids, rows, file["starts"], file["documents"], file["counts"], file["lengths"])
            return FileIndex(path, bm25, file["offsets"])
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None


def _packed(texts: tuple[str, ...]) -> NDArray[np.uint8]:
    """Texts as the bytes of a JSON list, which no archive needs to unpickle."""
    return np.frombuffer(orjson.dumps(texts), np.uint8)


def _unpacked(raw: NDArray[np.uint8]) -> tuple[str, ...]:
    return tuple(orjson.loads(raw.tobytes()))
