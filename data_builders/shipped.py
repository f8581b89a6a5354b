"""Shipped files that a builder makes from hand-written tables: write them, or check that they are what it makes."""

import argparse
import io
import sqlite3
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

COMPONENTS = Path(__file__).resolve().parents[1] / "components"


def dump(content: bytes) -> list[str]:
    """Return the statements that make a database again: SQLite versions pack the same content differently."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(content)
        return list(connection.iterdump())


def pixels(content: bytes) -> object:
    """Return what an image shows: compressors pack the same picture differently."""
    from PIL import Image

    with Image.open(io.BytesIO(content)) as image:
        return image.mode, image.size, image.tobytes()


_MEANING: Mapping[str, Callable[[bytes], object]] = {".png": pixels, ".sqlite": dump}


def same(path: Path, content: bytes) -> bool:
    """Compare a file with a content, images by their pixels and databases by their statements."""
    if not path.is_file():
        return False
    meaning = _MEANING.get(path.suffix, bytes)
    return path.read_bytes() == content or meaning(path.read_bytes()) == meaning(content)


def stale(home: Path, files: Mapping[str, bytes], folders: Sequence[str] = ()) -> list[str]:
    """List paths that are missing or differ, or that lie in ``folders`` without being built."""
    wrong = [name for name, content in files.items() if not same(home / name, content)]
    present = [path for folder in folders for path in (home / folder).rglob("*") if path.is_file()]
    return wrong + [name for name in (path.relative_to(home).as_posix() for path in present) if name not in files]


def keep(home: Path, files: Mapping[str, bytes], check: bool, folders: Sequence[str] = ()) -> int:
    """Write the files that differ and remove those that are not built, or only compare; return the exit code."""
    names = stale(home, files, folders)
    if check and names:
        sys.stderr.write(f"not what the tables give: {', '.join(sorted(names))}; run without --check\n")
        return 1
    for name in names:
        if name in files:
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_bytes(files[name])
        else:
            (home / name).unlink()
    return 0


def arguments_of(what: str) -> argparse.ArgumentParser:
    """Make a parser of the one option that all builders have."""
    parser = argparse.ArgumentParser(description=f"Build or check {what}.", allow_abbrev=False)
    parser.add_argument("--check", action="store_true", help="compare only; exit 1 on a difference")
    return parser
