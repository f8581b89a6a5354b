"""What a page holds of episodes: JSON in compressed blocks that are opened one by one, every paragraph stored once."""

from __future__ import annotations

import base64
import gzip
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, TypeAlias

import orjson

from runner.storage.texts import paragraphs, without_surrogates

Text: TypeAlias = str | list[int]  # as it is, or the numbers of its paragraphs

_INLINE = 120  # characters; shorter texts stand where they are used
_LONG = 4_000  # characters; longer paragraphs are remembered by digest
_BLOCK = 1 << 19  # bytes of JSON, from which on a block is closed


def packed(value: Any) -> str:
    """A value as base64 of compressed JSON: nothing in it can mean anything to a browser."""
    return base64.b64encode(gzip.compress(orjson.dumps(value), 6, mtime=0)).decode()


@dataclass
class Blocks:
    """A list in blocks: ``starts`` has the number of the first value in each block. ``size``: bytes written so far."""

    written: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    count: int = 0
    size: int = 0
    _open: list[orjson.Fragment] = field(default_factory=list)
    _held: int = 0

    def add(self, value: Any) -> int:
        """Put a value at the end of the list. Returns its number."""
        if not self._open:
            self.starts.append(self.count)
        line = orjson.dumps(value)
        self._open.append(orjson.Fragment(line))
        self._held += len(line)
        self.count += 1
        if self._held >= _BLOCK:
            self.close()
        return self.count - 1

    def close(self) -> None:
        """Write what is held as a block."""
        if self._open:
            self.written.append(packed(self._open))
            self.size += len(self.written[-1])
            self._open, self._held = [], 0


class Texts:
    """Texts by their paragraphs, each of which is stored once for all episodes."""

    def __init__(self) -> None:
        self.blocks = Blocks()
        self._numbers: dict[str | bytes, int] = {}

    def add(self, text: str) -> Text:
        """What stands for a text. Lone surrogates, which no file of ours can hold, become ``?``."""
        if len(text) < _INLINE:
            return without_surrogates(text)
        return self.lines(paragraphs(text))

    def lines(self, parts: list[str]) -> list[int]:
        """What stands for a text that is given by its paragraphs."""
        known = self._numbers
        return [known[part] if part in known else self._number(part) for part in parts]

    def _number(self, part: str) -> int:
        key = part if len(part) < _LONG else sha256(part.encode("utf-8", "surrogatepass")).digest()
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = self.blocks.add(without_surrogates(part))
        return number
