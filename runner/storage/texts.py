"""Texts of a run folder: every paragraph once, in a compressed ``texts-*.jsonl.gz`` file per process.

A record refers to a text by its 16-digit hash. Lines of the file: ``["p", n, paragraph]`` and
``["t", hash, [n, ...]]``, n counting within the file. A torn tail costs only what was in flight.
"""

import os
import zlib
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson

from components.core.errors import ConfigError
from runner.storage import disk

_LONG_LINE = 160  # such a line, for example a tool's card, is a paragraph of its own
_MAX_KNOWN = 150_000  # paragraphs remembered by digest; beyond it they are stored again
_MAX_RECENT = 4_096  # of them remembered with their text, which saves the digest


def without_surrogates(text: str) -> str:
    """The text with ``?`` in place of lone surrogates."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def paragraphs(text: str) -> list[str]:
    """Split a text so that joining with line breaks gives it back."""
    parts: list[str] = []
    short: list[str] = []
    for line in text.split("\n"):
        if len(line) >= _LONG_LINE:
            if short:
                parts.append("\n".join(short))
                short = []
            parts.append(line)
        else:
            short.append(line)
    if short:
        parts.append("\n".join(short))
    return parts


class TextWriter:
    """Adds texts; ``flush`` writes what is new with one write and must precede the record's line."""

    def __init__(self, folder: Path) -> None:
        self._folder = self._path = folder
        self._file: int | None = None
        self._zip: Any = None
        self._paragraphs: dict[bytes, int] = {}
        self._recent: dict[str, tuple[int, bytes]] = {}
        self._texts: set[str] = set()
        self._lines: list[bytes] = []
        self._count = 0

    def add(self, text: str) -> str:
        """Store a text. Returns its hash."""
        return self.add_lines(paragraphs(text))

    def add_lines(self, parts: Sequence[str]) -> str:
        """Store a text given by its paragraphs. Returns its hash."""
        entries = [self._recent.get(part) or self._paragraph(part) for part in parts]
        name = sha256(b"".join([digest for _, digest in entries])).hexdigest()[:16]
        if name not in self._texts:
            self._texts.add(name)
            self._lines.append(orjson.dumps(["t", name, [n for n, _ in entries]]))
        return name

    def _paragraph(self, part: str) -> tuple[int, bytes]:
        digest = sha256(part.encode("utf-8", "surrogatepass")).digest()[:12]
        number = self._paragraphs.get(digest)
        if number is None:
            line = orjson.dumps(["p", self._count, part])  # first: what cannot be written is not remembered
            if len(self._paragraphs) >= _MAX_KNOWN:
                self._paragraphs.clear()
                self._recent.clear()
                self._texts.clear()
            number, self._count = self._count, self._count + 1
            self._paragraphs[digest] = number
            self._lines.append(line)
        if len(self._recent) >= _MAX_RECENT:
            self._recent.clear()
        entry = self._recent[part] = (number, digest)
        return entry

    def flush(self) -> None:
        """Write what is new. Raises Unwritable."""
        if not self._lines:
            return
        if self._file is None:
            self._file = self._create()
            self._zip = zlib.compressobj(1, zlib.DEFLATED, 31)
        data = self._zip.compress(b"\n".join(self._lines) + b"\n") + self._zip.flush(zlib.Z_SYNC_FLUSH)
        self._lines.clear()
        disk.append(self._file, data, self._path)

    def _create(self) -> int:
        for n in range(10_000):
            try:
                self._path = self._folder / f"texts-{n:04}.jsonl.gz"
                return os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
            except FileExistsError:
                continue
        raise OSError(f"{self._folder} holds more than 10,000 texts files")

    def close(self) -> None:
        """Finish the file."""
        self.flush()
        if self._file is not None:
            file, self._file = self._file, None
            try:
                disk.append(file, self._zip.flush(), self._path)
            finally:
                os.close(file)


class TextReader:
    """All texts of a run folder, by hash. Raises ConfigError for a file that is damaged before its end."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._texts = folder, dict[str, list[str]]()
        for path in sorted(folder.glob("texts-*.jsonl.gz")):
            known: dict[int, str] = {}
            try:
                for kind, name, value in _lines(path):
                    if kind == "p":
                        known[name] = value
                    else:
                        self._texts[name] = [known[n] for n in value]
            except (ValueError, TypeError, KeyError) as error:
                raise ConfigError(f"{path} is damaged: {type(error).__name__}: {error}") from None

    def lines(self, name: str) -> list[str]:
        """The paragraphs of a text. Raises ConfigError for a hash that is in no file."""
        try:
            return self._texts[name]
        except KeyError:
            text = f"a texts-*.jsonl.gz is missing or cut off: the text {name} is in none"
            raise ConfigError(f"{self._folder}: {text}") from None

    def __getitem__(self, name: str) -> str:
        return "\n".join(self.lines(name))


def _lines(path: Path) -> Iterator[list[Any]]:
    """The whole lines of a file, up to a torn tail."""
    rest = b""
    unzip = zlib.decompressobj(31)
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            try:
                data = rest + unzip.decompress(chunk)
            except zlib.error:
                return
            *whole, rest = data.split(b"\n")
            for line in whole:
                yield orjson.loads(line)
