"""The process that watches the workers of one episode. It runs no code of cells, and reads nothing that they write.

It forks workers ahead and hands the host the ends of their pipes. The host reports when a cell takes longer than a
moment, and when it is over; meanwhile this process watches wall and CPU time and the scratch folder, ends the worker at
a limit, and reports why a worker ended. Between two cells it ends the worker, or stops it when it stays busy.
"""

import contextlib
import json
import os
import select
import signal
import socket
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, NoReturn

from components.sandbox import worker
from components.sandbox.api import Status
from components.sandbox.paths import Folder
from components.sandbox.worker import Settings

_MESSAGE_BYTES = 4096
_SHORT = 0.05  # seconds: a cell that takes longer has the next worker forked in parallel
_TICK, _WATCH = 0.25, 0.02  # between looks at the CPU time, and at the scratch folder where nothing limits it
_REAP = 0.005  # between looks at workers that are ending; how long one that stays has to come to rest

Verdict = tuple[Status, str, str]


class Child:
    """A forked worker that waits for a cell; only the host holds its pipes."""

    def __init__(self, work: Callable[[int, int, int], NoReturn], foreign: Iterable[int]) -> None:
        """Fork; ``work`` gets its descriptors for cells, results and the pledge to stay, and none that are foreign."""
        self._ended, self._cpu = False, 0.0
        self.signal = 0  # that ended it; 0 when it ended by itself or has not
        cells, cells_in = os.pipe()
        results_out, results = os.pipe()
        self.output, output = os.pipe()
        pledge_out, pledge = os.pipe()
        self._host = (cells_in, results_out, pledge_out)
        self.pid = os.fork()
        if not self.pid:
            try:
                for descriptor in (*foreign, *self._host, self.output):
                    os.close(descriptor)
                os.dup2(output, 1)
                os.close(output)
                work(cells, results, pledge)
            finally:  # nothing unwinds into what was forked from
                os._exit(1)
        for descriptor in (cells, results, output, pledge):
            os.close(descriptor)
        self.process = os.pidfd_open(self.pid)
        self.descriptors: tuple[int, ...] = (*self._host, self.output, self.process)

    def hand_over(self, channel: socket.socket) -> None:
        """Pass the host its ends: only output and process stay here, to be watched."""
        cells_in, results_out, pledge_out = self._host
        ends = [cells_in, results_out, self.output, self.process, pledge_out]
        socket.send_fds(channel, [b'{"worker": true}'], ends)
        for descriptor in self._host:
            os.close(descriptor)
        self.descriptors = (self.output, self.process)

    def cpu_seconds(self) -> float:
        """CPU time that the process has used so far."""
        try:
            return self._cpu if self.ended() else time.clock_gettime((~self.pid << 3) | 2)
        except OSError:  # it is ending just now
            return 0.0

    def send_signal(self, number: int) -> None:
        """Stop the process, let it continue, or end it; ``ended`` says when it is gone."""
        if not self.ended():
            os.kill(self.pid, number)

    def ended(self, wait: bool = False) -> bool:
        """Whether the process has ended; from then on its number may be another's."""
        if not self._ended:
            pid, status, used = os.wait4(self.pid, 0 if wait else os.WNOHANG)
            if pid:
                self._ended, self._cpu = True, used.ru_utime + used.ru_stime
                self.signal = os.WTERMSIG(status)
        return self._ended

    def close(self) -> None:
        """End it, and close its descriptors."""
        self.send_signal(signal.SIGKILL)
        for descriptor in self.descriptors:
            os.close(descriptor)
        self.descriptors = ()


