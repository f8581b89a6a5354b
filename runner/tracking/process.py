"""The tracker's process, one per command, and how the command writes to it."""

import os
import select
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import orjson

from runner.terminal.command import print_note

FOLLOW = "--follow"  # lines on standard input
_LOG = "log"  # next to the markers: what a tracker prints
_POLL_MILLISECONDS = 50
_PATIENCE = 300.0  # seconds in which nothing was tried; a request to a silent server takes up to 110
_SILENT_SECONDS = 5.0  # of waiting, before a line says so
_HOME = Path(__file__).resolve().parents[2]


class Process:
    """Started with the first line, and again where it died; at the command's end it sends what is left and ends.

    Nothing that is written must arrive: a process that starts later finds the markers of all that was not sent.
    """

    def __init__(self) -> None:
        self._to = -1
        self._lines = deque[bytes]()  # that the pipe had no room for
        self._log = Path(os.devnull)

    def write(self, marker: Path, figures: Mapping[str, float] | None = None) -> None:
        """Write, without waiting, that a run is finished, or its newest figures; where the process is far behind, these
        are dropped."""
        self._log = marker.with_name(_LOG)
        self._lines.append(orjson.dumps({"marker": str(marker), "figures": figures}) + b"\n")
        self._flush()
        if figures is not None and self._lines:
            self._lines.pop()

    def wait(self, count: Callable[[], int], whom: str) -> None:
        """Wait until ``count`` is 0, the process has ended, or nothing has changed for some minutes. ``whom``: the
        server that is waited for, which is printed where that takes seconds."""
        left, end, start = -1, 0.0, time.monotonic()
        self._flush()
        while self._to != -1:
            if (now := count()) != left:
                left, end = now, time.monotonic() + _PATIENCE
            if whom and left and start and time.monotonic() > start + _SILENT_SECONDS:
                start = 0.0
                print_note(f"waiting for {whom}, {_PATIENCE:.0f} s at most without an answer")
            if not left or time.monotonic() > end or not self.is_running(_POLL_MILLISECONDS):
                return
            self._flush()

    def is_running(self, milliseconds: int = 0) -> bool:
        """Whether it was started and has not ended, nor does so in this time."""
        poll = select.poll()
        if self._to != -1:
            poll.register(self._to, 0)  # only the process's end is reported
        return self._to != -1 and not poll.poll(milliseconds)

    def _flush(self) -> None:
        """Write what is left, as far as there is room."""
        for _ in range(2):
            try:
                while self._lines:
                    if self._to == -1:
                        self._start()
                    os.write(self._to, self._lines[0])
                    self._lines.popleft()
                return
            except BrokenPipeError:  # it died
                os.close(self._to)
                self._to = -1
            except OSError:  # it is far behind, or the machine starts no process
                return

    def _start(self) -> None:
        """In a session of its own, so that neither Ctrl-C nor a closed terminal ends it."""
        path = os.pathsep.join(filter(None, (str(_HOME), os.environ.get("PYTHONPATH"))))
        line = [sys.executable, "-P", "-m", "runner.tracking", FOLLOW]
        with ExitStack() as failing, ExitStack() as theirs:
            read, to = os.pipe()
            theirs.callback(os.close, read)
            failing.callback(os.close, to)
            os.set_blocking(to, False)
            log = str(self._log), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600
            files = [(os.POSIX_SPAWN_DUP2, read, 0), (os.POSIX_SPAWN_OPEN, 1, *log), (os.POSIX_SPAWN_DUP2, 1, 2)]
            os.posix_spawn(line[0], line, {**os.environ, "PYTHONPATH": path}, file_actions=files, setsid=True)
            failing.pop_all()
        self._to = to


@cache
def current_process() -> Process:
    """The one of this command."""
    return Process()
