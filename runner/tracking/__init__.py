"""MLflow: run folders are written first and sent second, by a process of its own; a run does not import mlflow.

A command marks what it runs (``unsent``), starts that process (``process``, ``__main__``) half a second after a run
began, and ends without waiting for it. A tracker that is missing, down or slow costs one line, never a run.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from components.core.errors import ConfigError
from components.core.learning import Made
from runner.storage import manifest
from runner.storage.sweeps import FILE, tag_of
from runner.terminal.command import print_note, reader_left
from runner.tracking import describe, unsent
from runner.tracking.process import current_process
from runner.tracking.store import base_url, database_of, is_permitted, place_of, servers_of, short, texts_may_leave

_BEGIN_SECONDS = 0.5  # the first calls leave before MLflow's import, two seconds of a core, slows them


def enabled(config: Mapping[str, Any]) -> bool:
    """Whether there is a tracker to send to."""
    return bool((config.get("tracking") or {}).get("uri"))


class Heartbeat:
    """Around a run: its marker, its run in MLflow, its progress every ten seconds. Nothing waits for the tracker."""

    def __init__(
        self, folder: Path, config: Mapping[str, Any], *, home: Path | None = None, total_jobs: int = 1,
        every_seconds: float = 10.0,
    ) -> None:  # fmt: skip
        self._folder, self._config, self._home, self._total_jobs = folder, config, home, total_jobs
        self._every = every_seconds
        self._marker: Path | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._next = 0.0

    def __enter__(self) -> Self:
        return self

    def begin(self) -> None:
        """Mark the run, whose manifest is there."""
        if enabled(self._config):
            self._marker = mark_run(self._folder, self._config, self._home, self._total_jobs)
            self._timer = asyncio.get_running_loop().call_later(_BEGIN_SECONDS, self._beat, {})

    def update(self, *, samples: int, errors: int = 0, tokens: int = 0, usd: float = 0.0) -> None:
        """Leave the newest figures."""
        if self._next and time.monotonic() >= self._next:
            self._beat({"samples": samples, "errors": errors, "tokens": tokens, "cost_usd": usd})

    def _beat(self, figures: Mapping[str, float]) -> None:
        if self._marker is not None:
            self._next = time.monotonic() + self._every
            current_process().write(self._marker, figures)
            _command().warn()

    def __exit__(self, kind: type[BaseException] | None, *_: TracebackType | BaseException | None) -> None:
        """The folder is released: have it sent. A run that was refused at its first calls is none."""
        if self._timer is not None:
            self._timer.cancel()
        if self._marker is None:
            return
        if not self._next and kind is not None and issubclass(kind, ConfigError):
            self._marker.unlink(missing_ok=True)
            del _command().marked[self._marker]
        else:
            _finish(self._marker)


class _Command:
    """What this process has marked, when it was finished (mtime in ns), which are sweeps, how many could not be marked,
    and the lines that it printed."""

    def __init__(self) -> None:
        self.marked: dict[Path, int | None] = {}
        self.sweeps = set[Path]()
        self.unmarked = 0
        self.tracking: Mapping[str, Any] = {}
        self._printed = set[str]()

    @property
    def place(self) -> Path:
        """Where the newest marker is."""
        return next(reversed(self.marked)).parent.parent

    def waiting(self) -> set[Path]:
        """Those that are finished and were not tried since."""
        return {marker for marker, at in self.marked.items() if at is not None and unsent.tried_at(marker) == at}

    def runs(self, markers: set[Path]) -> str:
        """How many runs these are; that of a sweep counts where its jobs are sent."""
        n = len(markers - self.sweeps) or 1
        return "1 run is" if n == 1 else f"{n} runs are"

    def warn(self) -> None:
        """Print what failed, once."""
        if text := unsent.last_note(self.place):
            self.print_once(f"warning: {text}")

    def print_once(self, text: str) -> None:
        """Print a line that this command has not printed."""
        if text not in self._printed:
            self._printed.add(text)
            print_note(text)


@cache
def _command() -> _Command:
    return _Command()


def mark_run(folder: Path, config: Mapping[str, Any], home: Path | None = None, total_jobs: int = 1) -> Path | None:
    """Mark a run folder, which has a manifest, and say where its texts stay here. ``home``: the folder of its sweep."""
    id = describe.remember(folder, {})["id"]
    privacy = (manifest.read(folder).get("dataset") or {}).get("privacy", "unknown")
    if not texts_may_leave(config, privacy):
        _command().print_once(
            f"note: of {privacy} data only figures are sent to MLflow, no texts; see tracking.permits"
        )
    if config["tracking"].get("otlp") and not is_permitted(config, privacy):
        _command().print_once(f"note: {privacy} episodes are not sent to tracking.otlp; see tracking.permits")
    return _mark(config, id, "run", folder, home, total_jobs=total_jobs)


def track(folder: Path, config: Mapping[str, Any], *, home: Path | None = None, total_jobs: int = 1) -> None:
    """Have a finished run folder sent."""
    if enabled(config):
        _finish(mark_run(folder, config, home, total_jobs))


def track_made(made: Made, config: Mapping[str, Any], choices: Mapping[str, str]) -> None:
    """Have the folder of a standalone stage sent."""
    if enabled(config):
        facts = {"lines": [*made.lines], "empty": made.empty, "figures": made.figures, "choices": choices}
        _finish(_mark(config, _id(made.folder), "stage", made.folder, None, **facts))


def finish_sweep(
    home: Path, folders: Sequence[Path], config: Mapping[str, Any], files: Sequence[Path] = (), *, same: bool = False
) -> None:
    """Have the parent run of a sweep of two or more jobs completed: its table, these files, its shared view. ``same``:
    all is as when the sweep ended before, so that there is only something to do where something waits."""
    if not enabled(config) or len(folders) < 2:
        return
    if not same or not (home / FILE).exists() or unsent.markers(place_of(config["tracking"]["uri"])):
        facts = {"folders": [one.absolute() for one in folders], "files": [one.absolute() for one in files]}
        _finish(_mark(config, _id(home), "sweep", home, home, **facts))


def prepare(config: Mapping[str, Any], home: Path, *, total_jobs: int) -> None:
    """Make database, experiment and a sweep's parent before jobs start on several machines; this waits."""
    if enabled(config) and total_jobs > 1:
        _finish(_mark(config, _id(home), "sweep", home, home, folders=[], files=[]))
        wait()


