"""A segment of the journal: gzip members of 16 entries, each entry behind a checksum of its own.

An entry is key (32 bytes), length, crc32 of key, length and payload, then the payload. It ends with a sync
flush and leaves in one ``write``, so a kill loses only what was in flight; gzip's own checksum comes at the
end of a member, too late for a torn one. Segments are only ever appended to. Where an entry is: ``at`` =
offset of its member * 16 + its number in the member.
"""

import errno
import fcntl
import os
import secrets
import struct
import time
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple
from weakref import finalize, ref

MEMBER_ENTRIES = 16
_START = b"\x1f\x8b\x08" + bytes(5)  # of a member: gzip, deflate, no flags, no time
_HEAD = struct.Struct("<32sII")
_CHUNK = 1 << 15


class Entry(NamedTuple):
    """A whole entry and where it is."""

    key: bytes
    payload: bytes
    at: int


class _Member(NamedTuple):
    """The whole entries of a member and where the next one starts; None: unfinished, torn or damaged."""

    entries: list[Entry]
    end: int | None


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

    def sync(self) -> None:
        """Wait until the disk has everything."""
        os.fsync(self._file)

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
    """Whether a living process holds the segment. Those who ask share their lock and do not see each other."""
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
            member = _inflate(file.fileno(), offset)
            yield from member.entries
            offset = _next_start(file.fileno(), offset + 1) if member.end is None else member.end


def read_member(path: Path, offset: int) -> list[Entry]:
    """The whole entries of one member; none if the segment is gone."""
    try:
        with path.open("rb") as file:
            return _inflate(file.fileno(), offset).entries
    except FileNotFoundError:
        return []


def _inflate(file: int, offset: int, step: int = _CHUNK) -> _Member:
    """Inflate one member; a damaged one once more byte by byte, for what stands before the damage."""
    inflate, out, at = zlib.decompressobj(31), bytearray(), offset
    while not inflate.eof and (chunk := os.pread(file, step, at)):
        try:
            out += inflate.decompress(chunk)
        except zlib.error:
            if step > 1:
                return _inflate(file, offset, step=1)
            break
        at += len(chunk)
    return _Member(_whole(bytes(out), offset), at - len(inflate.unused_data) if inflate.eof else None)


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
