"""What is not in MLflow yet: a marker per run, stage and sweep, a file next to the database, removed when it is sent.

The command that runs a job writes its marker before the first sample. So a kill of any process loses nothing: whoever
tracks next sends what has a marker and does not run. A lock keeps two processes from sending at the same time.
"""

import json
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from runner.storage import disk
from runner.tracking.store import place_of, short

NEWEST = "newest"  # the file that has the page of the newest run or sweep
_FOLDER, _NOTE = "unsent", "failed"


def mark(config: Mapping[str, Any], id: str, kind: str, folder: Path, **facts: Any) -> Path:
    """Write the marker of a run, a stage, a sweep or of what is made before a sweep. Raises OSError."""
    path = place_of(config["tracking"]["uri"]).absolute() / _FOLDER / f"{id}-{os.getpid()}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    work = {"kind": kind, "folder": str(folder.absolute()), "cwd": os.getcwd(), "config": config, **facts}
    fresh = path.with_suffix(".tmp")
    fresh.touch(0o600)  # an address of a server may have a password
    fresh.write_text(json.dumps(work, default=str), encoding="utf-8")
    fresh.replace(path)
    return path


def markers(place: Path) -> list[Path]:
    """All of them, what failed last at the end."""
    found = list[tuple[int, Path]]()
    for path in (place / _FOLDER).glob("*.json"):
        with suppress(FileNotFoundError):  # it is sent meanwhile
            found.append((path.stat().st_mtime_ns, path))
    return [path for _, path in sorted(found)]


def read(marker: Path) -> dict[str, Any] | None:
    """What to send; None where that was done."""
    try:
        work: dict[str, Any] = json.loads(marker.read_bytes())
    except FileNotFoundError:
        return None
    return work


def put_last(marker: Path) -> None:
    """Have others sent before it the next time."""
    os.utime(marker)


def discard(config: Mapping[str, Any], id: str) -> None:
    """Remove the markers of a run that was sent by hand."""
    for path in (place_of(config["tracking"]["uri"]) / _FOLDER).glob(f"{id}-*.json"):
        path.unlink(missing_ok=True)


def is_running(folder: Path) -> bool:
    """Whether a process writes the folder's records."""
    if not folder.is_dir():
        return False
    if (lock := disk.lock_folder(folder)) is None:
        return True
    os.close(lock)
    return False


@contextmanager
def sending(place: Path) -> Iterator[None]:
    """Wait until no other process sends, and keep them waiting."""
    if not (folder := place / _FOLDER).is_dir():
        yield
        return
    with disk.locked(folder / ".lock", 0o600):
        yield


def line(folder: Path, error: object, whole: bool = False) -> str:
    """That a run was not sent, and the command that sends it; ``whole``: with all others that were not."""
    command = "python -m runner.tracking" if whole else f"python -m runner.report track {shlex.quote(str(folder))}"
    return f"{folder} was not sent to MLflow: {short(error)}; nothing is lost, send again: {command}"


def note(place: Path, failed: Sequence[str]) -> None:
    """Note for the next command what failed, or that nothing did."""
    path = place / _FOLDER / _NOTE
    if failed:
        more = f" (and {len(failed) - 1} more, all: python -m runner.tracking)" if failed[1:] else ""
        path.write_text(failed[0] + more, encoding="utf-8")
    else:
        path.unlink(missing_ok=True)


def last_note(place: Path) -> str:
    """What failed last; empty where nothing did."""
    path = place / _FOLDER / _NOTE
    return path.read_text(encoding="utf-8") if path.exists() else ""
