"""What is not in MLflow yet: a marker per run, stage and sweep, a file next to the database, removed when it is sent.

The command that runs a job writes its marker before the first sample. So a kill of any process loses nothing: whoever
tracks next sends what has a marker and does not run. A lock keeps two processes from sending at the same time.
"""

import json
import os
import platform
import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import UnionType
from typing import Any

from components.core.errors import ConfigError
from runner.storage import disk
from runner.storage.integrity import Damaged
from runner.storage.resume import without_secrets
from runner.tracking.store import PLACE, place_of, short

NEWEST = "newest"  # the file that has the page of the newest run or sweep
FOLDER, _NOTE = "unsent", "failed"
_MAX_PATH = 4096  # PATH_MAX of Linux
_FIELDS: Mapping[str, type] = {"kind": str, "folder": str, "cwd": str, "host": str, "config": dict}
_FIELDS_OF: Mapping[str, Mapping[str, type | UnionType]] = {
    "run": {"sweep": str | None, "total_jobs": int},
    "stage": {"lines": list, "empty": bool, "figures": dict, "choices": dict},
    "sweep": {"sweep": str, "folders": list, "files": list},
    "begun": {"sweep": str, "total_jobs": int},
}
_READ = ("name", "seed", "limit", "epochs", "agent", "verifier", "stage", "compare", "fork")  # of a config


DAMAGED = (
    ConfigError, LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError
)  # fmt: skip  # what a folder or marker raises that no run wrote so


@dataclass
class Outcome:
    """What became of markers: how many were ``sent``, or dropped as their folder was ``removed``; a line for each that
    ``failed``, and for each that is ``damaged``."""

    sent: int = 0
    removed: int = 0
    failed: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)

    @property
    def lines(self) -> list[str]:
        """Why what was not sent was not."""
        return self.failed + self.damaged


class BadMarker(ConfigError):
    """A marker that no command wrote so."""


def mark(config: Mapping[str, Any], id: str, kind: str, folder: Path, **facts: Any) -> Path:
    """Write the marker of a run, a stage, a sweep or of what is made before a sweep. Raises OSError."""
    path = place_of(config["tracking"]["uri"]).absolute() / FOLDER / f"{id}-{os.getpid()}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    kept = without_secrets({key: config[key] for key in _READ if key in config}) | {"tracking": config["tracking"]}
    kept["model"] = {key: (config.get("model") or {}).get(key) for key in ("name", "temperature")}  # no headers
    kept["models"] = {role: {"name": model.get("name")} for role, model in (config.get("models") or {}).items()}
    work = {"kind": kind, "folder": str(folder.absolute()), "cwd": os.getcwd(), "host": platform.node(), "config": kept}
    disk.replace(path, json.dumps(work | facts, default=str), 0o600)  # an address of a server may have a password
    return path


def markers(place: Path) -> list[Path]:
    """All of them, what failed last at the end."""
    found = {path: tried_at(path) for path in (place / FOLDER).glob("*.json")}
    return [path for _, path in sorted((at, path) for path, at in found.items() if at is not None)]


def read(marker: Path) -> dict[str, Any] | None:
    """What to send; None where that was done. Raises BadMarker for a damaged marker, which is renamed."""
    try:
        work: dict[str, Any] = json.loads(marker.read_bytes())
        if _is_whole(work):
            return work
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError):  # of a disk that was full, or a machine that lost its power
        work = {}
    bad = marker.replace(marker.with_suffix(".bad"))
    raise BadMarker(f"{bad} is damaged: send its run with python -m runner.report track FOLDER, and remove it")


def _is_whole(work: object) -> bool:
    """Whether all fields of a marker are there, of their types."""

    def has(fields: Mapping[str, type | UnionType], of: Mapping[str, Any]) -> bool:
        return all(name in of and isinstance(of[name], kind) for name, kind in fields.items())

    if not isinstance(work, dict) or not has(_FIELDS, work) or len(work["folder"]) >= _MAX_PATH:
        return False
    tracking = work["config"].get("tracking")
    known = isinstance(tracking, dict) and has({"uri": str}, tracking) and work["kind"] in _FIELDS_OF
    return known and has(_FIELDS_OF[work["kind"]], work)


def put_last(marker: Path) -> None:
    """Have others sent before it the next time."""
    with suppress(FileNotFoundError):
        os.utime(marker, ns=(now := time.time_ns(), now))


def tried_at(marker: Path) -> int | None:
    """When it failed last, or was written, in nanoseconds since the epoch; None where it was sent."""
    with suppress(FileNotFoundError):
        return marker.stat().st_mtime_ns
    return None


def discard(config: Mapping[str, Any], id: str) -> None:
    """Remove the markers of a run that was sent by hand."""
    for path in (place_of(config["tracking"]["uri"]) / FOLDER).glob(f"{id}-*.json"):
        path.unlink(missing_ok=True)


def is_removed(work: Mapping[str, Any]) -> bool:
    """Whether somebody has removed the folder. A disk that is not mounted has no folder around it either."""
    folder = Path(work["folder"])
    return work["kind"] != "begun" and folder.parent.is_dir() and not folder.exists()


def is_elsewhere(work: Mapping[str, Any]) -> bool:
    """Whether the folder is of another machine, and not seen here."""
    return work["host"] != platform.node() and not Path(work["folder"]).exists()


def is_running(folder: Path) -> bool:
    """Whether a process writes the folder's records."""
    if not folder.is_dir():
        return False
    with disk.folder_lock(folder) as is_free:
        return not is_free


@contextmanager
def sending(place: Path) -> Iterator[None]:
    """Wait until no other process sends, and keep them waiting."""
    if not (folder := place / FOLDER).is_dir():
        yield
        return
    with disk.locked(folder / ".lock", 0o600):
        yield


def command(place: Path) -> str:
    """The command that sends all that was not."""
    named = "" if place.absolute() == PLACE.absolute() else f" {shlex.quote(str(place.absolute()))}"
    return f"python -m runner.tracking{named}"


class NotCollected(OSError):
    """A collector of OpenTelemetry did not take what it was sent."""


def line(place: Path, folder: Path, error: object, database: Path | None = None, *, whole: bool = False) -> str:
    """That a run was not sent, and the command that sends it; ``whole``: with all others that were not."""
    again = command(place) if whole else f"python -m runner.report track {shlex.quote(str(folder))}"
    what = f"{error}; then" if isinstance(error, Damaged) else f"{short(error, database)}; nothing is lost,"
    where = "by OTLP" if isinstance(error, NotCollected) else "to MLflow"
    return f"{folder} was not sent {where}: {what} send again: {again}"


def note(place: Path, failed: Sequence[str]) -> None:
    """Note for the next command what failed, or that nothing did."""
    path = place / FOLDER / _NOTE
    if failed:
        more = f" (and {len(failed) - 1} more, all: {command(place)})" if failed[1:] else ""
        path.write_text(failed[0] + more, encoding="utf-8")
    else:
        path.unlink(missing_ok=True)


def last_note(place: Path) -> str:
    """What failed last; empty where nothing did."""
    with suppress(OSError):
        return (place / FOLDER / _NOTE).read_text(encoding="utf-8", errors="replace")
    return ""
