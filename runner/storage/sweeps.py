"""Which sweep a job is of: a tag in a file of the sweep's folder, whose jobs may lie deeper, and which may be moved."""

import re
from pathlib import Path
from uuid import uuid4

from runner.storage import disk

FILE = ".sweep"
_TAG = re.compile(r"([\w\-. ]+)-[0-9a-f]{8}", re.ASCII)  # trackers take no other characters


def tag_of(home: Path) -> str:
    """The tag of the sweep in a folder, made where it is missing or damaged: the folder's name and an id, as two sweeps
    may begin in the same second. Raises OSError."""
    if tag := _read(home):
        return tag
    home.mkdir(parents=True, exist_ok=True)
    with disk.locked(path := home / FILE):  # jobs on several machines may begin at once
        if not (tag := _read(home)):
            path.write_text(tag := f"{_safe(home.absolute().name)}-{uuid4().hex[:8]}", encoding="utf-8")
    return tag


def home_of(folder: Path, name: str) -> Path | None:
    """The folder of the sweep of this name in which a job's lies; None where that was moved out. Raises OSError."""
    above = folder.absolute().parents
    tagged = (home for home in above if name_of(_read(home)) == _safe(name))
    named = (home for home in above if home.name == name)  # it was not tracked when it ran
    return next(tagged, None) or next(named, None)


def name_of(tag: str) -> str:
    """The name in a tag."""
    return tag[:-9]


def _read(home: Path) -> str:
    path = home / FILE
    tag = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    return tag if _TAG.fullmatch(tag) else ""


def _safe(name: str) -> str:
    return re.sub(r"[^\w\-. ]", "_", name, flags=re.ASCII)[:200]
