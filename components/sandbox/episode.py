"""An episode as the host sees it: one supervisor, and one worker after the other."""

import asyncio
import os
import select
import socket
import time
import weakref
from dataclasses import replace
from typing import Any

from components.sandbox.api import FrameError, Library, Limits, Ran, Reader, SandboxError, cap, failed, pack
from components.sandbox.cells import Clean
from components.sandbox.pipes import WorkerPipes
from components.sandbox.process import Gone, ZygoteProcess

_SETUP_SECONDS = 60.0  # imports of the library and the first episode, on a slow machine
_GRACE_SECONDS = 2.0  # beyond the wall limit, which the supervisor keeps
_GONE_SECONDS = 10.0
_MOMENT_SECONDS = 0.01  # a cell that is over by then need not be watched
_EAGER = 5  # episodes at once of which each has a worker waiting; beyond, memory counts for more than time
LOST = "; variables of earlier cells are lost"
_open: "weakref.WeakSet[Episode]" = weakref.WeakSet()


class Episode:
    """One supervisor: its channel and its leash, and the pipes of the worker that it passed on."""

    def __init__(self, zygote: ZygoteProcess, library: Library, limits: Limits, keep: bool) -> None:
        self.zygote = zygote
        self._limits, self._keep = limits, keep
        self._channel, self._leash = zygote.open(library, limits, keep)
        self._channel.setblocking(False)
        self._reader = Reader(cap(0))
        self._received: list[int] = []  # descriptors that came with frames not yet read
        self._pipes: WorkerPipes | None = None
        self._promised = True  # the supervisor hands over a worker without being asked
        self._clean: Clean | None = None
        self._number = self._seen = 0  # of cells; of those whose variables the worker holds
        self._watched = False  # the supervisor watches the cell that runs
        self._until = 0.0  # when waiting ends, by the event loop's clock
        self._waiting: tuple[asyncio.AbstractEventLoop, int, asyncio.Future[bool]] | None = None
        self._over: tuple[WorkerPipes | None, dict[str, Any]] | None = None  # what to report about a cell
        _open.add(self)

    async def begin(self) -> None:
        """Wait until there is a worker. Raises Gone, SandboxError, TimeoutError."""
        if self._pipes is not None:
            return
        self._until = asyncio.get_running_loop().time() + _SETUP_SECONDS
        self._finish()
        if not self._promised:
            self._send(want=True)
        while self._pipes is None:
            frame = await self._next_frame()
            if "ready" in frame:
                self._clean = Clean(frame["ready"])
            elif "worker" in frame:
                self._pipes, self._received = WorkerPipes(self._received[:5], self._limits), self._received[5:]
                self._seen = 0

    async def run(self, cell: str) -> Ran:
        """Run a cell, after ``begin``. Raises Gone, SandboxError, TimeoutError."""
        assert self._pipes is not None, "begin was waited for"
        loop = asyncio.get_running_loop()
        self._until = loop.time() + self._limits.wall_seconds + _GRACE_SECONDS
        self._finish()
        self._number += 1
        began = time.perf_counter()
        try:
            ran = await self._result(self._pipes, cell)
        except FrameError as error:
            ran = failed("error", "Protocol", f"the worker's reply is not a result: {error}")
        if ran is None:  # the supervisor reports why the worker ended
            self._send(fate=self._number)
            frame: dict[str, Any] = {}
            while frame.get("verdict") != self._number:
                frame = await self._next_frame()
            ran = failed(*frame["why"])
        ran = self._settle(self._pipes, ran, time.perf_counter() - began)
        if self._watched:
            self._finish()
        else:  # the waiting task resumes first: what follows takes time, and no limit runs
            loop.call_soon(self._finish)
        return ran

    async def _result(self, pipes: WorkerPipes, cell: str) -> Ran | None:
        """The result of the cell; None when the worker closed its pipe without one. Raises FrameError."""
        pipes.begin(cell, os.urandom(16).hex())
        self._watched = flooded = False
        while True:
            readable = await self._readable(pipes.fileno(), None if self._watched else _MOMENT_SECONDS)
            enough = not pipes.work()
            if (ran := pipes.result()) is not None or pipes.finished:
                return ran
            if not self._watched and (enough or not readable):
                self._watched = True
                self._send(begin=self._number)
            if enough and not flooded:
                flooded = True
                self._send(flood=self._number)

    def _settle(self, pipes: WorkerPipes, ran: Ran, seconds: float) -> Ran:
        """The result with its output; the worker stays, or is given up."""
        assert self._clean is not None, "it came before the worker"
        printed = self._clean(pipes.end()).encode()[: self._limits.output_bytes]
        error = ran.error
        eager = len(_open) <= _EAGER
        stays = pipes.stays and (self._keep or eager) and not ran.broken and not pipes.finished
        self._over = None if stays else pipes, {"end": self._number, "keep": stays, "eager": eager}
        if not stays:
            self._pipes, self._promised = None, eager
            if error is not None and self._seen:
                error = replace(error, message=error.message + LOST)
        elif self._keep:
            self._seen += 1
        return Ran(ran.status, ran.answer, printed.decode("utf-8", "ignore"), error, seconds)

    def _finish(self) -> None:
        """Report to the supervisor that the cell is over, and give up a worker that does not stay."""
        over, self._over = self._over, None
        if over is None:
            return
        pipes, frame = over
        try:
            self._send(**frame)
        except Gone:  # the next cell finds out
            self._promised = True
        if pipes is not None:
            pipes.close()

    def _send(self, **frame: Any) -> None:
        try:
            self._channel.sendall(pack(frame))
        except OSError as error:
            raise Gone(str(error)) from None

    async def _next_frame(self) -> dict[str, Any]:
        """The next frame of the supervisor. Raises Gone, SandboxError."""
        try:
            while (frame := self._reader.take()) is None:
                try:
                    data, descriptors, _, _ = socket.recv_fds(self._channel, 1 << 16, 5, socket.MSG_CMSG_CLOEXEC)
                except BlockingIOError:
                    await self._readable(self._channel.fileno(), None)
                    continue
                self._received += descriptors
                if not data:
                    raise Gone("the supervisor ended")
                self._reader.feed(data)
        except TimeoutError:
            raise
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
        if self._waiting is not None:  # wake the task that awaits a cell; no closed descriptor is watched
            loop, descriptor, readable = self._waiting
            loop.remove_reader(descriptor)
            if not readable.done():
                readable.set_exception(Gone("the session was closed"))
        self._channel.close()
        for pipes in {self._pipes, self._over and self._over[0]}:
            if pipes is not None:
                pipes.close()
        self._over = None
        for descriptor in self._received:
            os.close(descriptor)
        self._leash.settimeout(_GONE_SECONDS)
        try:
            self._leash.shutdown(socket.SHUT_WR)
            self._leash.recv(1)
        except OSError:  # the zygote is gone, or does not answer: then it is ended
            if self.zygote.alive:
                self.zygote.close()
        self._leash.close()

    async def _readable(self, descriptor: int, seconds: float | None) -> bool:
        """Wait for a descriptor; False when the seconds are over. Raises TimeoutError when the time for all is."""
        loop = asyncio.get_running_loop()
        readable: asyncio.Future[bool] = loop.create_future()

        def resume(there: bool) -> None:
            if not readable.done():
                readable.set_result(there)

        self._waiting = loop, descriptor, readable
        loop.add_reader(descriptor, resume, True)
        timer = loop.call_at(self._until if seconds is None else min(self._until, loop.time() + seconds), resume, False)
        try:
            if await readable or select.select([descriptor], [], [], 0)[0]:  # the loop may have been busy
                return True
        finally:
            timer.cancel()
            if self._leash.fileno() >= 0:
                loop.remove_reader(descriptor)
            self._waiting = None
        if loop.time() >= self._until:
            raise TimeoutError("it took too long")
        return False
