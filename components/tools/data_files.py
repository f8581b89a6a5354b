"""Where a tool's data are: shipped with the package, or a user's own file or folder."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal

from components.core.errors import ConfigError
from components.files.rows import Row, json_lines

Shipped = Literal["corpus", "drugs", "vocabulary", "web"]
_SHIPPED = Path(__file__).parent / "data"
_FILES: dict[Shipped, str] = {
    "corpus": "corpus", "drugs": "drugs.jsonl", "vocabulary": "vocabulary.jsonl", "web": "web.jsonl",
}  # fmt: skip


@dataclass(frozen=True)
class Stamp:
    """A file as it is now; another one when the file changes. ``path`` is absolute."""

    path: str
    changed: int
    size: int


def located(shipped: Shipped | None, path: str | None, what: str) -> Path:
    """The place of what is shipped, or of a user's own. Raises ConfigError unless one of both is named."""
    if (shipped is None) == (path is None):
        raise ConfigError(f"{what}: name either shipped or path, found shipped {shipped!r} and path {path!r}")
    return _SHIPPED / _FILES[shipped] if shipped is not None else Path(str(path)).expanduser()


def lacking(place: Path, how: str) -> str:
    """What is missing when there is nothing at a place; empty when there is."""
    return "" if place.exists() else f"there is no {place}: {how}"


def stamp(path: Path) -> Stamp:
    """The file's stamp."""
    found = path.stat()
    return Stamp(str(path.absolute()), found.st_mtime_ns, found.st_size)


def stamps(place: Path, suffixes: tuple[str, ...]) -> tuple[Stamp, ...]:
    """The stamps of a file, or of the files of these kinds in a folder, in the order of their names."""
    files = [place] if place.is_file() else sorted(path for path in place.iterdir() if path.suffix in suffixes)
    return tuple(stamp(path) for path in files)


def digest(salt: str, *files: Path) -> str:
    """32 hexadecimal digits that identify the files' contents in this order, and a salt."""
    whole = hashlib.sha256(salt.encode())
    for path in files:
        with path.open("rb") as file:
            whole.update(hashlib.file_digest(file, "sha256").digest())
    return whole.hexdigest()[:32]


def first_rows(place: Path) -> Iterator[Row]:
    """The first row of a .jsonl file, or of each in a folder: what can be checked before a run. Raises ConfigError."""
    for file in sorted(place.glob("*.jsonl")) if place.is_dir() else [place]:
        if file.is_file() and file.suffix == ".jsonl":
            yield from islice(json_lines(file), 1)
