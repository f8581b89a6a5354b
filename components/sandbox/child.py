"""A worker as its supervisor sees it: a process of which only the host holds the pipes."""

import contextlib
import os
import signal
import socket
import time
from collections.abc import Callable, Iterable
from typing import NoReturn

from components.sandbox.frames import pack


class Ending:
    """Ends the process at the end of the block, also after an exception: nothing unwinds into what was forked from."""

    def __enter__(self) -> None:
        """Nothing to do."""

    def __exit__(self, *_: object) -> NoReturn:
        """End here."""
        os._exit(1)


class Child:
    """A forked worker that waits for a cell."""

    def __init__(self, live: Callable[[int, int, int], NoReturn], foreign: Iterable[int]) -> None:
        """Fork.

        Args:
            live: what the worker does with its descriptors for cells and results, and the one it closes when it
                is not to run another cell.
            foreign: descriptors that the worker must not have.
        """
        self._status: int | None = None
        self._cpu = 0.0
        cells, give = os.pipe()
        hear, results = os.pipe()
        self.output, output = os.pipe()
        pledge, kept = os.pipe()
        self._host = (give, hear, pledge)
        self.pid = os.fork()
        if not self.pid:
            with Ending():
                for descriptor in (*foreign, *self._host, self.output):
                    os.close(descriptor)
                os.dup2(output, 1)
                os.close(output)
                live(cells, results, kept)
        for descriptor in (cells, results, output, kept):
            os.close(descriptor)
        self.process = os.pidfd_open(self.pid)
        self.descriptors: tuple[int, ...] = (*self._host, self.output, self.process)

    def hand(self, channel: socket.socket) -> None:
        """Give the host its ends: only output and process stay here, to be watched."""
        give, hear, pledge = self._host
        socket.send_fds(channel, [pack({"worker": True})], [give, hear, self.output, self.process, pledge])
        for descriptor in self._host:
            os.close(descriptor)
        self.descriptors = (self.output, self.process)

    def drain(self) -> None:
        """Drop output that is not needed; the host may have been quicker."""
        with contextlib.suppress(BlockingIOError):
            os.read(self.output, 1 << 16)

    def cpu_seconds(self) -> float:
        """CPU time that the process has used so far."""
        try:
            return self._cpu if self.ended() else time.clock_gettime((~self.pid << 3) | 2)
        except OSError:  # it is ending just now
            return 0.0

    def signal_to(self, number: int) -> None:
        """Hold the process, let it run on, or end it; ``ended`` says when it is gone."""
        if not self.ended():
            os.kill(self.pid, number)

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

    def close(self) -> None:
        """End it, and forget its descriptors."""
        self.signal_to(signal.SIGKILL)
        for descriptor in self.descriptors:
            os.close(descriptor)
        self.descriptors = ()
