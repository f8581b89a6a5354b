"""Sorted indices over sealed segments: caches that say where a key may be, never what it holds.

A file of blocks of 256 rows (256 words, then 256 places), then the first word and the checksum of each block
and the segments covered with their sizes. It is mapped; a block is checked when it is first looked at. A word
is 64 bits of a key and the reader compares the whole key: an index can't lead to a wrong entry.
"""

from __future__ import annotations

import mmap
import struct
import zlib
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple, TypeAlias

import orjson

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Rows: TypeAlias = "npt.NDArray[np.uint64]"
"""(2, n): words in order, and places: number of the segment << 44 | where in it."""

_ROWS = 256
_BLOCK = 2 * 8 * _ROWS
_AT_BITS = 44
_AT_MASK = (1 << _AT_BITS) - 1
_NOWHERE = (1 << 64) - 1
_RUN_ROWS = 1 << 16
_KEY = struct.Struct("<4Q")
_TAIL = struct.Struct("<III8s")
_MAGIC = b"wardidx1"


class DamagedIndex(Exception):
    """The index file ``name`` isn't what was written; it has to be built again."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the index {name!r} isn't what was written")
        self.name = name


class Place(NamedTuple):
    """Where an entry is. Places sort by the age of their segments."""

    segment: str
    at: int


def word_of(key: bytes) -> int:
    """64 bits of a key, by which indices are sorted."""
    a, b, c, d = _KEY.unpack(key)
    return int(a + 3 * b + 5 * c + 7 * d) & 0xFFFFFFFFFFFFFFFF


class Index:
    """One index, mapped or in memory. Every method may raise DamagedIndex."""

    def __init__(self, data: mmap.mmap | bytes, name: str = "") -> None:
        self.name, self._data = name, data
        end = len(data) - _TAIL.size
        n, size, checksum, magic = _TAIL.unpack(data[end:]) if end >= 0 else (0, 0, 0, b"")
        start, sums = n * _BLOCK, n * (_BLOCK + 8)
        if magic != _MAGIC or sums + 4 * n + size != end or zlib.crc32(data[start:end]) != checksum:
            raise DamagedIndex(name)
        self._table = memoryview(data)[:start].cast("Q")
        self._fence, self._sums = array("Q", data[start:sums]), array("I", data[sums : sums + 4 * n])
        self._checked = bytearray(n)
        self.segments: dict[str, int] = dict(orjson.loads(data[sums + 4 * n : end]))
        self._names = list(self.segments)
        self.size = n

    @classmethod
    def load(cls, path: Path) -> Index:
        """Map an index file."""
        with path.open("rb") as file:
            if not file.seek(0, 2):
                raise DamagedIndex(path.name)
            return cls(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), path.name)

    def find(self, word: int) -> list[Place]:
        """Where entries with this word may be."""
        found: list[Place] = []
        table, block = self._table, (bisect_left(self._fence, word) or 1) - 1
        while block < self.size:
            if not self._checked[block]:
                self._check(block)
            row, end = block * 2 * _ROWS, block * 2 * _ROWS + _ROWS
            row = bisect_left(table, word, row, end)
            while row < end and table[row] == word:
                if (place := table[row + _ROWS]) != _NOWHERE:
                    found.append(Place(self._names[place >> _AT_BITS], place & _AT_MASK))
                row += 1
            if row < end:
                break
            block += 1
        return found

    def between(self, low: int, high: int, numbers: Mapping[str, int]) -> Rows:
        """The rows with ``low <= word <= high``, their segments numbered as in ``numbers``."""
        import numpy as np

        blocks = range(max(bisect_left(self._fence, low) - 1, 0), bisect_right(self._fence, high))
        for block in blocks:
            self._check(block)
        table = np.array(self._table[blocks.start * 2 * _ROWS : blocks.stop * 2 * _ROWS], dtype="<u8")
        words, places = table.reshape(-1, 2, _ROWS).swapaxes(0, 1).reshape(2, -1)
        wanted = (words >= low) & (words <= high) & (places != _NOWHERE)
        places, numbered = places[wanted], np.array([numbers[name] for name in self._names], dtype="<u8")
        return np.stack((words[wanted], numbered[places >> _AT_BITS] << _AT_BITS | places & _AT_MASK))

    def _check(self, block: int) -> None:
        if zlib.crc32(self._data[block * _BLOCK : (block + 1) * _BLOCK]) != self._sums[block]:
            raise DamagedIndex(self.name)
        self._checked[block] = 1


def rows_of(entries: Iterable[tuple[int, bytes, int]]) -> Rows:
    """The rows of entries given as number of the segment, key, where in the segment."""
    import numpy as np

    words, places = array("Q"), array("Q")
    for segment, key, at in entries:
        words.append(word_of(key))
        places.append(segment << _AT_BITS | at)
    return _in_order(np.array((words, places), dtype="<u8"))


def merge(indices: Sequence[Index], names: Iterable[str]) -> Iterator[Rows]:
    """All rows of the ``indices`` in order, in runs of bounded size; segments numbered as in ``names``."""
    import numpy as np

    numbers = {name: number for number, name in enumerate(names)}
    n_runs = 1 + sum(index.size for index in indices) * _ROWS // _RUN_ROWS
    for run in range(n_runs):
        low, high = (run << 64) // n_runs, (run + 1 << 64) // n_runs - 1
        yield _in_order(np.concatenate([index.between(low, high, numbers) for index in indices], axis=1))


def write(out: IO[bytes], segments: Mapping[str, int], runs: Iterable[Rows]) -> None:
    """Write an index over ``segments`` (name -> size); the runs of its rows come one above the other."""
    import numpy as np

    fence, sums = array("Q"), array("I")
    for run in runs:
        words, places = run
        missing = -len(words) % _ROWS
        words = np.pad(words, (0, missing), mode="edge") if missing else words
        places = np.pad(places, (0, missing), constant_values=_NOWHERE)
        data = np.stack((words, places)).reshape(2, -1, _ROWS).swapaxes(0, 1).tobytes()
        fence.frombytes(words[::_ROWS].tobytes())
        sums.extend(zlib.crc32(data[at : at + _BLOCK]) for at in range(0, len(data), _BLOCK))
        out.write(data)
    names = orjson.dumps(list(segments.items()))
    tail = fence.tobytes() + sums.tobytes() + names
    out.write(tail + _TAIL.pack(len(fence), len(names), zlib.crc32(tail), _MAGIC))


def _in_order(rows: Rows) -> Rows:
    return rows[:, rows[0].argsort(kind="stable")]
