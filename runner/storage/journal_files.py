"""The files of a journal: segments, which hold entries, and indices, which are caches of where entries are.

A segment is gzip members of 16 entries, each entry behind a checksum of its own: key (32 bytes), length, crc32 of key,
length and payload, then the payload. It ends with a sync flush and leaves in one ``write``, so a kill loses only what
was in flight; gzip's own checksum comes at the end of a member, too late for a torn one. Segments are only appended to.
Where an entry is: ``at`` = offset of its member * 16 + its number in the member.

An index is a file of blocks of 256 rows (256 words, then 256 places), then the first word and the checksum of each
block and the segments covered with their sizes. A word is 64 bits of a key and the reader compares the whole key: an
index cannot lead to a wrong entry.
"""

from __future__ import annotations

import errno
import fcntl
import mmap
import os
import secrets
import struct
import time
import zlib
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple, TypeAlias
from weakref import finalize, ref

import orjson

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Rows: TypeAlias = "npt.NDArray[np.uint64]"
"""(2, n): words in order, and places: number of the segment << 44 | where in it."""

MEMBER_ENTRIES = 16
_START = b"\x1f\x8b\x08" + bytes(5)  # of a member: gzip, deflate, no flags, no time
_HEAD = struct.Struct("<32sII")
_CHUNK = 1 << 15
_ROWS = 256
_BLOCK = 2 * 8 * _ROWS
_AT_BITS = 44
_AT_MASK = (1 << _AT_BITS) - 1
_NOWHERE = (1 << 64) - 1
_RUN_ROWS = 1 << 16
_KEY = struct.Struct("<4Q")
_TAIL = struct.Struct("<III8s")
_MAGIC = b"wardidx1"


class Entry(NamedTuple):
    """A whole entry and where it is."""

    key: bytes
    payload: bytes
    at: int


