"""The process that watches the workers of one episode. It runs no code of cells, and of what
they write it only drops what is not needed.

It forks workers ahead and hands the host the ends of their pipes, so that a cell and its result take no detour. The
host reports when a cell takes longer than a moment, and when it is over; meanwhile this process watches wall and CPU
time and the size of the scratch folder, ends the worker at a limit, and reports why a worker ended. Between two cells
it ends the worker, or holds it when it does not rest.
"""

import select
import signal
import socket
import time
from collections.abc import Mapping
from typing import Any, NoReturn

from components.sandbox import worker
from components.sandbox.api import Status
from components.sandbox.child import Child
from components.sandbox.frames import Reader, pack
from components.sandbox.scratch import Scratch

_FRAME_BYTES = 4096
_SHORT = 0.05  # seconds: a cell that takes longer has the next worker forked in parallel
_TICK, _WATCH = 0.25, 0.02  # between looks at the CPU time, and at the scratch folder where nothing limits it
_REAP = 0.005  # between looks at workers that are ending; how long one that lives on has to come to rest

Verdict = tuple[Status, str, str]


class HostGone(Exception):
    """The host closed its end: the episode is over."""


class Supervisor:
    """One episode's workers."""

    def __init__(
        self, channel: socket.socket, names: Mapping[str, Any], settings: worker.Settings, scratch: Scratch
    ) -> None:
        self._channel, self._settings, self._scratch = channel, settings, scratch
        self._names = names
        self._limits = settings.limits
        self._spare: Child | None = None
        self._given: Child | None = None  # the host has its ends
        self._dying: list[Child] = []
        self._reader = Reader(_FRAME_BYTES)
        self._eager = True  # whether the host has memory for workers that wait
        self._many = False  # the first worker was forked: its cell was waited for already
        self._cell = self._reported = 0  # the cell that is watched; the last whose verdict was reported
        self._begun = self._used = 0.0  # when it began; what CPU time its worker had used before
        self._tick = _WATCH if scratch.watched else _SHORT
        self._flooded = False  # its output is dropped
        self._idle = 0.0  # when to look at a worker that lives on between two cells; 0: it is held, or there is none

    def serve(self) -> NoReturn:
        """Until the host is gone. Raises HostGone, OSError."""
        self._give()
        while True:
            events = self._events()
            if self._channel.fileno() in events:
                self._hear()
            child = self._given
            if child is not None:
                self._look(child, events)
            self._tidy()

    def _events(self) -> set[int]:
        poll = select.poll()
        poll.register(self._channel, select.POLLIN)
        if self._cell and self._given is not None:
            poll.register(self._given.process, select.POLLIN)
            if self._flooded:
                poll.register(self._given.output, select.POLLIN)
        seconds = self._tick if self._cell else None
        if self._cell:
            seconds = max(0.0, min(self._tick, self._begun + self._limits.wall_seconds - time.monotonic()))
        for wanted in (_REAP if self._dying else 0.0, self._idle):
            if wanted:
                seconds = wanted if seconds is None else min(wanted, seconds)
        return {descriptor for descriptor, _ in poll.poll(None if seconds is None else 1000 * seconds)}

    def _hear(self) -> None:
        data = self._channel.recv(1 << 16)
        if not data:
            raise HostGone
        self._reader.feed(data)
        while (frame := self._reader.take()) is not None:
            (kind,) = frame.keys() & {"want", "begin", "flood", "end", "fate"}
            getattr(self, f"_{kind}")(frame)

    def _want(self, _: Mapping[str, Any]) -> None:
        """The host has a cell and no worker."""
        self._give()

    def _begin(self, frame: Mapping[str, Any]) -> None:
        """The worker that the host holds has a cell for a moment already."""
        self._cell, self._begun = frame["begin"], time.monotonic()
        self._tick = _WATCH if self._scratch.watched else _SHORT
        self._idle, self._flooded = 0.0, False
        if self._given is not None:
            self._given.signal_to(signal.SIGCONT)

    def _flood(self, _: Mapping[str, Any]) -> None:
        """The host has all the output that it needs."""
        self._flooded = True

    def _end(self, frame: Mapping[str, Any]) -> None:
        """A cell is over; its worker lives on, or there is to be another."""
        self._cell, self._flooded, self._eager = 0, False, frame["eager"]
        if frame["keep"]:
            if self._given is not None:
                self._idle, self._used = _REAP, self._given.cpu_seconds()
            return
        self._retire()
        self._tidy()
        if self._eager:
            self._give()

    def _fate(self, frame: Mapping[str, Any]) -> None:
        """The worker ended, or closed its pipes, without a result."""
        if self._reported != frame["fate"]:
            self._tell(frame["fate"], self._ended(self._given))

    def _tell(self, cell: int, verdict: Verdict) -> None:
        self._reported, self._cell = cell, 0
        self._retire()
        self._channel.sendall(pack({"verdict": cell, "why": verdict}))

    def _fork(self) -> None:
        """Fork the worker for the next cell."""
        if self._spare is None:
            others = [*self._dying, *([self._given] if self._given else [])]
            foreign = [self._channel.fileno(), *(descriptor for child in others for descriptor in child.descriptors)]
            self._spare = Child(self._live, foreign)
            self._many = True

    def _live(self, cells: int, results: int, pledge: int) -> NoReturn:
        worker.live(cells, results, pledge, self._names, self._settings, rehearse=self._many and self._eager)

    def _give(self) -> None:
        if self._given is None:
            self._fork()
            self._given, self._spare = self._spare, None
            assert self._given is not None, "it was forked just now"
            self._used = 0.0
            self._given.hand(self._channel)

    def _retire(self) -> None:
        if self._given is not None:
            self._given.signal_to(signal.SIGKILL)
            self._dying.append(self._given)
        self._given, self._idle = None, 0.0

    def _tidy(self) -> None:
        """Nothing that a cell left reaches the next one."""
        if self._given is not None and not self._dying:
            return
        for child in self._dying:
            child.close()
        over = self._given is None and not self._settings.keep
        self._dying = [child for child in self._dying if not child.ended(wait=over)]
        if over and self._scratch.dirty():  # checked when no process is left that could write
            self._scratch.empty()

    def _look(self, child: Child, events: set[int]) -> None:
        """Limits of the cell that runs."""
        if not self._cell:
            if self._idle and not events:
                self._rest(child)
            return
        if self._flooded and child.output in events:
            child.drain()
        if child.process in events:
            self._tell(self._cell, self._ended(child))
        elif (verdict := self._exceeded(child)) is not None:
            self._tell(self._cell, verdict)
        elif not events:
            self._wait()

    def _rest(self, child: Child) -> None:
        """A worker that lives on and does something between two cells is held until the next."""
        used = child.cpu_seconds()
        busy = self._idle == _TICK and used > self._used
        self._used, self._idle = used, 0.0 if busy else _TICK
        if busy:
            child.signal_to(signal.SIGSTOP)

    def _wait(self) -> None:
        """Use the time in which the cell runs."""
        if self._eager and not self._settings.keep and time.monotonic() - self._begun >= _SHORT:
            self._fork()
        self._tick = _WATCH if self._scratch.watched else _TICK

    def _exceeded(self, child: Child) -> Verdict | None:
        if time.monotonic() - self._begun >= self._limits.wall_seconds:
            return "timeout", "Timeout", self._limits.too_long
        if child.cpu_seconds() - self._used > self._limits.cpu_seconds:
            return "timeout", "Timeout", self._limits.too_long
        if self._scratch.watched and self._scratch.exceeded():
            return "killed", "Killed", f"the scratch folder held more than {self._scratch.size} bytes"
        return None

    def _ended(self, child: Child | None) -> Verdict:
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
