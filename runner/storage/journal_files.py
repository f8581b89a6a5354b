"""The files of a journal: segments, which hold entries, and indices, which are caches of where entries are.

A segment is gzip members of 16 entries, each entry behind a checksum of its own: key (32 bytes), length, crc32 of key,
length and payload, then the payload. It ends with a sync flush and leaves in one ``write``, so a kill loses only what
was in flight; gzip's own checksum comes at the end of a member, too late for a torn one. Segments are only appended to.
Where an entry is: ``at`` = offset of its member * 16 + its number in the member.

An index is a file of words in order, their places (number of the segment << 44 | ``at``), the segments covered with
their sizes, and a checksum. A word is 64 bits of a key and the reader compares the whole key: an index cannot lead to
a wrong entry. One that is damaged, or of another version, is built again from its segments.
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
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from weakref import finalize

import orjson
from zlib_ng import zlib_ng

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

MEMBER_ENTRIES = 16
_START = b"\x1f\x8b\x08" + bytes(5)  # of a member: gzip, deflate, no flags, no time
_HEAD = struct.Struct("<32sII")
_CHUNK = 1 << 15
_AT_BITS = 44
_AT_MASK = (1 << _AT_BITS) - 1
_KEY, _FACTORS = struct.Struct("<4Q"), (1, 3, 5, 7)
_TAIL = struct.Struct("<II8s")
_MAGIC = b"wardidx2"


class Entry(NamedTuple):
    """A whole entry and where it is."""

    key: bytes
    payload: bytes
    at: int


class Writer:
    """The segment this process appends to, locked until it is released, forgotten or the process ends. ``places``: key
    -> where its entry is. Payloads are not kept."""

    def __init__(self, folder: Path, youngest: int) -> None:
        """Create the segment, named by its time in nanoseconds; never older than the ``youngest`` known one."""
        self.path = folder / f"{max(time.time_ns(), youngest + 1):020d}-{secrets.token_hex(4)}.segment"
        self.places: dict[bytes, int] = {}
        self.size = self._member = self._nth = 0
        self._deflate: zlib_ng._Compress | None = None
        hidden = self.path.with_suffix(".tmp")  # nobody sees it before it is locked
        self._file = os.open(hidden, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
        self._close = finalize(self, os.close, self._file)
        fcntl.flock(self._file, fcntl.LOCK_EX)
        hidden.rename(self.path)
        os.register_at_fork(after_in_child=self._close)  # the lock ends with the process that took it

    def put(self, key: bytes, payload: bytes) -> None:
        """Append one entry. Raises OSError; the segment is still good afterwards."""
        if self._deflate is None:
            if not os.fstat(self._file).st_nlink:
                raise FileNotFoundError(errno.ENOENT, "it was removed", str(self.path))
            self._deflate, self._member, self._nth = zlib_ng.compressobj(1, zlib_ng.DEFLATED, 31), self.size, 0
        head = key + len(payload).to_bytes(4, "little")
        checksum = zlib_ng.crc32(payload, zlib_ng.crc32(head)).to_bytes(4, "little")
        last = self._nth == MEMBER_ENTRIES - 1
        data = self._deflate.compress(b"".join((head, checksum, payload)))
        self._append(data + self._deflate.flush(zlib_ng.Z_FINISH if last else zlib_ng.Z_SYNC_FLUSH))
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
            if os.write(self._file, data) < len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
        except OSError:
            self._deflate, self.size = None, os.fstat(self._file).st_size
            raise
        self.size += len(data)


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
            entries, end = read_member(file.fileno(), offset)
            yield from entries
            if end is None:  # the next member that is whole at its start
                found = os.pread(file.fileno(), os.fstat(file.fileno()).st_size, offset + 1).find(_START)
                end = offset + 1 + found if found >= 0 else None
            offset = end


def read_member(file: int, offset: int, step: int = _CHUNK) -> tuple[list[Entry], int | None]:
    """The whole entries of a member, and where the next one starts: None after one that is unfinished or damaged, which
    is inflated once more byte by byte for what is before the damage."""
    inflate, out, at = zlib.decompressobj(31), bytearray(), offset
    while not inflate.eof and (chunk := os.pread(file, step, at)):
        try:
            out += inflate.decompress(chunk)
        except zlib.error:
            if step > 1:
                return read_member(file, offset, step=1)
            break
        at += len(chunk)
    data, entries, start = bytes(out), list[Entry](), 0
    while start + _HEAD.size <= len(data) and len(entries) < MEMBER_ENTRIES:
        key, size, checksum = _HEAD.unpack_from(data, start)
        payload = data[start + _HEAD.size : start + _HEAD.size + size]
        if len(payload) < size or zlib_ng.crc32(payload, zlib_ng.crc32(data[start : start + 36])) != checksum:
            break
        entries.append(Entry(key, payload, offset * MEMBER_ENTRIES + len(entries)))
        start += _HEAD.size + size
    return entries, at - len(inflate.unused_data) if inflate.eof else None


class Place(NamedTuple):
    """Where an entry is. Places sort by the age of their segments."""

    segment: str
    at: int


def word_of(key: bytes) -> int:
    """64 bits of a key, by which indices are sorted."""
    parts: tuple[int, ...] = _KEY.unpack(key)
    return sum([n * part for n, part in zip(_FACTORS, parts, strict=True)]) & 0xFFFFFFFFFFFFFFFF


class Index:
    """An index, mapped or in memory. Raises ValueError where it is not what was written."""

    def __init__(self, data: mmap.mmap | bytes, name: str = "") -> None:
        view, end = memoryview(data), len(data) - _TAIL.size
        size, checksum, magic = _TAIL.unpack(data[end:]) if end >= 0 else (0, 0, b"")
        if magic != _MAGIC or zlib_ng.crc32(view[:end]) != checksum:
            raise ValueError(f"the index {name!r} is damaged")
        self.name, self._table = name, view[: end - size]
        self.segments: dict[str, int] = dict(orjson.loads(data[end - size : end]))
        self._names = list(self.segments)

    @classmethod
    def load(cls, path: Path) -> Index:
        """Map an index file."""
        with path.open("rb") as file:
            return cls(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), path.name)

    @cached_property
    def columns(self) -> tuple[Sequence[int], Sequence[int]]:
        """The words in order, and their places."""
        table = self._table.cast("Q")
        return table[: len(table) // 2], table[len(table) // 2 :]

    def find(self, word: int) -> list[Place]:
        """Where entries with this word may be."""
        words, places = self.columns
        found = places[bisect_left(words, word) : bisect_right(words, word)]
        return [Place(self._names[place >> _AT_BITS], place & _AT_MASK) for place in found]


def index_of(segments: Mapping[str, int], entries: Iterable[tuple[int, bytes, int]]) -> bytes:
    """An index over ``segments`` (name -> size), of entries given as number of the segment, key, where in it."""
    import numpy as np

    keys, places = bytearray(), array("Q")
    for segment, key, at in entries:
        keys += key
        places.append(segment << _AT_BITS | at)
    words = (np.frombuffer(keys, "<u8").reshape(-1, 4) * np.array(_FACTORS, "<u8")).sum(axis=1)
    return _packed(segments, words, np.array(places, dtype="<u8"))


def merge_indices(indices: Sequence[Index]) -> bytes:
    """One index over all that several cover, the oldest segment first."""
    import numpy as np

    segments = dict(sorted(item for index in indices for item in index.segments.items()))
    numbers, all_places = {name: number for number, name in enumerate(segments)}, []
    for index in indices:
        places, own = (
            np.array(index.columns[1], dtype="<u8"),
            np.array([numbers[name] for name in index.segments], "<u8"),
        )
        all_places.append(own[places >> _AT_BITS] << _AT_BITS | places & _AT_MASK)
    words = np.concatenate([np.array(index.columns[0], dtype="<u8") for index in indices])
    return _packed(segments, words, np.concatenate(all_places))


def _packed(segments: Mapping[str, int], words: npt.NDArray[np.uint64], places: npt.NDArray[np.uint64]) -> bytes:
    order, names = words.argsort(kind="stable"), orjson.dumps(list(segments.items()))
    content = words[order].tobytes() + places[order].tobytes() + names
    return content + _TAIL.pack(len(names), zlib_ng.crc32(content), _MAGIC)
