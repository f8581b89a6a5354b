"""The journal: an append-only, content-addressed log of finished calls, shared by processes through a folder.

A segment is sealed when an index covers it at its present size. One that is not is live while its writer holds the
lock, and dead otherwise: its process was killed, and the next process that opens the journal seals it. Index files are
found by what they cover; a process that replaces them holds ``.lock``.
"""

import io
import logging
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from threading import RLock, Thread
from typing import Self

from runner.storage import disk
from runner.storage.journal_files import (
    MEMBER_ENTRIES,
    Entry,
    Index,
    Place,
    Rows,
    Writer,
    has_writer,
    merge,
    read_member,
    rows_of,
    scan,
    word_of,
    write,
)

log = logging.getLogger(__name__)

_SEGMENT_ENTRIES = 1 << 14
_CACHED_MEMBERS = 64
_MAX_INDICES, _KEPT_INDICES = 6, 3
_LIVE_BYTES = 1 << 19
_LISTINGS = 50
_LEFTOVER_SECONDS = 3600.0


class Journal:
    """See the module; ``read_only`` creates nothing. For one thread; indices are merged in another.

    A process writes a segment of its own, sealed after 16,384 entries and on ``close``. An entry survives
    kill -9 once ``put`` returned. What can be read: our own entries, what was sealed or dead when the journal
    was opened (or last sealed a segment), and the first 512 kB, in all, of what other processes were writing
    when it was opened. Where several segments hold a key, the oldest one's entry counts. ``repaired``: segments of
    killed processes that were sealed here.
    """

    def __init__(self, folder: Path, *, read_only: bool = False) -> None:
        self.folder, self.read_only, self.repaired = folder, read_only, 0
        self._writer: Writer | None = None
        self._members: dict[tuple[str, int], list[Entry]] = {}
        self._segments: dict[str, int] = {}  # name -> size
        self._indices: tuple[Index, ...] = ()
        self._updating = RLock()  # taken after the folder's lock, never before
        self._merging: Thread | None = None
        if not read_only:
            folder.mkdir(parents=True, exist_ok=True)
        self._live = self._open()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get(self, key: bytes) -> bytes | None:
        """The payload that was first written under ``key`` (32 bytes), or None."""
        word = word_of(_checked(key))
        places = [place for index in self._indices for place in index.find(word)]
        if key in self._live:
            places.append(self._live[key])
        places.sort()
        if self._writer is not None and key in self._writer.places:
            places.append(Place(self._writer.path.name, self._writer.places[key]))
        for place in places:
            if (payload := self._read(place, key)) is not None:
                return payload
        return None

    def put(self, key: bytes, payload: bytes) -> None:
        """Append an entry with one write; a key we are writing already stays as it is. Raises Unwritable."""
        if self.read_only:
            raise io.UnsupportedOperation(f"the journal {self.folder} is opened read_only: it takes no entries")
        try:
            if self._writer is None:
                self._writer = Writer(self.folder, max((int(name[:20]) for name in self._segments), default=0))
            if _checked(key) in self._writer.places:
                return
            self._writer.put(key, payload)
            if len(self._writer.places) >= _SEGMENT_ENTRIES:
                self._seal()
        except OSError as error:
            raise disk.Unwritable(self.folder, error) from None

    def entries(self) -> Iterator[tuple[bytes, bytes]]:
        """All whole entries (key, payload), oldest segment first; a key may come more than once."""
        for path in sorted(self.folder.glob("[0-9]*.segment")):
            for entry in scan(path):
                yield entry.key, entry.payload

    def close(self) -> None:
        """Seal our segment and wait for indices that are being merged. The journal can still be read."""
        try:
            self._seal()
        except OSError as error:  # nothing is lost: the next process that opens the journal seals it
            log.warning("the journal %s was not sealed: %s", self.folder, error.strerror or error)
            if self._writer is not None:
                self._writer.release()
                self._writer = None
        if self._merging is not None:
            self._merging.join()

    def _read(self, place: Place, key: bytes) -> bytes | None:
        """The payload at ``place``, if it is that of ``key``. The members read last are cached."""
        offset, nth = divmod(place.at, MEMBER_ENTRIES)
        entries = self._members.get((place.segment, offset), [])
        if nth >= len(entries):
            entries = read_member(self.folder / place.segment, offset)
            if len(self._members) >= _CACHED_MEMBERS:
                del self._members[next(iter(self._members))]
            self._members[place.segment, offset] = entries
        return entries[nth].payload if nth < len(entries) and entries[nth].key == key else None

    def _seal(self) -> None:
        """Index our own segment, then give up its lock; take in what others sealed meanwhile."""
        if (writer := self._writer) is not None:
            writer.finish()
            self._save({writer.path.name: writer.size}, [rows_of((0, key, at) for key, at in writer.places.items())])
            writer.release()
            self._writer = None
            self._update()
            self._merge_in_background()

    def _open(self) -> dict[bytes, Place]:
        """Seal the dead segments; of processes that race the first one does it, the others wait. Returns the entries of
        live ones."""
        self._update()
        dead, live = self._unsealed()
        if dead and self.read_only:
            self._indices += (_in_memory(*self._contents(dead)),)
        elif dead:
            with disk.locked(self.folder / ".lock"):
                self._update()
                dead, live = self._unsealed()
                if dead:
                    self._save(*self._contents(dead))
                    self.repaired += len(dead)
                    self._update()
        self._merge_in_background()
        return dict(self._scan_live(live))

    def _update(self) -> list[Path]:
        """Take in segments and the fewest indices that cover what any covers; returns files nobody needs."""
        with self._updating:
            segments, indices, spare = self._list()
            missing, chosen = dict(segments), list[Index]()
            for index in sorted(indices, key=lambda index: -len(index.segments)):
                new = [name for name, size in index.segments.items() if missing.get(name) == size]
                if new:
                    chosen.append(index)
                else:
                    spare.append(self.folder / index.name)
                for name in new:
                    del missing[name]
            self._segments, self._indices = segments, tuple(chosen)
            return spare

    def _list(self, tries: int = _LISTINGS) -> tuple[dict[str, int], list[Index], list[Path]]:
        """The segments, the whole indices, and what is neither: damaged indices, leftovers of killed processes."""
        segments, indices, spare = dict[str, int](), list[Index](), list[Path]()
        known = {index.name: index for index in self._indices}
        try:
            for path in sorted(self.folder.iterdir()) if self.folder.is_dir() else ():
                if path.suffix == ".segment" and path.name[:20].isdigit():
                    segments[path.name] = path.stat().st_size
                elif path.suffix == ".index":
                    try:
                        indices.append(known.get(path.name) or Index.load(path))
                    except ValueError:
                        spare.append(path)
                elif path.suffix == ".tmp" and path.stat().st_mtime < time.time() - _LEFTOVER_SECONDS:
                    spare.append(path)
        except FileNotFoundError:  # another process merged indices meanwhile
            if not tries:
                raise
            return self._list(tries - 1)
        return segments, indices, spare

    def _unsealed(self) -> tuple[list[str], list[str]]:
        """Dead and live segments, oldest first."""
        covered = {item for index in self._indices for item in index.segments.items()}
        dead, live = list[str](), list[str]()
        for name in sorted(name for name, size in self._segments.items() if (name, size) not in covered):
            (live if has_writer(self.folder / name) else dead).append(name)
        return dead, live

    def _contents(self, dead: Iterable[str]) -> tuple[dict[str, int], list[Rows]]:
        """Sizes and rows, read again: a writer may have continued after it was listed and before it died."""
        sizes = {name: (self.folder / name).stat().st_size for name in dead}
        rows = rows_of((n, entry.key, entry.at) for n, name in enumerate(sizes) for entry in scan(self.folder / name))
        return sizes, [rows]

    def _scan_live(self, names: Iterable[str]) -> Iterator[tuple[bytes, Place]]:
        """What other processes are writing, as far as can be read without delay; of one key the oldest comes last."""
        left, found = _LIVE_BYTES, list[tuple[bytes, Place]]()
        for name in names:
            found += [(entry.key, Place(name, entry.at)) for entry in scan(self.folder / name, left)]
            left -= self._segments[name]
        return reversed(found)

    def _save(self, segments: Mapping[str, int], runs: Iterable[Rows]) -> None:
        path = self.folder / f"{secrets.token_hex(8)}.index"
        with path.with_suffix(".tmp").open("xb") as out:
            write(out, segments, runs)
        path.with_suffix(".tmp").replace(path)

    def _merge_in_background(self) -> None:
        if len(self._indices) > _MAX_INDICES and (self._merging is None or not self._merging.is_alive()):
            self._merging = Thread(target=self._merge, name="journal-merge", daemon=True)
            self._merging.start()

    def _merge(self) -> None:
        """Merge indices, so that a miss searches few of them. It may fail: they stay as they are."""
        try:
            if self.read_only:
                segments = _segments_of(self._indices)
                self._indices = (_in_memory(segments, merge(self._indices, segments)),)
                return
            with disk.locked(self.folder / ".lock"):
                self._update()
                if len(self._indices) > _MAX_INDICES:
                    due = _due(self._indices)
                    self._save(segments := _segments_of(due), merge(due, segments))
                for path in self._update():
                    path.unlink(missing_ok=True)
        except OSError as error:
            log.warning("the indices of %s were not merged: %s", self.folder, error)


def _checked(key: bytes) -> bytes:
    if len(key) != 32:
        raise ValueError(f"a key of the journal has 32 bytes, found {len(key)}: {key!r}")
    return key


def _due(indices: Iterable[Index]) -> tuple[Index, ...]:
    """The smallest, until few are left and each of these is larger than all that are merged."""
    due, total = list[Index](), 0
    queue = sorted(indices, key=lambda index: index.size)
    for left, index in zip(range(len(queue), 0, -1), queue, strict=True):
        if left < _KEPT_INDICES and index.size > total:
            break
        due.append(index)
        total += index.size
    return tuple(due)


def _segments_of(indices: Iterable[Index]) -> dict[str, int]:
    """What several indices cover, oldest first."""
    return dict(sorted(item for index in indices for item in index.segments.items()))


def _in_memory(segments: Mapping[str, int], runs: Iterable[Rows]) -> Index:
    """An index that no file holds: of a journal that is only read."""
    out = io.BytesIO()
    write(out, segments, runs)
    return Index(out.getvalue())
