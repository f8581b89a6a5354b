"""Texts of a run folder: every paragraph once, in a compressed ``texts-*.jsonl.gz`` file per process.

A record refers to a text by its 16-digit hash. Lines of the file: ``["p", n, paragraph]`` and
``["t", hash, [n, ...]]``, n counting within the file. A torn tail costs only what was in flight.
"""

import os
import zlib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import sha256
from itertools import chain, count
from pathlib import Path
from typing import Any

import orjson
from zlib_ng import zlib_ng

from components.core.compact import compact_json
from components.core.errors import ConfigError
from components.core.redaction import without
from runner.storage import disk

PATTERN = "texts-*.jsonl.gz"
_LONG_LINE = 160  # such a line, for example a tool's card, is a paragraph of its own
_MAX_KNOWN = 150_000  # paragraphs remembered by digest; beyond it they are stored again
_MAX_RECENT = 4_096  # paragraphs remembered with their text, which saves the digest
_MAX_TEXTS, _LONGEST_TEXT = 256, 1 << 16  # whole texts remembered: prompts that samples share are not split again


def without_surrogates(text: str) -> str:
    """The text with ``?`` in place of lone surrogates."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def paragraphs(text: str) -> list[str]:
    """Split a text so that joining with line breaks gives it back."""
    if "\n" not in text:
        return [text]
    parts, short = list[str](), list[str]()
    for line in text.split("\n"):
        if len(line) < _LONG_LINE:
            short.append(line)
            continue
        if short:
            parts.append("\n".join(short))
            short = []
        parts.append(line)
    return [*parts, "\n".join(short)] if short else parts


def _digest(part: str) -> bytes:
    return sha256(part.encode("utf-8", "surrogatepass")).digest()[:12]


class TextWriter:
    """Adds texts, without ``secrets``; ``flush`` writes what is new at once and must precede the record's line."""

    def __init__(self, folder: Path, secrets: Sequence[str] = ()) -> None:
        self._folder = self._path = folder
        self._secrets = secrets
        self._file: int | None = None
        self._zip: Any = None
        self._digest = lru_cache(maxsize=_MAX_RECENT)(_digest)
        self._paragraphs: dict[bytes, int] = {}
        self._texts: set[str] = set()
        self._recent: dict[str, str] = {}  # whole text -> its hash
        self._lines: list[bytes] = []
        self._count = 0

    def add(self, text: str) -> str:
        """Store a text. Returns its hash."""
        if (name := self._recent.get(text)) is None:
            name = self.add_lines(paragraphs(text))
            if len(self._recent) >= _MAX_TEXTS:
                self._recent.clear()
            if len(text) <= _LONGEST_TEXT:
                self._recent[text] = name
        return name

    def add_lines(self, parts: Sequence[str]) -> str:
        """Store a text given by its paragraphs. Returns its hash."""
        parts = [without(part, self._secrets) for part in parts]
        digests = [self._digest(part) for part in parts]
        name = sha256(b"".join(digests)).hexdigest()[:16]
        if name in self._texts:
            return name
        if len(self._paragraphs) + len(parts) > _MAX_KNOWN:
            self._forget()
        for digest, part in zip(digests, parts, strict=True):
            if digest not in self._paragraphs:
                self._lines.append(compact_json(["p", self._count, part]))  # what cannot be written is not remembered
                self._paragraphs[digest], self._count = self._count, self._count + 1
        self._texts.add(name)
        self._lines.append(compact_json(["t", name, [self._paragraphs[digest] for digest in digests]]))
        return name

    def flush(self) -> None:
        """Write what is new. Raises Unwritable."""
        if not self._lines:
            return
        if self._file is None:
            paths = (self._folder / f"texts-{n:04}.jsonl.gz" for n in count())
            self._path = next(path for path in paths if not path.exists())  # the folder is locked
            self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
            self._zip = zlib.compressobj(1, zlib.DEFLATED, 31)
        data = self._zip.compress(b"\n".join(self._lines) + b"\n") + self._zip.flush(zlib.Z_SYNC_FLUSH)
        self._lines.clear()
        try:
            disk.append(self._file, data, self._path)
        except disk.Unwritable:  # the compressed stream has a gap: what follows is in a file of its own
            os.close(self._file)
            self._file, self._count = None, 0
            self._forget()
            raise

    def _forget(self) -> None:
        """Store again what comes again."""
        for known in (self._paragraphs, self._texts, self._recent):
            known.clear()

    def close(self) -> None:
        """Finish the file; what is added later goes into another."""
        self.flush()
        if self._file is not None:
            file, self._file, self._count = self._file, None, 0
            self._forget()
            try:
                disk.append(file, self._zip.flush(), self._path)
            finally:
                os.close(file)