class Supervisor:
    """One episode's workers."""

    def __init__(self, channel: socket.socket, names: Mapping[str, Any], settings: Settings, scratch: Folder) -> None:
        self._channel, self._names, self._settings, self._scratch = channel, names, settings, scratch
        self._limits = settings.limits
        self._spare: Child | None = None
        self._current: Child | None = None  # the host has its ends
        self._dying: list[Child] = []
        self._eager = True  # whether the host has memory for workers that wait
        self._many = False  # the first worker was forked: its cell was waited for already
        self._cell = self._reported = 0  # the cell that is watched; the last whose verdict was reported
        self._begun = self._used = 0.0  # when it began; what CPU time its worker had used before
        self._flooded = False  # its output is dropped
        self._idle = 0.0  # when to look at a worker that stays between two cells; 0: it is stopped, or there is none

    def serve(self) -> NoReturn:
        """Until the host is gone. Raises OSError."""
        self._give()
        while True:
            poll = select.poll()
            poll.register(self._channel, select.POLLIN)
            waits = [seconds for seconds in (_REAP if self._dying else 0.0, self._idle) if seconds]
            if self._cell:
                elapsed = time.monotonic() - self._begun
                tick = _WATCH if self._scratch.watched else _SHORT if elapsed < _SHORT else _TICK
                waits.append(min(tick, self._limits.wall_seconds - elapsed))
                if self._current is not None:
                    poll.register(self._current.process, select.POLLIN)
                    if self._flooded:
                        poll.register(self._current.output, select.POLLIN)
            events = {descriptor for descriptor, _ in poll.poll(1000 * max(0.0, min(waits)) if waits else None)}
            if self._channel.fileno() in events:
                self._receive()
            if self._current is not None:
                self._look(self._current, events)
            self._tidy()

    def _receive(self) -> None:
        data = self._channel.recv(_MESSAGE_BYTES)
        if not data:
            os._exit(0)  # the host is gone, and with it the episode
        match json.loads(data):
            case {"want": _}:  # the host has a cell and no worker
                self._give()
            case {"begin": cell}:  # the worker that the host holds has a cell for a moment already
                self._cell, self._begun = cell, time.monotonic()
                self._idle, self._flooded = 0.0, False
                if self._current is not None:
                    self._current.send_signal(signal.SIGCONT)
            case {"flood": _}:  # the host has all the output that it needs
                self._flooded = True
            case {"end": _, "keep": keep, "eager": eager}:
                self._cell, self._flooded, self._eager = 0, False, eager
                if not keep:  # the next cell has another worker
                    self._retire()
                    self._tidy()
                    if eager:
                        self._give()
                elif self._current is not None:
                    self._idle, self._used = _REAP, self._current.cpu_seconds()
            case {"fate": cell} if self._reported != cell:  # the worker gave no result
                self._report(cell, self._cause(self._current))

    def _report(self, cell: int, verdict: Verdict) -> None:
        self._reported, self._cell = cell, 0
        self._retire()
        self._channel.send(json.dumps({"verdict": cell, "why": verdict}).encode())

    def _fork(self) -> None:
        if self._spare is None:
            others = [*self._dying, *([self._current] if self._current else [])]
            foreign = [self._channel.fileno(), *(descriptor for child in others for descriptor in child.descriptors)]
            rehearse = self._many and self._eager
            self._spare = Child(partial(worker.serve, self._names, self._settings, rehearse), foreign)
            self._many = True

    def _give(self) -> None:
        if self._current is None:
            self._fork()
            self._current, self._spare, self._used = self._spare, None, 0.0
            assert self._current is not None, "it was forked just now"
            self._current.hand_over(self._channel)

    def _retire(self) -> None:
        if self._current is not None:
            self._current.send_signal(signal.SIGKILL)
            self._dying.append(self._current)
        self._current, self._idle = None, 0.0

    def _tidy(self) -> None:
        """Nothing that a cell left reaches the next one."""
        if self._current is not None and not self._dying:
            return
        for child in self._dying:
            child.close()
        over = self._current is None and not self._settings.keep
        self._dying = [child for child in self._dying if not child.ended(wait=over)]
        if over and self._scratch.dirty():  # checked when no process is left that could write
            self._scratch.empty()

    def _look(self, child: Child, events: set[int]) -> None:
        """See to the limits of the cell that runs, and to the rest of a worker between two cells."""
        if not self._cell:
            if self._idle and not events:  # a worker that stays and does something is stopped until the next cell
                used = child.cpu_seconds()
                busy = self._idle == _TICK and used > self._used
                self._used, self._idle = used, 0.0 if busy else _TICK
                if busy:
                    child.send_signal(signal.SIGSTOP)
            return
        if self._flooded and child.output in events:
            with contextlib.suppress(BlockingIOError):  # the host may have been quicker
                os.read(child.output, 1 << 16)
        elapsed, limits = time.monotonic() - self._begun, self._limits
        if child.process in events:
            self._report(self._cell, self._cause(child))
        elif elapsed >= limits.wall_seconds or child.cpu_seconds() - self._used > limits.cpu_seconds:
            self._report(self._cell, ("timeout", "Timeout", limits.too_long))
        elif self._scratch.watched and self._scratch.exceeded():
            text = f"the scratch folder held more than {self._scratch.size} bytes"
            self._report(self._cell, ("killed", "Killed", text))
        elif not (events or self._settings.keep) and self._eager and elapsed >= _SHORT:
            self._fork()  # use the time in which the cell runs

    def _cause(self, child: Child | None) -> Verdict:
        """Why a worker ended without a result."""
        if child is None:
            return "killed", "Killed", "the worker ended between two cells"
        until = time.monotonic() + 1
        while not child.ended() and time.monotonic() < until:
            time.sleep(0.001)
        if child.cpu_seconds() - self._used > self._limits.cpu_seconds:
            return "timeout", "Timeout", self._limits.too_long
        if child.signal:
            return "killed", "Killed", f"the cell's process was ended by signal {child.signal}"
        return "error", "Protocol", "the cell ended its process without a result"
