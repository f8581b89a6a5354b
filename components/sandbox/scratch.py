"""The folder that a cell may write: empty before every cell, limited in size, gone at the end."""

import contextlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from components.sandbox import namespaces

_ENTRIES = 4096
_DEPTH = 100  # of folders in folders; a path may have 4,096 letters


class Scratch(Protocol):
    """Where cells may write."""

    @property
    def size(self) -> int:
        """How many bytes it may hold."""

    @property
    def path(self) -> str:
        """The folder as cells see it."""

    @property
    def watched(self) -> bool:
        """Whether its size has to be looked at: nothing else limits it."""

    def dirty(self) -> bool:
        """Whether it holds something."""

    def empty(self) -> None:
        """Make it empty."""

    def exceeded(self) -> bool:
        """Whether it holds more than allowed."""


@dataclass(frozen=True)
class Memory:
    """A file system in memory of the process tree's own, which the kernel limits and drops."""

    size: int
    path: str = namespaces.SCRATCH
    watched: bool = False

    def dirty(self) -> bool:
        """Whether it holds something."""
        return bool(os.listdir(self.path))

    def empty(self) -> None:
        """Make it empty."""
        namespaces.renew_scratch(self.size)

    def exceeded(self) -> bool:
        """Never: writing fails before."""
        return False


@dataclass(frozen=True)
class Folder:
    """A folder of the machine; its size is looked at now and then, so it may be exceeded for a moment.

    Holds only where files cannot lose their names: components.sandbox.landlock.keep_names.
    """

    size: int
    path: str
    watched: bool = True

    def dirty(self) -> bool:
        """Whether it holds something."""
        return bool(os.listdir(self.path))

    def empty(self) -> None:
        """Make it empty."""
        remove_inside(Path(self.path))

    def exceeded(self) -> bool:
        """Whether there are more files or bytes than may be."""
        try:
            return self._looked()
        except OSError:  # too deep, or barred: what cannot be looked at is not held
            return True

    def _looked(self) -> bool:
        taken, entries, todo = 0, 0, [(self.path, 0)]
        while todo:
            folder, depth = todo.pop()
            with os.scandir(folder) as inside:
                for entry in inside:
                    entries += 1
                    if entry.is_dir(follow_symlinks=False):
                        todo.append((entry.path, depth + 1))
                    taken += os.lstat(entry.path).st_blocks * 512
                    if entries > _ENTRIES or taken > self.size or depth > _DEPTH:
                        return True
        return False


@dataclass(frozen=True)
class Mounted(Folder):
    """A file system in memory of its own, made before the episode: the kernel limits its bytes, not its files."""

    def exceeded(self) -> bool:
        """Whether there are more files than may be, also those without a name."""
        usage = os.statvfs(self.path)
        return usage.f_files - usage.f_ffree > _ENTRIES


def remove(folder: Path) -> None:
    """Remove a folder with everything in it; what cannot be removed stays."""
    with contextlib.suppress(OSError):
        remove_inside(folder)
        folder.rmdir()


def remove_inside(folder: Path) -> None:
    """Remove everything in a folder, however deep, without following a link.

    Folders inside folders are moved up first, so that no path grows long.
    """
    moved = 0
    while names := os.listdir(folder):
        for name in names:
            entry = folder / name
            if not stat.S_ISDIR(entry.lstat().st_mode):
                entry.unlink()
                continue
            entry.chmod(0o700)
            for inner in os.listdir(entry):
                if stat.S_ISDIR((entry / inner).lstat().st_mode):
                    (entry / inner).chmod(0o700)
                    moved += 1
                    os.rename(entry / inner, folder / f".{moved}-{os.getpid()}")
                else:
                    (entry / inner).unlink()
            entry.rmdir()
