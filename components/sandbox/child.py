"""A worker as its supervisor sees it: a process and three pipes that somebody hostile may hold."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable
from typing import NoReturn

from components.sandbox.api import Limits, Ran
from components.sandbox.frames import FrameError, Reader, cap, pack, read_ran

_CHUNK = 1 << 16
_WAITS = {"cell": None}


class Ending:
    """Ends the process at the end of the block, whatever was raised: nothing unwinds into what was forked from."""

    def __enter__(self) -> None:
        """Nothing to do."""

    def __exit__(self, *_: object) -> NoReturn:
        """End here."""
        os._exit(1)


class Child:
    """A forked worker that waits for a cell."""

    def __init__(self, live: Callable[[int, int], NoReturn], limits: Limits, foreign: Iterable[int]) -> None:
        """Fork.

        Args:
            live: what the worker does with its descriptors for cells and results.
            limits: of a cell.
            foreign: descriptors that the worker must not have.
        """
        self._limits = limits
        self._reader = Reader(cap(limits.answer_bytes))
        self._output = bytearray()
        self._sending = b""
        self.ran: Ran | None = None  # what it told of its cell
        self.finished = False  # it closed its pipe of results
        self._status: int | None = None
        self._cpu = 0.0
        cells, self.cells = os.pipe()
        self.results, results = os.pipe()
        self.output, output = os.pipe()
        self.pid = os.fork()
        if not self.pid:
            with Ending():
                for descriptor in (*foreign, self.cells, self.results, self.output):
                    os.close(descriptor)
                os.dup2(output, 1)
                os.close(output)
                live(cells, results)
        for descriptor in (cells, results, output):
            os.close(descriptor)
        self._open = [self.cells, self.results, self.output]
        for descriptor in self._open:
            os.set_blocking(descriptor, False)

    @property
    def descriptors(self) -> tuple[int, ...]:
        """What is open of its three pipes."""
        return tuple(self._open)

    @property
    def sending(self) -> bool:
        """Whether a part of the cell is still to be sent."""
        return bool(self._sending)

    def give(self, cell: str) -> bool:
        """Start a cell. False when the worker spoke unasked, or is gone."""
        self._output.clear()
        self.ran = None
        self.receive()
        if self.finished or self._reader.rest:
            return False
        os.kill(self.pid, signal.SIGCONT)
        self._sending = pack({"cell": cell})
        return self.send()

    def hear(self, keep: bool) -> bool:
        """Collect what the worker says; True when its cell is over. ``ran`` then is its result, if it told one.

        A worker that lives on is asked whether it waits for its next cell: else it is still in the one of which it
        gave a result. Raises FrameError.
        """
        self.receive()
        if self.ran is not None:
            frame = self._reader.take()
            if frame not in (None, _WAITS) or self._reader.rest:
                raise FrameError("more than one reply")
            return frame is not None or self.finished
        if self.finished or keep:
            self.ran = self._result()
            if self.ran is not None and not self.finished:
                self._sending = pack(_WAITS)
                self.send()
        return self.finished

    def send(self) -> bool:
        """Send what the pipe takes. False when nobody reads it."""
        try:
            self._sending = self._sending[os.write(self.cells, self._sending) :]
        except BlockingIOError:
            pass
        except BrokenPipeError:
            return False
        return True

    def receive(self) -> None:
        """Collect what came as a result; at the end of the pipe ``finished`` is set. Raises FrameError."""
        while data := _read(self.results):
            self._reader.feed(data)
        self.finished = data is not None

    def drain(self, once: bool = False) -> bool:
        """Collect output up to its limit, and drop the rest. False when there will be no more."""
        while data := _read(self.output):
            self._output += data[: self._limits.output_bytes - len(self._output)]
            if once:
                return True
        return data is None

    def printed(self) -> str:
        """The output so far."""
        return self._output.decode("utf-8", "ignore")

    def _result(self) -> Ran | None:
        """The one result; None when nothing came. Raises FrameError for what is none, or more than one."""
        frame = self._reader.take()
        if self._reader.rest and (frame is not None or self.finished):
            raise FrameError("more than one reply, or a part of one")
        if frame is None:
            return None
        ran = read_ran(frame, self._limits.answer_bytes, 0)
        if ran.status in ("timeout", "killed"):
            raise FrameError("a status that no worker tells")
        return ran

    def cpu_seconds(self) -> float:
        """CPU time that the process has used so far."""
        try:
            return self._cpu if self.ended() else time.clock_gettime((~self.pid << 3) | 2)
        except OSError:  # it is ending just now
            return 0.0

    def pause(self) -> None:
        """Hold the process until the next cell."""
        if not self.ended():
            os.kill(self.pid, signal.SIGSTOP)

    def ended(self, wait: bool = False) -> bool:
        """Whether the process has ended; from then on its number may be another's."""
        if self._status is None:
            pid, status, used = os.wait4(self.pid, 0 if wait else os.WNOHANG)
            if pid:
                self._status, self._cpu = status, used.ru_utime + used.ru_stime
        return self._status is not None

    @property
    def signal(self) -> int:
        """The signal that ended it; 0 when it ended by itself or has not."""
        return os.WTERMSIG(self._status) if self._status is not None and os.WIFSIGNALED(self._status) else 0

    def kill(self) -> None:
        """From here on it runs no more; ``ended`` says when it is gone."""
        if not self.ended():
            os.kill(self.pid, signal.SIGKILL)

    def close(self) -> None:
        """Close its pipes."""
        while self._open:
            os.close(self._open.pop())


def _read(descriptor: int) -> bytes | None:
    """What is there; empty at the end, None when there is nothing yet."""
    try:
        return os.read(descriptor, _CHUNK)
    except BlockingIOError:
        return None
