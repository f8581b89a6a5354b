"""Paths that data name: they are resolved below a root and may never leave it."""

from __future__ import annotations

from pathlib import Path, PurePosixPath, PureWindowsPath

from components.files.rows import Row


def inside(root: Path, row: Row, key: str, name: str, how: str = "") -> Path:
    """The path that ``row[key]`` names below ``root``, absolute.

    Raises ConfigError for a name that leads out of the root, also through a link, and for a path that is not
    there; ``how`` says how to get it.
    """
    base = root.resolve()
    path = _resolved(base, name)
    if path is None or path == base or not path.is_relative_to(base):
        raise row.error(key, f"must be a relative path below {root}, found {name!r:.200}")
    if not path.exists():
        raise row.error(key, f"there is no {path}{f'; {how}' if how else ''}")
    for below in path.rglob("*") if path.is_dir() else ():
        if not below.resolve().is_relative_to(base):
            raise row.error(key, f"{name!r:.200} holds {below.name!r}, a link that leads out of {root}")
    return path


def _resolved(base: Path, name: str) -> Path | None:
    """The path, links followed; None for a name that no file below ``base`` can have."""
    posix, windows = PurePosixPath(name), PureWindowsPath(name)
    if posix.is_absolute() or windows.anchor or ".." in windows.parts or "\0" in name:
        return None
    try:
        path = (base / posix).resolve()
        path.exists()  # too long a name is found out here
    except (OSError, RuntimeError):  # RuntimeError: links in a circle
        return None
    return path
