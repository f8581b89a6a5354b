"""What of the machine a cell may read: the interpreter and its libraries, never the project's own packages."""

import os
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

_PACKAGES = ("components", "runner", "conf")
_ZONES = "/usr/share/zoneinfo"
DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")


def project() -> Path:
    """The folder in which the project's packages lie: a checkout, or the installed libraries."""
    return Path(__file__).resolve().parents[2]


def hidden() -> tuple[str, ...]:
    """The project's own packages."""
    return tuple(str(project() / name) for name in _PACKAGES)


def _mapped() -> set[str]:
    """Folders of the shared libraries that this process has loaded."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    files = {line.split(maxsplit=5)[5] for line in lines if " r-xp " in line and "/" in line}
    return {os.path.dirname(file) for file in files if ".so" in file}


def interpreter() -> list[str]:
    """Folders of the interpreter and its libraries, none below another, and the table of time zones."""
    installed = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    found = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix, _ZONES, *installed, *_mapped()}
    return outermost(path for path in found if path and os.path.isdir(path) and path != "/")


def outermost(paths: Iterable[str]) -> list[str]:
    """The paths that do not lie below another of them."""
    kept: list[str] = []
    for path in sorted({os.path.abspath(path) for path in paths}):
        if not any(within(path, other) for other in kept):
            kept.append(path)
    return kept


def within(path: str, folder: str) -> bool:
    """Whether a path is a folder or lies below it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def without(paths: Iterable[str], refused: Iterable[str]) -> list[str]:
    """The same paths with folders that hold something refused opened up into their other entries."""
    kept, refused = [], list(refused)
    for path in paths:
        if any(within(path, other) for other in refused):
            continue
        inside = [other for other in refused if within(other, path)]
        if inside and os.path.isdir(path):
            kept += without((os.path.join(path, name) for name in sorted(os.listdir(path))), inside)
        else:
            kept.append(path)
    return kept


def leave_project() -> None:
    """Take the project from where this process looks for modules: what is imported stays, nothing more comes."""
    root = str(project())
    libraries = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    sys.path[:] = [entry for entry in sys.path if entry in libraries or (entry and os.path.abspath(entry) != root)]
    sys.path_hooks[:] = [hook for hook in sys.path_hooks if "editable" not in getattr(hook, "__module__", "")]
    sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in getattr(finder, "__module__", "")]
    for entry in [entry for entry in sys.path if "__editable__" in entry]:
        sys.path.remove(entry)
    sys.path_importer_cache.clear()
