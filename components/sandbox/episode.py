"""An episode as the host sees it: one supervisor, and one worker after the other."""

import asyncio
import json
import os
import select
import socket
import time
import weakref
from dataclasses import replace
from typing import Any

from components.sandbox.api import MESSAGE_BYTES, FrameError, Library, Limits, Ran, SandboxError, failed
from components.sandbox.process import Gone, WorkerPipes, ZygoteProcess
from components.sandbox.worker import Clean

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
            message, descriptors = await self._next_message()
            if "ready" in message:
                self._clean = Clean(message["ready"])
            elif "worker" in message:
                self._pipes, self._seen = WorkerPipes(descriptors, self._limits), 0

    async def run(self, cell: str) -> Ran:
        """Run a cell, after ``begin``. Raises Gone, SandboxError, TimeoutError."""
        pipes, loop = self._pipes, asyncio.get_running_loop()
        assert pipes is not None, "begin was waited for"
        self._until = loop.time() + self._limits.wall_seconds + _GRACE_SECONDS
        self._finish()
        self._number += 1
        began = time.perf_counter()
        try:
            ran = await self._result(pipes, cell)
        except FrameError as error:
            ran = failed("error", "Protocol", f"the worker's reply is not a result: {error}")
        if ran is None:  # the supervisor reports why the worker ended
            self._send(fate=self._number)
            message: dict[str, Any] = {}
            while message.get("verdict") != self._number:
                message, _ = await self._next_message()
            ran = failed(*message["why"])
        seconds = time.perf_counter() - began
        assert self._clean is not None, "it came before the worker"
        printed = self._clean(pipes.end()).encode()[: self._limits.output_bytes]
        wrong, eager = ran.error, len(_open) <= _EAGER
        stays = pipes.stays and (self._keep or eager) and not ran.broken and not pipes.finished
        self._over = None if stays else pipes, {"end": self._number, "keep": stays, "eager": eager}
        if not stays:
            self._pipes, self._promised = None, eager
            if wrong is not None and self._seen:
                wrong = replace(wrong, message=wrong.message + LOST)
        elif self._keep:
            self._seen += 1
        if self._watched:
            self._finish()
        else:  # the waiting task resumes first: what follows takes time, and no limit runs
            loop.call_soon(self._finish)
        return Ran(ran.status, ran.answer, printed.decode("utf-8", "ignore"), wrong, seconds)

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

    def _finish(self) -> None:
        """Report to the supervisor that the cell is over, and give up a worker that does not stay."""
        over, self._over = self._over, None
        if over is None:
            return
        pipes, message = over
        try:
            self._send(**message)
        except Gone:  # the next cell finds out
            self._promised = True
        if pipes is not None:
            pipes.close()

    def _send(self, **message: Any) -> None:
        try:
            self._channel.send(json.dumps(message).encode())
        except OSError as error:
            raise Gone(str(error)) from None

    async def _next_message(self) -> tuple[dict[str, Any], list[int]]:
        """The supervisor's next message, and the descriptors that came with it. Raises Gone, SandboxError."""
        while True:
            try:
                data, descriptors, _, _ = socket.recv_fds(self._channel, MESSAGE_BYTES, 5, socket.MSG_CMSG_CLOEXEC)
                break
            except BlockingIOError:
                await self._readable(self._channel.fileno(), None)
            except OSError as error:
                raise Gone(str(error)) from None
        if not data:
            raise Gone("the supervisor ended")
        message: dict[str, Any] = json.loads(data)
        if "fatal" in message:
            raise SandboxError(f"a worker cannot be set up: {message['fatal']}")
        return message, descriptors

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
