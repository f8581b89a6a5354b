"""What of the machine a cell may read, never the project's own packages, and the one folder that it may write."""

import contextlib
import os
import stat
import sys
import sysconfig
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from components.sandbox import kernel as k

SCRATCH = "/scratch"
DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")
PROJECT = Path(__file__).resolve().parents[2]  # holds the project's packages: a checkout, or the installed libraries
HIDDEN = tuple(str(PROJECT / name) for name in ("components", "runner", "conf"))
_ZONES = "/usr/share/zoneinfo"
_MOST_FILES = 4096  # in the scratch folder
_MOST_DEPTH = 100  # of folders in folders; a path may have 4,096 letters
BWRAP_SLOTS = [f"/cells/{number}" for number in range(128)]  # scratch folders of the episodes of one zygote


def interpreter() -> list[str]:
    """Folders of the interpreter and its libraries, none below another, and the table of time zones."""
    mapped = [
        line.split(maxsplit=5)[-1] for line in Path("/proc/self/maps").read_text().splitlines() if " r-xp " in line
    ]
    loaded = {os.path.dirname(file) for file in mapped if ".so" in file and file.startswith("/")}
    installed = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    prefixes = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}
    folders = {*prefixes, _ZONES, *installed, *loaded}
    return outermost(path for path in folders if path and os.path.isdir(path) and path != "/")


def outermost(paths: Iterable[str]) -> list[str]:
    """The paths that do not lie below another of them."""
    found: list[str] = []
    for path in sorted({os.path.abspath(path) for path in paths}):
        if not any(within(path, other) for other in found):
            found.append(path)
    return found


def within(path: str, folder: str) -> bool:
    """Whether a path is a folder or lies below it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def without(paths: Iterable[str], refused: Iterable[str]) -> list[str]:
    """The same paths, but folders that hold something refused replaced by their other entries."""
    allowed, refused = [], list(refused)
    for path in paths:
        if any(within(path, other) for other in refused):
            continue
        inside = [other for other in refused if within(other, path)]
        if inside and os.path.isdir(path):
            allowed += without((os.path.join(path, name) for name in sorted(os.listdir(path))), inside)
        else:
            allowed.append(path)
    return allowed


def leave_project() -> None:
    """Remove the project from where this process looks for modules; what is imported stays."""
    root = str(PROJECT)
    libraries = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    others = [entry for entry in sys.path if entry in libraries or (entry and os.path.abspath(entry) != root)]
    sys.path[:] = [entry for entry in others if "__editable__" not in entry]
    sys.path_hooks[:] = [hook for hook in sys.path_hooks if "editable" not in getattr(hook, "__module__", "")]
    sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in getattr(finder, "__module__", "")]
    sys.path_importer_cache.clear()


@dataclass(frozen=True)
class Folder:
    """A folder of the machine that cells may write, empty before every cell. Its size is checked now and then, which
    suffices only where files cannot lose their names (``kernel.keep_names``)."""

    size: int
    path: str
    watched: ClassVar[bool] = True  # its size has to be checked: nothing else limits it

    def dirty(self) -> bool:
        """Whether it holds something."""
        return bool(os.listdir(self.path))

    def empty(self) -> None:
        """Make it empty."""
        remove_inside(Path(self.path))

    def exceeded(self) -> bool:
        """Whether there are more files or bytes than may be; what cannot be checked counts as too much."""
        taken, entries, todo = 0, 0, [(self.path, 0)]
        with contextlib.suppress(OSError):  # too deep, or no access
            while todo:
                folder, depth = todo.pop()
                with os.scandir(folder) as inside:
                    for entry in inside:
                        entries += 1
                        if entry.is_dir(follow_symlinks=False):
                            todo.append((entry.path, depth + 1))
                        taken += os.lstat(entry.path).st_blocks * 512
                        if entries > _MOST_FILES or taken > self.size or depth > _MOST_DEPTH:
                            return True
            return False
        return True


class Mounted(Folder):
    """A file system in memory, mounted before the episode: the kernel limits its bytes, not its files."""

    def exceeded(self) -> bool:
        """Whether there are more files than may be, also those without a name."""
        usage = os.statvfs(self.path)
        return usage.f_files - usage.f_ffree > _MOST_FILES


class Memory(Folder):
    """A file system in memory of the process tree's own, which the kernel limits and drops."""

    watched = False

    def mount(self) -> None:
        """Mount it over the existing path."""
        attributes = k.MS_NOSUID | k.MS_NODEV | k.MS_NOEXEC
        k.mount("tmpfs", self.path, "tmpfs", attributes, f"size={self.size},nr_inodes={_MOST_FILES},mode=700")

    def empty(self) -> None:
        """Replace it by an empty one; files that are open in the old one end with their process."""
        k.unmount(self.path, k.DETACH)
        self.mount()


def remove(folder: Path) -> None:
    """Remove a folder with everything in it; what cannot be removed stays."""
    with contextlib.suppress(OSError):
        remove_inside(folder)
        folder.rmdir()


def remove_inside(folder: Path) -> None:
    """Remove everything in a folder, without following a link; inner folders are moved up, so no path grows long."""
    moved, prefix = 0, os.urandom(8).hex()  # names that no cell can know
    while names := os.listdir(folder):
        for name in names:
            entry = folder / name
            if not stat.S_ISDIR(entry.lstat().st_mode):
                entry.unlink()
                continue
            entry.chmod(0o700)
            for inner in list(os.scandir(entry)):
                if inner.is_dir(follow_symlinks=False):
                    os.chmod(inner.path, 0o700)
                moved += 1
                os.rename(inner.path, folder / f"{prefix}-{moved}")
            entry.rmdir()
