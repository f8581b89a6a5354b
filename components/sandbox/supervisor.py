"""The process that stands between the host and the workers of one episode. It runs no code of cells.

It alone holds the channel to the host. It keeps a spare worker forked ahead, gives it a cell, watches wall and CPU
time, the size of the scratch folder and what the worker says, and tells the host one result per cell.
"""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NoReturn

from components.sandbox import worker
from components.sandbox.api import CellError, Ran, Status
from components.sandbox.child import Child
from components.sandbox.frames import FrameError, Reader, pack_ran
from components.sandbox.scratch import Scratch

_CELL_BYTES = 16 << 20
_SHORT = 0.05  # seconds: a cell that takes longer has the next worker forked beside it
_TICK, _WATCH = 0.25, 0.02  # between looks at the CPU time, and at the scratch folder where nothing limits it
_REAP = 0.005  # between looks at workers that are ending
_LOST = "; variables of earlier cells are lost"
_CELLS = select.POLLOUT


class HostGone(Exception):
    """The host closed its end: the episode is over."""


def _failed(status: Status, kind: str, text: str) -> Ran:
    return Ran(status, error=CellError(kind, "", text))


class Supervisor:
    """One episode's workers."""

    def __init__(
        self, channel: socket.socket, names: Mapping[str, Any], settings: worker.Settings, scratch: Scratch
    ) -> None:
        self._channel, self._settings, self._scratch = channel, settings, scratch
        self._names = names
        self._limits = settings.limits
        self._spare: Child | None = None
        self._dying: list[Child] = []
        self._running: Child | None = None
        self._eager = True  # whether the host has memory for workers that wait
        self._started = False  # the first cell is waited for already
        self._seen = 0  # cells whose variables the kept worker holds

    def serve(self) -> NoReturn:
        """Run cells until the host is gone. Raises HostGone, OSError."""
        reader = Reader(_CELL_BYTES)
        self.prepare()
        while True:
            while (frame := reader.take()) is None:
                while self._dying and not select.select([self._channel], [], [], _REAP)[0]:
                    self._tidy()
                data = self._channel.recv(1 << 16)
                if not data:
                    raise HostGone
                reader.feed(data)
            self._eager = frame["eager"]
            self._channel.sendall(pack_ran(self._run(frame["cell"])))
            self._tidy()
            if self._eager:
                self.prepare()

    def prepare(self) -> None:
        """Fork the worker for the next cell."""
        if self._spare is None:
            others = [*self._dying, *([self._running] if self._running else [])]
            foreign = [self._channel.fileno(), *(descriptor for child in others for descriptor in child.descriptors)]
            self._spare = Child(self._live, self._limits, foreign)
            self._started = True

    def _live(self, cells: int, results: int) -> NoReturn:
        worker.live(cells, results, self._names, self._settings, rehearse=self._started)

    def _tidy(self) -> None:
        """Nothing that a cell left reaches the next one."""
        dirty = self._scratch.dirty() and not self._settings.keep
        for child in self._dying:
            child.kill()
            child.close()
        self._dying = [child for child in self._dying if not child.ended(wait=dirty)]
        if dirty:
            self._scratch.empty()

    def _run(self, cell: str) -> Ran:
        self.prepare()
        child, self._spare = self._spare, None
        assert child is not None, "it was forked just now"
        self._running = child
        started = time.monotonic()
        before = child.cpu_seconds()
        try:
            if child.ended() or not child.give(cell):
                ran: Ran | None = _failed("killed", "Killed", "the worker ended between two cells")
            else:
                ran = self._watch(child, started, before)
        except FrameError as error:
            ran = _failed("error", "Protocol", f"the worker's reply is no result: {error}")
        seconds = time.monotonic() - started
        if ran is None:
            ran = self._fate(child, before)
        return self._settle(child, ran, seconds)

    def _settle(self, child: Child, ran: Ran, seconds: float) -> Ran:
        """Hold the worker until its next cell, or end it; the result with its output."""
        error = ran.error
        broken = ran.status in ("timeout", "killed") or (error is not None and error.type == "Protocol")
        self._running = None
        child.pause()
        child.drain()
        if self._settings.keep and not broken and not child.finished:
            self._spare, self._seen = child, self._seen + 1
        else:
            self._dying.append(child)
            if error is not None and self._seen:
                error = replace(error, message=error.message + _LOST)
            self._seen = 0
        printed = self._settings.clean(child.printed()).encode()[: self._limits.output_bytes]
        return Ran(ran.status, ran.answer, printed.decode("utf-8", "ignore"), error, seconds)

    def _watch(self, child: Child, started: float, before: float) -> Ran | None:
        """The result of the cell that the worker was given; None when the worker ended without one."""
        deadline = started + self._limits.wall_seconds
        poll = select.poll()
        poll.register(child.results, select.POLLIN)
        poll.register(child.output, select.POLLIN)
        poll.register(self._channel, select.POLLIN)
        if child.sending:
            poll.register(child.cells, _CELLS)
        tick = _SHORT
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                return _failed("timeout", "Timeout", f"the cell ran longer than {self._limits.wall_seconds:g} s")
            events = dict(poll.poll(1000 * min(tick, left)))
            if self._channel.fileno() in events:
                raise HostGone
            if child.cells in events and not (child.send() and child.sending):
                poll.unregister(child.cells)
            if child.output in events and not child.drain(once=True):
                poll.unregister(child.output)
            if child.results in events and child.hear(self._settings.keep):
                return child.ran
            if (ran := self._exceeded(child, before)) is not None:
                return ran
            if not events:
                tick = self._wait(tick)

    def _wait(self, tick: float) -> float:
        """Use the time in which the cell runs; how long to wait for the next event."""
        if tick == _SHORT and self._eager and not self._settings.keep:
            self.prepare()
        return _WATCH if self._scratch.watched else _TICK

    def _exceeded(self, child: Child, before: float) -> Ran | None:
        if child.cpu_seconds() - before > self._limits.cpu_seconds:
            return _failed("timeout", "Timeout", f"the cell used more than {self._limits.cpu_seconds:g} s of CPU")
        if self._scratch.watched and self._scratch.exceeded():
            return _failed("killed", "Killed", f"the scratch folder held more than {self._scratch.size} bytes")
        return None

    def _fate(self, child: Child, before: float) -> Ran:
        """Why a worker ended without a result."""
        until = time.monotonic() + 1
        while not child.ended() and time.monotonic() < until:
            time.sleep(0.001)
        if child.cpu_seconds() - before > self._limits.cpu_seconds:
            return _failed("timeout", "Timeout", f"the cell used more than {self._limits.cpu_seconds:g} s of CPU")
        if child.signal:
            return _failed("killed", "Killed", f"the cell's process was ended by signal {child.signal}")
        return _failed("error", "Protocol", "the cell ended its process without a result")
