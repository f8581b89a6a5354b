"""An episode as the host sees it: one supervisor, and one worker after the other."""

import asyncio
import os
import select
import socket
import time
import weakref
from collections.abc import Generator
from dataclasses import replace
from typing import Any

from components.sandbox.api import Library, Limits, Ran, SandboxError, failed
from components.sandbox.ends import Ends
from components.sandbox.frames import FrameError, Reader, cap, pack
from components.sandbox.raised import Clean
from components.sandbox.warm import Gone, Warm

_SETUP_SECONDS = 60.0  # imports of the library and the first episode, on a slow machine
_GRACE_SECONDS = 2.0  # beyond the wall limit, which the supervisor keeps
_GONE_SECONDS = 10.0
_MOMENT_SECONDS = 0.01  # a cell that is over by then has not to be watched
_EAGER = 5  # episodes at once of which each has a worker waiting; beyond, memory counts for more than time
LOST = "; variables of earlier cells are lost"
_open: "weakref.WeakSet[Episode]" = weakref.WeakSet()

Steps = Generator[tuple[int, float | None], bool, Any]
"""Yields descriptors to wait for, and how long at most; receives whether there is something to read."""


class Episode:
    """One supervisor: its channel and its leash, and the ends of the worker that it gave."""

    def __init__(self, warm: Warm, library: Library, limits: Limits, keep: bool) -> None:
        self.warm = warm
        self._limits, self._keep = limits, keep
        self._channel, self._leash = warm.open(library, limits, keep)
        self._channel.setblocking(False)
        self._reader = Reader(cap(0))
        self._came: list[int] = []  # descriptors that came with frames not yet read
        self._ends: Ends | None = None
        self._promised = True  # the supervisor gives a worker without being asked
        self._clean: Clean | None = None
        self._number = self._seen = 0  # of cells; of those whose variables the worker holds
        self._watched = False  # the supervisor watches the cell that runs
        self._waiting: tuple[asyncio.AbstractEventLoop, int, asyncio.Future[bool]] | None = None
        self._over: tuple[Ends | None, dict[str, Any]] | None = None  # what to report to the supervisor about a cell
        _open.add(self)

    async def begin(self) -> None:
        """Wait until there is a worker. Raises Gone, SandboxError, TimeoutError."""
        if self._ends is None:
            await self._follow(self._ready(), _SETUP_SECONDS)

    async def run(self, cell: str) -> Ran:
        """Run a cell, after ``begin``. Raises Gone, SandboxError, TimeoutError."""
        ran: Ran = await self._follow(self._run(cell), self._limits.wall_seconds + _GRACE_SECONDS)
        if self._watched:
            self._finish()
        else:  # the waiting task resumes first: what follows takes time, and no limit runs
            asyncio.get_running_loop().call_soon(self._finish)
        return ran

    def run_here(self, cell: str) -> Ran:
        """Both without an event loop, for the self-test."""
        _follow_here(self._ready(), _SETUP_SECONDS)
        ran: Ran = _follow_here(self._run(cell), self._limits.wall_seconds + _GRACE_SECONDS)
        self._finish()
        return ran

    def _ready(self) -> Steps:
        self._finish()
        if not self._promised:
            self._send(want=True)
        while self._ends is None:
            frame = yield from self._next_frame()
            if "ready" in frame:
                self._clean = Clean(frame["ready"])
            elif "worker" in frame:
                self._ends, self._came = Ends(self._came[:5], self._limits), self._came[5:]
                self._seen = 0

    def _run(self, cell: str) -> Steps:
        assert self._ends is not None, "begin was waited for"
        self._finish()
        self._number += 1
        began = time.perf_counter()
        try:
            ran = yield from self._result(self._ends, cell)
        except FrameError as error:
            ran = failed("error", "Protocol", f"the worker's reply is not a result: {error}")
        if ran is None:
            ran = yield from self._fate()
        return self._settled(self._ends, ran, time.perf_counter() - began)

    def _result(self, ends: Ends, cell: str) -> Steps:
        """The result of the cell; None when the worker closed its pipe without one. Raises FrameError."""
        ends.begin(cell, os.urandom(16).hex())
        self._watched = flooded = False
        while True:
            came = yield ends.fileno(), None if self._watched else _MOMENT_SECONDS
            enough = not ends.work()
            if (ran := ends.hear()) is not None or ends.finished:
                return ran
            if not self._watched and (enough or not came):
                self._watched = True
                self._send(begin=self._number)
            if enough and not flooded:
                flooded = True
                self._send(flood=self._number)

    def _fate(self) -> Steps:
        self._send(fate=self._number)
        frame: dict[str, Any] = {}
        while frame.get("verdict") != self._number:
            frame = yield from self._next_frame()
        return failed(*frame["why"])

    def _settled(self, ends: Ends, ran: Ran, seconds: float) -> Ran:
        """The result with its output; the worker stays, or is let go of."""
        assert self._clean is not None, "it came before the worker"
        printed = self._clean(ends.end()).encode()[: self._limits.output_bytes]
        error = ran.error
        broken = ran.status in ("timeout", "killed") or (error is not None and error.type == "Protocol")
        eager = len(_open) <= _EAGER
        lives = ends.stays and (self._keep or eager) and not broken and not ends.finished
        self._over = None if lives else ends, {"end": self._number, "keep": lives, "eager": eager}
        if not lives:
            self._ends, self._promised = None, eager
            if error is not None and self._seen:
                error = replace(error, message=error.message + LOST)
        elif self._keep:
            self._seen += 1
        return Ran(ran.status, ran.answer, printed.decode("utf-8", "ignore"), error, seconds)

    def _finish(self) -> None:
        """Report to the supervisor that the cell is over, and let go of a worker that does not stay."""
        over, self._over = self._over, None
        if over is None:
            return
        ends, frame = over
        try:
            self._send(**frame)
        except Gone:  # the next cell finds out
            self._promised = True
        if ends is not None:
            ends.close()

    def _send(self, **frame: Any) -> None:
        try:
            self._channel.sendall(pack(frame))
        except OSError as error:
            raise Gone(str(error)) from None

    def _next_frame(self) -> Steps:
        """The next frame of the supervisor. Raises Gone, SandboxError."""
        try:
            while (frame := self._reader.take()) is None:
                try:
                    data, came, _, _ = socket.recv_fds(self._channel, 1 << 16, 5, socket.MSG_CMSG_CLOEXEC)
                except BlockingIOError:
                    yield self._channel.fileno(), None
                    continue
                self._came += came
                if not data:
                    raise Gone("the supervisor ended")
                self._reader.feed(data)
        except (FrameError, OSError) as error:
            raise Gone(str(error)) from None
        if "fatal" in frame:
            raise SandboxError(f"a worker cannot be set up: {frame['fatal']}")
        return frame

    def close(self) -> None:
        """Kill all of its processes; returns when they are gone."""
        if self._leash.fileno() < 0:
            return
        _open.discard(self)
        if (
            self._waiting is not None
        ):  # while a cell is awaited: the waiting task is woken, and no closed descriptor is watched
            loop, descriptor, readable = self._waiting
            loop.remove_reader(descriptor)
            if not readable.done():
                readable.set_exception(Gone("the session was closed"))
        self._channel.close()
        for ends in {self._ends, self._over and self._over[0]}:
            if ends is not None:
                ends.close()
        self._over = None
        for descriptor in self._came:
            os.close(descriptor)
        self._leash.settimeout(_GONE_SECONDS)
        try:
            self._leash.shutdown(socket.SHUT_WR)
            self._leash.recv(1)
        except OSError:  # the zygote is gone, or does not answer: then it is ended
            if self.warm.alive:
                self.warm.close()
        self._leash.close()

    async def _follow(self, steps: Steps, seconds: float) -> Any:
        """Go through steps on the running event loop; what they return. Raises TimeoutError."""
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        try:
            descriptor, patience = next(steps)
            while True:
                left = max(0.0, until - loop.time())
                came = await self._readable(loop, descriptor, left if patience is None else min(left, patience))
                if not came and loop.time() >= until:
                    raise TimeoutError("it took too long")
                descriptor, patience = steps.send(came)
        except StopIteration as end:
            return end.value

    async def _readable(self, loop: asyncio.AbstractEventLoop, descriptor: int, seconds: float) -> bool:
        """Wait for a descriptor; False when the seconds are over and there is nothing to read."""
        readable: asyncio.Future[bool] = loop.create_future()

        def resume(there: bool) -> None:
            if not readable.done():
                readable.set_result(there)

        self._waiting = loop, descriptor, readable
        loop.add_reader(descriptor, resume, True)
        timer = loop.call_later(seconds, resume, False)
        try:
            return await readable or bool(select.select([descriptor], [], [], 0)[0])  # the loop may have been busy
        finally:
            timer.cancel()
            if self._leash.fileno() >= 0:
                loop.remove_reader(descriptor)
            self._waiting = None


def _follow_here(steps: Steps, seconds: float) -> Any:
    until = time.monotonic() + seconds
    try:
        descriptor, patience = next(steps)
        while True:
            left = max(0.0, until - time.monotonic())
            came = bool(select.select([descriptor], [], [], left if patience is None else min(left, patience))[0])
            if not came and time.monotonic() >= until:
                raise TimeoutError("it took too long")
            descriptor, patience = steps.send(came)
    except StopIteration as end:
        return end.value
