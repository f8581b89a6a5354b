"""The journal: an append-only, content-addressed log of finished calls, shared by processes through a folder."""

import io
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from runner.storage.disk import Unwritable
from runner.storage.journal_folder import Folder
from runner.storage.journal_index import Place
from runner.storage.journal_segment import MEMBER_ENTRIES, Entry, Writer, read_member, scan

_SEGMENT_ENTRIES = 1 << 14
_CACHED_MEMBERS = 64


class Journal:
    """Append-only, content-addressed log of finished calls, shared by processes through a folder.

    A process writes a segment of its own, sealed after 16,384 entries and on ``close``. An entry survives
    kill -9 once ``put`` returned. What can be read: our own entries, what was sealed or dead when the journal
    was opened (or last sealed a segment), and the first 512 kB, in all, of what other processes were writing
    when it was opened. Where several segments hold a key, the oldest one's entry counts. ``read_only`` creates
    nothing. For one thread; indices are merged in another.
    """

    def __init__(self, folder: Path, *, read_only: bool = False) -> None:
        self.folder, self.read_only = folder, read_only
        self._folder = Folder(folder, read_only)
        self.stats = self._folder.stats
        self._writer: Writer | None = None
        self._members: dict[tuple[str, int], list[Entry]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get(self, key: bytes) -> bytes | None:
        """The payload that was first written under ``key`` (32 bytes), or None."""
        places = self._folder.find(_checked(key))
        if len(places) > 1:
            places.sort()
        if self._writer is not None and key in self._writer.places:
            places.append(Place(self._writer.path.name, self._writer.places[key]))
        for place in places:
            if (payload := self._read(place, key)) is not None:
                self.stats.hits += 1
                return payload
        self.stats.misses += 1
        return None

    def put(self, key: bytes, payload: bytes) -> None:
        """Append an entry with one write; a key we are writing already stays as it is. Raises Unwritable."""
        if self.read_only:
            raise io.UnsupportedOperation(f"the journal {self.folder} is opened read_only: it takes no entries")
        try:
            if self._writer is None:
                self._writer = Writer(self.folder, self._folder.youngest)
            if _checked(key) in self._writer.places:
                return
            self._writer.put(key, payload)
            self.stats.written += 1
            if len(self._writer.places) >= _SEGMENT_ENTRIES:
                self._seal()
        except OSError as error:
            raise Unwritable(self.folder, error) from None

    def entries(self) -> Iterator[tuple[bytes, bytes]]:
        """All whole entries (key, payload), oldest segment first; a key may come more than once."""
        for name in self._folder.names():
            for entry in scan(self.folder / name):
                yield entry.key, entry.payload

    def flush(self) -> None:
        """Wait until the disk has what was put. Only power loss needs it."""
        if self._writer is not None:
            self._writer.sync()

    def close(self) -> None:
        """Seal our segment and wait for what is being merged. The journal can still be read."""
        try:
            self._seal()
        except OSError as error:  # nothing is lost: whoever opens the journal next seals it
            logging.getLogger(__name__).warning(
                "the journal %s was not sealed: %s", self.folder, error.strerror or error
            )
            if self._writer is not None:
                self._writer.release()
                self._writer = None
        self._folder.wait()

    def _seal(self) -> None:
        if self._writer is not None:
            self._folder.seal(self._writer)
            self._writer = None

    def _read(self, place: Place, key: bytes) -> bytes | None:
        """The payload at ``place``, if it is that of ``key``. The members read last are kept."""
        offset, nth = divmod(place.at, MEMBER_ENTRIES)
        entries = self._members.get((place.segment, offset), [])
        if nth >= len(entries):
            entries = read_member(self.folder / place.segment, offset)
            if len(self._members) >= _CACHED_MEMBERS:
                del self._members[next(iter(self._members))]
            self._members[place.segment, offset] = entries
        return entries[nth].payload if nth < len(entries) and entries[nth].key == key else None


def _checked(key: bytes) -> bytes:
    if len(key) != 32:
        raise ValueError(f"a key of the journal has 32 bytes, found {len(key)}: {key!r}")
    return key
