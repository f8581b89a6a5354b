"""The tracker's process, one per command, and how the command writes to it."""

import os
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import orjson

FOLLOW = "--follow"  # lines on standard input
_HOME = Path(__file__).resolve().parents[2]


class Process:
    """Started with the first line, and again where it died; at the command's end it sends what is left and ends.

    Nothing that is written must arrive: a process that starts later finds the markers of all that was not sent.
    """

    def __init__(self) -> None:
        self._to = self._from = -1
        self._owed = 0

    def write(self, message: Mapping[str, Any], answered: bool = False) -> None:
        """Write a line, without waiting. ``answered``: whether ``wait`` waits for what it asks."""
        line = orjson.dumps(message) + b"\n"
        for _ in range(2):
            try:
                if self._to == -1:
                    self._start()
                os.write(self._to, line)
                self._owed += answered
                return
            except BrokenPipeError:  # it died
                self._close()
            except OSError:  # it is far behind, or the machine starts no process
                return

    def wait(self) -> None:
        """Wait until all that asks for an answer is done, or the process ends."""
        while self._owed and (answers := os.read(self._from, 1 << 12)):
            self._owed -= len(answers)
        self._owed = 0

    def _start(self) -> None:
        """In a session of its own, so that neither Ctrl-C nor a closed terminal ends it."""
        path = os.pathsep.join(filter(None, (str(_HOME), os.environ.get("PYTHONPATH"))))
        line = [sys.executable, "-P", "-m", "runner.tracking", FOLLOW]
        with ExitStack() as failing, ExitStack() as theirs:
            read, to = os.pipe()
            theirs.callback(os.close, read)
            failing.callback(os.close, to)
            answers, write = os.pipe()
            theirs.callback(os.close, write)
            failing.callback(os.close, answers)
            os.set_blocking(to, False)
            files = [(os.POSIX_SPAWN_DUP2, read, 0), (os.POSIX_SPAWN_DUP2, write, 1),
                     (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)]  # fmt: skip
            os.posix_spawn(line[0], line, {**os.environ, "PYTHONPATH": path}, file_actions=files, setsid=True)
            failing.pop_all()
        self._to, self._from = to, answers

    def _close(self) -> None:
        os.close(self._to)
        os.close(self._from)
        self._to, self._owed = -1, 0


@cache
def process() -> Process:
    """The one of this command."""
    return Process()