class TextReader:
    """All texts of a run folder, by hash, decoded when they are read. Raises ConfigError for lines that are not
    texts."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: list[tuple[Path, list[bytes | str], dict[bytes, bytes]]] = []  # paragraphs, lines of texts
        for path in _files(folder):
            parts, texts, n = list[bytes | str](), dict[bytes, bytes](), 0
            for lines in _lines(path):  # in bulk: there are more lines than are looked at
                mine = [line for line in lines if line[:4] == b'["t"']
                texts |= {line[6:22]: line for line in mine}
                parts += (others := [line for line in lines if line[:4] == b'["p"'])
                n += len(lines) - len(mine) - len(others)
            if n:
                raise ConfigError(f"{path} is damaged: {n} of its lines are neither a text nor a paragraph")
            self._files.append((path, parts, texts))

    def lines(self, name: str) -> list[str]:
        """The paragraphs of a text. Raises ConfigError for a hash that is in no file, and for what is damaged."""
        for path, parts, texts in self._files:
            if (line := texts.get(name.encode())) is not None:
                try:
                    return [_paragraph(parts, n) for n in orjson.loads(line)[2]]
                except (ValueError, TypeError, LookupError) as error:
                    raise ConfigError(f"{path} is damaged: {type(error).__name__}: {error}") from None
        text = f"a texts-*.jsonl.gz is missing or cut off: none has the text {name}"
        raise ConfigError(f"{self._folder}: {text}")

    def __getitem__(self, name: str) -> str:
        return "\n".join(self.lines(name))


def discard_known(names: set[bytes], folder: Path) -> None:
    """Discard the names of texts of the folder, all of which are read, a line at a time. Raises ConfigError for what is
    damaged."""
    for path in _files(folder):
        n = 0  # paragraphs so far; a text comes after its own
        try:
            for kind, name, content in map(orjson.loads, chain.from_iterable(_lines(path))):
                if kind == "t" and all(0 <= one < n for one in content):
                    names.discard(name.encode())
                elif kind == "p" and name == n and isinstance(content, str):
                    n += 1
                else:
                    raise ValueError(f"{kind!r} {name!r} after {n} paragraphs")
        except (ValueError, TypeError, AttributeError) as error:
            raise ConfigError(f"{path} is damaged: {type(error).__name__}: {error}") from None


def _files(folder: Path) -> list[Path]:
    return sorted(filter(Path.is_file, folder.glob(PATTERN)))  # a pipe would be waited for


def _paragraph(parts: list[bytes | str], n: int) -> str:
    """A paragraph by its number, which is kept decoded. Raises ValueError for one of another number."""
    if isinstance(line := parts[n], str):
        return line
    _, number, text = orjson.loads(line)
    if number != n or not isinstance(text, str):
        raise ValueError(f"paragraph {n} is {line[:40]!r}")
    parts[n] = text
    return text


def _lines(path: Path) -> Iterator[list[bytes]]:
    """The whole lines of a file, many at a time, up to a torn tail."""
    rest = b""
    unzip = zlib_ng.decompressobj(31)
    with path.open("rb") as file:
        while chunk := file.read(1 << 16):
            try:
                data = rest + unzip.decompress(chunk)
            except zlib_ng.error:  # type: ignore[misc]  # its stub has a value for the class
                return
            *whole, rest = data.split(b"\n")
            yield whole
