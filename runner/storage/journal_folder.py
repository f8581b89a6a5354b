"""The folder of a journal: which segments are sealed, dead or live, and the indices over the sealed ones.

A segment is sealed when an index covers it at its present size. One that is not is live while its writer
holds the lock, and dead otherwise: its process was killed, and the next opener seals it. Index files are
found by what they cover; whoever changes them for others holds ``.lock``.
"""

import fcntl
import io
import logging
import os
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import RLock, Thread

from runner.storage.journal_index import DamagedIndex, Index, Place, Rows, merge, rows_of, word_of, write
from runner.storage.journal_segment import Writer, has_writer, scan

_MAX_INDICES, _KEPT_INDICES = 6, 3
_LIVE_BYTES = 1 << 19
_LOOKS = 50
_LEFTOVER_SECONDS = 3600.0


@dataclass
class Stats:
    """Counts since opening. ``repaired``: segments of killed processes that were sealed here."""

    written: int = 0
    hits: int = 0
    misses: int = 0
    repaired: int = 0


class Folder:
    """What one journal knows of its folder."""

    def __init__(self, path: Path, read_only: bool) -> None:
        self.path, self.read_only, self.stats = path, read_only, Stats()
        self._segments: dict[str, int] = {}  # name -> size
        self._indices: tuple[Index, ...] = ()
        self._live: dict[bytes, Place] = {}
        self._damaged: set[str] = set()
        self._looking = RLock()  # taken after the folder's lock, never before
        self._merging: Thread | None = None
        if not read_only:
            path.mkdir(parents=True, exist_ok=True)
        self._open()

    @property
    def youngest(self) -> int:
        """The time in the name of the youngest known segment."""
        return max((int(name[:20]) for name in self._segments), default=0)

    def names(self) -> list[str]:
        """All segments there are now, oldest first."""
        return sorted(path.name for path in self.path.glob("[0-9]*.segment"))

    def find(self, key: bytes) -> list[Place]:
        """Where the entry of ``key`` may be."""
        word, places = word_of(key), list[Place]()
        for index in self._indices:
            try:
                if found := index.find(word):
                    places += found
            except DamagedIndex as damage:
                self._rebuild(damage.name)
                return self.find(key)
        if key in self._live:
            places.append(self._live[key])
        return places

    def seal(self, writer: Writer) -> None:
        """Index our own segment, then give up its lock; take in what others sealed meanwhile."""
        writer.finish()
        self._save({writer.path.name: writer.size}, [rows_of((0, key, at) for key, at in writer.places.items())])
        writer.release()
        self._look()
        self._merge_behind()

    def wait(self) -> None:
        """Wait for the thread that merges indices, if there is one."""
        if self._merging is not None:
            self._merging.join()

    def _open(self) -> None:
        """Look around and seal the dead; of openers that race the first one does it, the others wait."""
        self._look()
        dead, live = self._uncovered()
        if dead and self.read_only:
            self._indices += (_held(self._sizes(dead), [self._scanned(dead)]),)
        elif dead:
            with self._locked():
                self._look()
                dead, live = self._uncovered()
                if dead:
                    self._save(self._sizes(dead), [self._scanned(dead)])
                    self.stats.repaired += len(dead)
                    self._look()
        self._live = dict(self._scan_live(live))
        self._merge_behind()

    def _look(self) -> list[Path]:
        """Take in segments and the fewest indices that cover what any covers; returns files nobody needs."""
        with self._looking:
            segments, indices, spare = self._listing()
            missing, chosen = dict(segments), list[Index]()
            for index in sorted(indices, key=lambda index: -len(index.segments)):
                new = [name for name, size in index.segments.items() if missing.get(name) == size]
                if new:
                    chosen.append(index)
                else:
                    spare.append(self.path / index.name)
                for name in new:
                    del missing[name]
            self._segments, self._indices = segments, tuple(chosen)
            return spare

    def _listing(self) -> tuple[dict[str, int], list[Index], list[Path]]:
        """The segments, the whole indices, and what is neither: damaged indices, leftovers of killed processes."""
        for _ in range(_LOOKS):
            with suppress(FileNotFoundError):  # another process merged indices while we were listing them
                return self._list()
        return self._list()

    def _list(self) -> tuple[dict[str, int], list[Index], list[Path]]:
        segments, indices, spare = dict[str, int](), list[Index](), list[Path]()
        known = {index.name: index for index in self._indices}
        for file in self._files():
            if file.name.endswith(".segment") and file.name[:20].isdigit():
                segments[file.name] = file.stat().st_size
            elif file.name.endswith(".index") and file.name not in self._damaged:
                try:
                    indices.append(known.get(file.name) or Index.load(Path(file.path)))
                except DamagedIndex:
                    spare.append(Path(file.path))
            elif file.name.endswith(".tmp") and file.stat().st_mtime < time.time() - _LEFTOVER_SECONDS:
                spare.append(Path(file.path))
        return segments, indices, spare

    def _files(self) -> list[os.DirEntry[str]]:
        if not self.path.is_dir():
            return []
        with os.scandir(self.path) as files:
            return list(files)

    def _uncovered(self) -> tuple[list[str], list[str]]:
        """Dead and live segments, oldest first."""
        covered = {item for index in self._indices for item in index.segments.items()}
        dead, live = list[str](), list[str]()
        for name in sorted(name for name, size in self._segments.items() if (name, size) not in covered):
            (live if has_writer(self.path / name) else dead).append(name)
        return dead, live

    def _sizes(self, dead: Iterable[str]) -> dict[str, int]:
        """Asked once more: a writer may have gone on after it was listed and before it died."""
        return {name: (self.path / name).stat().st_size for name in dead}

    def _scanned(self, names: Iterable[str]) -> Rows:
        return rows_of((n, entry.key, entry.at) for n, name in enumerate(names) for entry in scan(self.path / name))

    def _scan_live(self, names: Iterable[str]) -> Iterator[tuple[bytes, Place]]:
        """What other processes are writing, as far as can be read without delay; of one key the oldest comes last."""
        left, found = _LIVE_BYTES, list[tuple[bytes, Place]]()
        for name in names:
            found += [(entry.key, Place(name, entry.at)) for entry in scan(self.path / name, left)]
            left -= self._segments[name]
        return reversed(found)

    def _rebuild(self, name: str) -> None:
        """Do without a damaged index: what it covered is uncovered now, so opening indexes it again."""
        self._damaged.add(name)
        if not self.read_only:
            (self.path / name).unlink(missing_ok=True)
        self._open()

    def _save(self, segments: Mapping[str, int], runs: Iterable[Rows]) -> None:
        path = self.path / f"{secrets.token_hex(8)}.index"
        with path.with_suffix(".tmp").open("xb") as out:
            write(out, segments, runs)
        path.with_suffix(".tmp").replace(path)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with (self.path / ".lock").open("wb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            try:
                yield
            finally:
                fcntl.flock(file, fcntl.LOCK_UN)  # said, since a child forked meanwhile has the file open too

    def _merge_behind(self) -> None:
        if len(self._indices) > _MAX_INDICES and (self._merging is None or not self._merging.is_alive()):
            self._merging = Thread(target=self._merge, name="journal-merge", daemon=True)
            self._merging.start()

    def _merge(self) -> None:
        """Merge indices, so that a miss asks few of them. It may fail: they stay as they are."""
        try:
            if self.read_only:
                due = self._indices
                segments = _segments_of(due)
                self._indices = (_held(segments, merge(due, segments)),)
                return
            with self._locked():
                self._look()
                if len(self._indices) > _MAX_INDICES:
                    due = _due(self._indices)
                    segments = _segments_of(due)
                    self._save(segments, merge(due, segments))
                for path in self._look():
                    path.unlink(missing_ok=True)
        except DamagedIndex as damage:
            self._rebuild(damage.name)
        except OSError as error:
            logging.getLogger(__name__).warning("the indices of %s were not merged: %s", self.path, error)


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


def _held(segments: Mapping[str, int], runs: Iterable[Rows]) -> Index:
    """An index in memory."""
    out = io.BytesIO()
    write(out, segments, runs)
    return Index(out.getvalue())