class Writer:
    """The segment this process appends to, locked until it is released, forgotten or the process ends.

    ``places``: key -> where its entry is. Payloads are not kept.
    """

    def __init__(self, folder: Path, youngest: int) -> None:
        """Create the segment, named by its time in nanoseconds; never older than the ``youngest`` known one."""
        self.path = folder / f"{max(time.time_ns(), youngest + 1):020d}-{secrets.token_hex(4)}.segment"
        self.places: dict[bytes, int] = {}
        self.size = self._member = self._nth = 0
        self._deflate: zlib._Compress | None = None
        hidden = self.path.with_suffix(".tmp")  # nobody sees it before it is locked
        self._file = os.open(hidden, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
        self._close = finalize(self, os.close, self._file)
        fcntl.flock(self._file, fcntl.LOCK_EX)
        hidden.rename(self.path)
        os.register_at_fork(after_in_child=partial(_forget, ref(self)))

    def put(self, key: bytes, payload: bytes) -> None:
        """Append one entry. Raises OSError; the segment is still good afterwards."""
        if self._deflate is None:
            self._deflate, self._member, self._nth = zlib.compressobj(1, zlib.DEFLATED, 31), self.size, 0
        head = key + len(payload).to_bytes(4, "little")
        checksum = zlib.crc32(payload, zlib.crc32(head)).to_bytes(4, "little")
        last = self._nth == MEMBER_ENTRIES - 1
        data = self._deflate.compress(b"".join((head, checksum, payload)))
        self._append(data + self._deflate.flush(zlib.Z_FINISH if last else zlib.Z_SYNC_FLUSH))
        self.places[key] = self._member * MEMBER_ENTRIES + self._nth
        self._nth += 1
        if last:
            self._deflate = None

    def finish(self) -> None:
        """End the member, so that the segment is a whole gzip file."""
        if self._deflate is not None:
            self._append(self._deflate.flush())
            self._deflate = None

    def release(self) -> None:
        """Give up the lock."""
        self._close()
        self._file = -1

    def _append(self, data: bytes) -> None:
        """Write all at once; when that fails, the next entry starts a new member."""
        try:
            if (written := os.write(self._file, data)) < len(data):
                raise OSError(errno.ENOSPC, f"only {written} of {len(data)} bytes of an entry written", str(self.path))
        except OSError:
            self._deflate, self.size = None, os.fstat(self._file).st_size
            raise
        self.size += len(data)


def _forget(writer: ref[Writer]) -> None:
    """In a forked child: the lock must end with the process that took it, not with its children."""
    if (inherited := writer()) is not None:
        inherited.release()


def has_writer(path: Path) -> bool:
    """Whether a living process writes the segment. Processes that ask share a lock and do not see each other."""
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


def scan(path: Path, limit: int | None = None) -> Iterator[Entry]:
    """Yield the whole entries in order and pass over what is damaged; ``limit``: bytes to look at."""
    with path.open("rb") as file:
        offset: int | None = 0
        while offset is not None and (limit is None or offset < limit):
            entries, end = _inflate(file.fileno(), offset)
            yield from entries
            offset = _next_start(file.fileno(), offset + 1) if end is None else end


def read_member(path: Path, offset: int) -> list[Entry]:
    """The whole entries of one member; none if the segment is gone."""
    try:
        with path.open("rb") as file:
            return _inflate(file.fileno(), offset)[0]
    except FileNotFoundError:
        return []


def _inflate(file: int, offset: int, step: int = _CHUNK) -> tuple[list[Entry], int | None]:
    """The whole entries of a member, and where the next one starts: None after one that is unfinished or damaged, which
    is inflated once more byte by byte for what is before the damage."""
    inflate, out, at = zlib.decompressobj(31), bytearray(), offset
    while not inflate.eof and (chunk := os.pread(file, step, at)):
        try:
            out += inflate.decompress(chunk)
        except zlib.error:
            if step > 1:
                return _inflate(file, offset, step=1)
            break
        at += len(chunk)
    return _whole(bytes(out), offset), at - len(inflate.unused_data) if inflate.eof else None


def _whole(data: bytes, offset: int) -> list[Entry]:
    """The entries up to the first that is torn or damaged."""
    entries: list[Entry] = []
    at = 0
    while at + _HEAD.size <= len(data) and len(entries) < MEMBER_ENTRIES:
        key, size, checksum = _HEAD.unpack_from(data, at)
        payload = data[at + _HEAD.size : at + _HEAD.size + size]
        if len(payload) < size or zlib.crc32(payload, zlib.crc32(data[at : at + 36])) != checksum:
            break
        entries.append(Entry(key, payload, offset * MEMBER_ENTRIES + len(entries)))
        at += _HEAD.size + size
    return entries


def _next_start(file: int, at: int) -> int | None:
    """Where the next member may start."""
    while len(data := os.pread(file, _CHUNK, at)) >= len(_START):
        if (found := data.find(_START)) >= 0:
            return at + found
        at += len(data) - len(_START) + 1
    return None


class Place(NamedTuple):
    """Where an entry is. Places sort by the age of their segments."""

    segment: str
    at: int


def word_of(key: bytes) -> int:
    """64 bits of a key, by which indices are sorted."""
    a, b, c, d = _KEY.unpack(key)
    return int(a + 3 * b + 5 * c + 7 * d) & 0xFFFFFFFFFFFFFFFF


class Index:
    """An index, mapped or in memory. Raises ValueError where it is not what was written."""

    def __init__(self, data: mmap.mmap | bytes, name: str = "") -> None:
        self.name, end, view = name, len(data) - _TAIL.size, memoryview(data)
        n, size, checksum, magic = _TAIL.unpack(data[end:]) if end >= 0 else (0, 0, 0, b"")
        start, sums = n * _BLOCK, n * (_BLOCK + 8)
        if magic != _MAGIC or sums + 4 * n + size != end or zlib.crc32(view[start:end]) != checksum:
            raise ValueError(f"the index {name!r} is damaged")
        blocks = (view[at : at + _BLOCK] for at in range(0, start, _BLOCK))
        if array("I", map(zlib.crc32, blocks)) != array("I", data[sums : sums + 4 * n]):
            raise ValueError(f"the index {name!r} is damaged")
        self._table, self._fence = view[:start].cast("Q"), array("Q", data[start:sums])
        self.segments: dict[str, int] = dict(orjson.loads(data[sums + 4 * n : end]))
        self._names = list(self.segments)
        self.size = n

    @classmethod
    def load(cls, path: Path) -> Index:
        """Map an index file."""
        with path.open("rb") as file:
            return cls(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), path.name)

    def find(self, word: int) -> list[Place]:
        """Where entries with this word may be."""
        found: list[Place] = []
        table, block = self._table, (bisect_left(self._fence, word) or 1) - 1
        while block < self.size:
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

        first, last = max(bisect_left(self._fence, low) - 1, 0), bisect_right(self._fence, high)
        table = np.array(self._table[first * 2 * _ROWS : last * 2 * _ROWS], dtype="<u8")
        words, places = table.reshape(-1, 2, _ROWS).swapaxes(0, 1).reshape(2, -1)
        wanted = (words >= low) & (words <= high) & (places != _NOWHERE)
        places, numbered = places[wanted], np.array([numbers[name] for name in self._names], dtype="<u8")
        return np.stack((words[wanted], numbered[places >> _AT_BITS] << _AT_BITS | places & _AT_MASK))


def rows_of(entries: Iterable[tuple[int, bytes, int]]) -> Rows:
    """The rows of entries given as number of the segment, key, where in the segment."""
    import numpy as np

    words, places = array("Q"), array("Q")
    for segment, key, at in entries:
        words.append(word_of(key))
        places.append(segment << _AT_BITS | at)
    return _sorted(np.array((words, places), dtype="<u8"))


def merge(indices: Sequence[Index], names: Iterable[str]) -> Iterator[Rows]:
    """All rows of the ``indices`` in order, in runs of bounded size; segments numbered as in ``names``."""
    import numpy as np

    numbers = {name: number for number, name in enumerate(names)}
    n_runs = 1 + sum(index.size for index in indices) * _ROWS // _RUN_ROWS
    for run in range(n_runs):
        low, high = (run << 64) // n_runs, (run + 1 << 64) // n_runs - 1
        yield _sorted(np.concatenate([index.between(low, high, numbers) for index in indices], axis=1))


def write(out: IO[bytes], segments: Mapping[str, int], runs: Iterable[Rows]) -> None:
    """Write an index over ``segments`` (name -> size); the words of each run are above those of the one before."""
    import numpy as np

    fence, sums = array("Q"), array("I")
    for words, places in runs:
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


def _sorted(rows: Rows) -> Rows:
    return rows[:, rows[0].argsort(kind="stable")]
