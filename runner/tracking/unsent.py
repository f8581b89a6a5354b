"""What is not in MLflow yet: a marker per run, stage and sweep, a file next to the database, removed when it is sent.

The command that runs a job writes its marker before the first sample. So a kill of any process loses nothing: the next
tracker sends all marked runs that are not running. A lock keeps two processes from sending at the same time.
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
from typing import Any

from components.core.errors import ConfigError
from runner.config.build import check
from runner.storage import disk
from runner.storage.integrity import Damaged
from runner.storage.resume import without_secrets
from runner.tracking.store import PLACE, absolute, database_of, place_of, short

NEWEST = "newest"  # the file that has the page of the newest run or sweep
FOLDER, _NOTE = "unsent", "failed"
_READ = ("name", "seed", "limit", "epochs", "agent", "verifier", "stage", "compare", "fork")  # of a config


@dataclass(frozen=True)
class Unsent:
    """What to send of a ``folder`` on a machine, the ``host``. Relative paths of its ``config`` begin in ``cwd``.
    ``collected``: a collector of OpenTelemetry has its part."""

    folder: Path
    cwd: str
    host: str
    config: Mapping[str, Any]
    collected: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        match self.config:
            case {"name": str(), "tracking": {"uri": str()}}:
                return
        raise ConfigError("config: it was changed, or no command wrote it")

    @property
    def uri(self) -> str:
        """Its store."""
        return absolute(self.config["tracking"]["uri"], self.cwd)

    @property
    def is_removed(self) -> bool:
        """Whether the folder was removed. A disk that is not mounted has no folder around it either."""
        return self.folder.parent.is_dir() and not self.folder.exists()

    @property
    def is_elsewhere(self) -> bool:
        """Whether the folder is of another machine, and not seen here."""
        return self.host != platform.node() and not self.folder.exists()


@dataclass(frozen=True)
class UnsentRun(Unsent):
    """A run, with the ``tag`` of its sweep of so many jobs."""

    tag: str | None
    total_jobs: int


@dataclass(frozen=True)
class UnsentStage(Unsent):
    """What a standalone stage made, see ``components.core.learning.Made``."""

    lines: Sequence[str]
    empty: bool
    figures: Mapping[str, Sequence[tuple[int, float]]]
    choices: Mapping[str, str]


@dataclass(frozen=True)
class UnsentSweep(Unsent):
    """The run of a sweep, with its jobs' folders and files of its own; without any when it begins."""

    tag: str
    folders: Sequence[Path]
    files: Sequence[Path]


_KINDS: Mapping[str, type[Unsent]] = {"run": UnsentRun, "stage": UnsentStage, "sweep": UnsentSweep}


@dataclass
class Outcome:
    """The outcome of sending: how many were ``sent``; a line for each that ``failed``, some of them put ``aside``."""

    sent: int = 0
    aside: int = 0
    failed: list[str] = field(default_factory=list)


class BadMarker(ConfigError):
    """A marker that was renamed: it was changed, or its folder is missing."""


def mark(config: Mapping[str, Any], id: str, kind: str, folder: Path, **facts: Any) -> Path:
    """Write the marker of a ``kind`` of ``Unsent``, with its own ``facts``. Raises OSError."""
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


def read(marker: Path) -> Unsent | None:
    """What to send; None where that was done. Raises BadMarker for a damaged marker, which is put aside."""
    try:
        with suppress(ValueError, RecursionError, ConfigError):  # of a disk that was full, or a power failure
            work: dict[str, Any] = json.loads(marker.read_bytes())
            match work:
                case {"kind": str(kind), **facts} if kind in _KINDS:
                    return check(_KINDS[kind], facts)
    except FileNotFoundError:
        return None
    raise put_aside(marker, "is damaged")


def put_aside(marker: Path, what: str) -> BadMarker:
    """Rename a marker that cannot be sent. Returns the error that says what is wrong."""
    bad = marker.replace(marker.with_suffix(".bad"))
    return BadMarker(f"{bad} {what}: send its run with python -m runner.report track FOLDER, and remove it")


def note_collected(marker: Path) -> None:
    """Note that a collector has its part by now."""
    with suppress(OSError):  # on a full disk it is sent once more
        disk.replace(marker, json.dumps(json.loads(marker.read_bytes()) | {"collected": True}), 0o600)


def put_last(marker: Path) -> None:
    """Have others sent before it the next time."""
    with suppress(FileNotFoundError):
        os.utime(marker, ns=(now := time.time_ns(), now))


def tried_at(marker: Path) -> int | None:
    """When it failed last, or was written, in nanoseconds since the epoch; None where it was sent."""
    with suppress(FileNotFoundError):
        return marker.stat().st_mtime_ns
    return None


@contextmanager
def discarding(folder: Path, config: Mapping[str, Any], id: str) -> Iterator[None]:
    """Around sending a run by hand: its markers are removed, unless it is running. If it is resumed meanwhile, it keeps
    its new marker."""
    markers = [*(place_of(config["tracking"]["uri"]) / FOLDER).glob(f"{id}-*")]
    was_running = is_running(folder)
    yield
    for path in () if was_running else markers:
        path.unlink(missing_ok=True)


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


def line(place: Path, folder: Path, error: object, uri: str = "", *, whole: bool = False) -> str:
    """That a run was not sent to a store, and the command that sends it; ``whole``: with all others that were not."""
    again = command(place) if whole else f"python -m runner.report track {shlex.quote(str(folder))}"
    database = database_of(uri)
    server = f" at {short(uri)}" if uri and database is None else ""
    where = "by OTLP" if isinstance(error, NotCollected) else f"to MLflow{server}"
    what = f"{error}; then" if isinstance(error, Damaged) else f"{short(error, database)}; nothing is lost,"
    return f"{folder} was not sent {where}: {what} send again: {again}"


def note(place: Path, failed: Sequence[str]) -> None:
    """Note for the next command what failed, or that nothing did."""
    path = place / FOLDER / _NOTE
    if failed:
        path.write_text(note_of(place, failed), encoding="utf-8")
    else:
        path.unlink(missing_ok=True)


def note_of(place: Path, failed: Sequence[str]) -> str:
    """The first line of what failed, and how many there are."""
    return failed[0] + (f" (and {len(failed) - 1} more, all: {command(place)})" if failed[1:] else "")


def last_note(place: Path) -> str:
    """What failed last; empty where nothing did."""
    with suppress(OSError):
        return (place / FOLDER / _NOTE).read_text(encoding="utf-8", errors="replace")
    return ""