def wait() -> None:
    """Wait until all that this process marked is sent, or cannot be, or the tracker does nothing for some minutes."""
    if (command := _command()).marked:
        how = f"Ctrl-C loses nothing: the next command sends what waits, or {unsent.command(command.place)}"
        servers = servers_of(command.tracking)
        current_process().wait(lambda: len(command.waiting()), f"{servers} ({how})" if servers else "")


def end() -> int:
    """Print the address, and the runs that are being sent or were not sent; wait for them if ``tracking.wait`` is set.
    Returns 1 if one was not sent."""
    command = _command()
    to_wait, unmarked, command.unmarked = bool(command.tracking.get("wait")), command.unmarked, 0
    if not command.marked:
        return int(to_wait and unmarked > 0)
    if to_wait:
        wait()
    command.warn()
    place, url, left = command.place, base_url(command.tracking), {path for path in command.marked if path.exists()}
    sending = left & command.waiting() if current_process().is_running() else set[Path]()
    how = ["make ui or python -m runner.ui starts it"] if database_of(command.tracking["uri"]) else []
    state = [f"{command.runs(sending)} still being sent, {unsent.command(place)} waits for that"] if sending else []
    if left - sending:
        state.append(f"{command.runs(left - sending)} not sent, {unsent.command(place)} sends what waits")
    if not left and (newest := place / unsent.NEWEST).exists():
        url += f"/#{newest.read_text()}"
    command.marked.clear()
    try:
        otlp = command.tracking.get("otlp")
        for name, to, notes in (("MLflow", url, [*how, *state]), ("OTLP", otlp and short(otlp), state)):
            if to:
                print(f"{name + ':':12}{to}" + (f"   ({'; '.join(notes)})" if notes else ""), flush=True)  # noqa: T201
    except OSError:  # a closed pipe, a full disk
        reader_left()
    return int(to_wait and len(left) + unmarked > 0)


def _mark(config: Mapping[str, Any], id: str, kind: str, folder: Path, home: Path | None, **facts: Any) -> Path | None:
    """Write a marker, with the tag of the sweep in ``home``; a disk that does not take it costs one line."""
    command = _command()
    command.tracking = config["tracking"]
    try:
        if kind != "stage":
            facts["tag"] = None if home is None else tag_of(home)
        marker = unsent.mark(config, id, kind, folder, **facts)
    except OSError as error:
        command.unmarked += 1
        print_note(f"warning: {unsent.line(place_of(config['tracking']['uri']), folder, error)}")
        return None
    command.marked.pop(marker, None)  # the newest is the last
    command.marked[marker] = None
    if folder == home:
        command.sweeps.add(marker)
    return marker


def _finish(marker: Path | None) -> None:
    if marker is not None:
        _command().marked[marker] = unsent.tried_at(marker)
        current_process().write(marker)


def _id(folder: Path) -> str:
    return sha256(str(folder.absolute()).encode()).hexdigest()[:32]
