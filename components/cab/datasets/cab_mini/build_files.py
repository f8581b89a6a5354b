"""Build the part of cab_mini that needs files: images, databases, documents and the ten tasks about them.

Everything comes from the YAML tables in this folder. Run
``python -m components.cab.datasets.cab_mini.build_files``; with ``--check`` nothing is written and the exit code
is 1 when a committed file differs from the tables. Images are compared by their pixels and databases by their
dump, as compressor and SQLite versions may pack the same content differently.
"""

from __future__ import annotations

import argparse
import io
import json
import sqlite3
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from PIL import Image

from components.cab.datasets.cab_mini import ehr_tasks, make_documents, make_images
from components.cab.datasets.cab_mini.cab_records import HERE, Record

FOLDERS = ("images", "databases", "documents")


def numbered(phases: Mapping[str, Sequence[Record]]) -> dict[str, list[Record]]:
    """The records of a task with ids that go on from phase to phase."""
    made: dict[str, list[Record]] = {}
    first = 1
    for phase, records in phases.items():
        made[phase] = [{"id": number, **row} for number, row in enumerate(records, start=first)]
        first += len(records)
    return made


def build() -> dict[str, bytes]:
    """All files of this part: path relative to the folder cab_mini -> content."""
    made: dict[str, bytes] = {}
    for part in (make_images.build(), ehr_tasks.build(), make_documents.build()):
        made.update(part.files)
        for task, phases in part.tasks.items():
            for phase, records in numbered(phases).items():
                text = json.dumps(records, indent=1, ensure_ascii=False) + "\n"
                made[f"{phase}/{task}.json"] = text.encode()
    return made


def dump(content: bytes) -> list[str]:
    """What a database holds, as statements."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(content)
        return list(connection.iterdump())


def pixels(content: bytes) -> tuple[str, tuple[int, int], bytes]:
    """Mode, size and pixels of an image."""
    with Image.open(io.BytesIO(content)) as image:
        return image.mode, image.size, image.tobytes()


CONTENT: Mapping[str, Callable[[bytes], object]] = {".png": pixels, ".sqlite": dump}


def same(path: Path, content: bytes) -> bool:
    """Whether a file holds this content."""
    if not path.is_file():
        return False
    meaning = CONTENT.get(path.suffix, bytes)
    return path.read_bytes() == content or meaning(path.read_bytes()) == meaning(content)


def stale(root: Path, files: Mapping[str, bytes]) -> list[str]:
    """Paths that are missing, hold something else, or lie in the built folders without being built."""
    wrong = [name for name, content in files.items() if not same(root / name, content)]
    present = [path for folder in FOLDERS for path in (root / folder).rglob("*") if path.is_file()]
    return wrong + [name for name in (path.relative_to(root).as_posix() for path in present) if name not in files]


def main(arguments: Sequence[str] | None = None, root: Path = HERE) -> int:
    """Write the files that differ, or only compare them; return the exit code."""
    parser = argparse.ArgumentParser(description="Build or check the images, databases and documents of cab_mini.")
    parser.add_argument("--check", action="store_true", help="compare only; exit 1 on a difference")
    check, files = parser.parse_args(arguments).check, build()
    names = stale(root, files)
    if check and names:
        sys.stderr.write(f"not what the tables give: {', '.join(sorted(names))}; run without --check\n")
        return 1
    for name in names:
        if name not in files:
            (root / name).unlink()
            continue
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(files[name])
    return 0


if __name__ == "__main__":
    sys.exit(main())
