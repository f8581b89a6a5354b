"""The journal: an append-only, content-addressed log of finished calls, shared by processes through a folder.

A segment is sealed when an index covers it at its present size. One that is not is live while its writer holds the
lock, and dead otherwise: its process was killed, and the next process that opens the journal seals it. Index files are
found by what they cover; a process that replaces them holds ``.lock``.
"""

import io
import logging
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from threading import Lock, Thread

from runner.storage import disk, journal_files
from runner.storage.journal_files import MEMBER_ENTRIES, Entry, Index, Place, Writer

log = logging.getLogger(__name__)

_SEGMENT_ENTRIES = 1 << 14
_CACHED_MEMBERS = 64
_MAX_INDICES = 6
_LIVE_BYTES = 1 << 19
_LISTINGS = 50
_LEFTOVER_SECONDS = 3600.0


class Journal(AbstractContextManager["Journal"]):
    """See the module; ``read_only`` creates nothing. For one thread; indices are merged in another. A process writes
    a segment of its own, sealed after 16,384 entries and on ``close``. An entry survives kill -9 once ``put`` returned.
    What can be read: our own entries, what was sealed or dead when the journal was opened (or last sealed a segment),
    and the first 512 kB, in all, of what other processes were writing when it was opened. Where several segments hold a
    key, the oldest one's entry counts. ``repaired``: segments of killed processes that were sealed
    here."""

    def __init__(self, folder: Path, *, read_only: bool = False) -> None:
        self.folder, self.read_only, self.repaired = folder, read_only, 0
        self._answered = ""  # the newest segment that answered
        self._writer: Writer | None = None
        self._members: dict[tuple[str, int], list[Entry]] = {}
        self._segments: dict[str, int] = {}  # name -> size
        self._indices: list[Index] = []  # replaced as a whole: both threads read it
        self._updating = Lock()  # taken after the folder's lock, never before
        self._merging: Thread | None = None
        if not read_only:
            folder.mkdir(parents=True, exist_ok=True)
        self._update()
        dead, live = self._unsealed()
        if dead:  # of processes that race the first one seals, the others wait
            with nullcontext() if read_only else disk.locked(folder / ".lock"):
                self._update()
                dead, live = self._unsealed()
                if dead:
                    self._seal_dead(dead)
        self._live: dict[bytes, Place] = {}
        left = _LIVE_BYTES  # of what other processes are writing, as far as can be read without delay
        for name in live:
            for entry in journal_files.scan(folder / name, left):
                self._live.setdefault(entry.key, Place(name, entry.at))
            left -= self._segments[name]
        self._merge_in_background()

    def __exit__(self, *_: object) -> None:
        self.close()

    def get(self, key: bytes) -> bytes | None:
        """The payload that was first written under ``key`` (32 bytes), or None."""
        places: list[Place] = []
        if self._indices:
            word = journal_files.word_of(key)
            places = [place for index in self._indices for place in index.find(word)]
        if key in self._live:
            places.append(self._live[key])
        places.sort()
        if self._writer is not None and key in self._writer.places:
            places.append(Place(self._writer.path.name, self._writer.places[key]))
        for place in places:
            if (payload := self._read(place, key)) is not None:
                self._answered = max(self._answered, place.segment)
                return payload
        return None

    @property
    def last_written(self) -> float | None:
        """When the newest segment that ``get`` answered from was last written, in seconds since 1970."""
        path = self.folder / self._answered
        return path.stat().st_mtime if self._answered and path.exists() else None

    def reserve(self) -> None:
        """Open our segment, so that what it will hold is not paid for in vain. Raises Unwritable."""
        try:
            if self._writer is None:
                self._writer = Writer(self.folder, max((int(name[:20]) for name in self._segments), default=0))
        except OSError as error:
            raise disk.Unwritable(self.folder, error) from None

    def put(self, key: bytes, payload: bytes) -> None:
        """Append an entry with one write; a key we are writing already stays as it is. Raises Unwritable."""
        if self.read_only:
            raise io.UnsupportedOperation(f"the journal {self.folder} is opened read_only: it takes no entries")
        if len(key) != 32:
            raise ValueError(f"a key of the journal has 32 bytes, found {len(key)}: {key!r}")
        self.reserve()
        try:
            assert self._writer is not None, "it is reserved"
            if key in self._writer.places:
                return
            self._writer.put(key, payload)
            if len(self._writer.places) >= _SEGMENT_ENTRIES:
                self._seal()
        except OSError as error:
            raise disk.Unwritable(self.folder, error) from None

    def entries(self) -> Iterator[tuple[bytes, bytes]]:
        """All whole entries (key, payload), oldest segment first; a key may come more than once."""
        for path in sorted(self.folder.glob("[0-9]*.segment")):
            for entry in journal_files.scan(path):
                yield entry.key, entry.payload

    def close(self) -> None:
        """Seal our segment and wait for indices that are being merged. The journal can still be read."""
        try:
            self._seal()
        except OSError as error:  # nothing is lost: the next process that opens the journal seals it
            why = error.strerror or error
            log.warning("the journal %s was not sealed: %s; nothing is lost, the next run seals it", self.folder, why)
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
            try:
                with (self.folder / place.segment).open("rb") as file:
                    entries, _ = journal_files.read_member(file.fileno(), offset)
            except FileNotFoundError:
                return None
            if len(self._members) >= _CACHED_MEMBERS:
                del self._members[next(iter(self._members))]
            self._members[place.segment, offset] = entries
        return entries[nth].payload if nth < len(entries) and entries[nth].key == key else None

    def _seal(self) -> None:
        """Index our own segment, then give up its lock; take in what others sealed meanwhile."""
        if (writer := self._writer) is not None:
            writer.finish()
            entries = ((0, key, at) for key, at in writer.places.items())
            self._save(journal_files.index_of({writer.path.name: writer.size}, entries))
            writer.release()
            self._writer = None
            self._update()
            self._merge_in_background()

    def _seal_dead(self, dead: list[str]) -> None:
        """Index what killed processes wrote; sizes are read again, as one may have continued after it was listed."""
        sizes = {name: (self.folder / name).stat().st_size for name in dead}
        entries = (
            (n, entry.key, entry.at) for n, name in enumerate(dead) for entry in journal_files.scan(self.folder / name)
        )
        index = Index(data := journal_files.index_of(sizes, entries))
        if not index.columns[0]:
            message = "the journal %s is damaged: no entry in %d of its segments is whole, their calls are sent again"
            log.warning(message, self.folder, len(dead))
        if self.read_only:
            self._indices = [*self._indices, index]
        else:
            self._save(data)
            self._update()
            self.repaired += len(dead)

    def _update(self, *fresh: Index) -> list[Path]:
        """Take in segments and the fewest indices that cover what any covers; returns files nobody needs."""
        with self._updating:
            known = {index.name: index for index in (*self._indices, *fresh)}
            for tries in range(_LISTINGS):
                try:
                    segments, indices, spare = self._list(known)
                    break
                except FileNotFoundError:  # another process merged indices meanwhile
                    if tries == _LISTINGS - 1:
                        raise
            missing, chosen = dict(segments), list[Index]()
            for index in sorted(indices, key=lambda index: -len(index.segments)):
                new = [name for name, size in index.segments.items() if missing.get(name) == size]
                if new:
                    chosen.append(index)
                else:
                    spare.append(self.folder / index.name)
                for name in new:
                    del missing[name]
            self._segments, self._indices = segments, chosen
            return spare

    def _list(self, known: Mapping[str, Index]) -> tuple[dict[str, int], list[Index], list[Path]]:
        """The segments, the whole indices, and what is neither: damaged indices, leftovers of killed processes."""
        segments, indices, spare = dict[str, int](), list[Index](), list[Path]()
        for path in sorted(self.folder.iterdir()) if self.folder.is_dir() else ():
            try:
                if path.suffix == ".segment" and path.name[:20].isdigit():
                    segments[path.name] = path.stat().st_size
                elif path.suffix == ".index":
                    indices.append(known.get(path.name) or Index.load(path))
                elif path.suffix == ".tmp" and path.stat().st_mtime < time.time() - _LEFTOVER_SECONDS:
                    spare.append(path)
            except ValueError:
                spare.append(path)
        return segments, indices, spare

    def _unsealed(self) -> tuple[list[str], list[str]]:
        """Dead and live segments, oldest first."""
        covered = {item for index in self._indices for item in index.segments.items()}
        dead, live = list[str](), list[str]()
        for name in sorted(name for name, size in self._segments.items() if (name, size) not in covered):
            (live if journal_files.has_writer(self.folder / name) else dead).append(name)
        return dead, live

    def _save(self, data: bytes) -> Path:
        """Keep an index in a file."""
        path = self.folder / f"{secrets.token_hex(8)}.index"
        path.with_suffix(".tmp").write_bytes(data)
        return path.with_suffix(".tmp").replace(path)

    def _merge_in_background(self) -> None:
        if len(self._indices) > _MAX_INDICES and (self._merging is None or not self._merging.is_alive()):
            self._merging = Thread(target=self._merge, name="journal-merge", daemon=True)
            self._merging.start()

    def _merge(self) -> None:
        """Make one index of many, so that a miss searches few of them. It may fail: they stay as they are."""
        if self.read_only:
            self._indices = [Index(journal_files.merge_indices(self._indices))]
            return
        try:
            with disk.locked(self.folder / ".lock"):
                self._update()
                fresh = list[Index]()
                if len(self._indices) > _MAX_INDICES:
                    fresh.append(Index.load(self._save(journal_files.merge_indices(self._indices))))
                for path in self._update(*fresh):
                    path.unlink(missing_ok=True)
        except OSError as error:
            log.warning("the indices of %s were not merged: %s", self.folder, error)
