"""An episode as the host sees it: cells in, results out, limits kept even when the worker's side does not."""

from __future__ import annotations

import asyncio
import os
import socket
import weakref
from collections.abc import Callable
from typing import Any

from components.sandbox.api import CellError, Library, Limits, Ran, SandboxError
from components.sandbox.frames import FrameError, Reader, cap, pack, read_ran
from components.sandbox.warm import Gone, Warm

_SETUP_SECONDS = 60.0  # imports of the library and the first episode, on a slow machine
_GRACE_SECONDS = 2.0  # beyond the wall limit, which the supervisor keeps
_GONE_SECONDS = 10.0
_EAGER = 3  # episodes at once of which each has a worker waiting; beyond, memory counts for more than time
_LOST = "; variables of earlier cells are lost"
_slots: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, dict[int, asyncio.Semaphore]] = weakref.WeakKeyDictionary()

_open: weakref.WeakSet[Episode] = weakref.WeakSet()


def slots(n: int | None) -> asyncio.Semaphore:
    """At most ``n`` cells at once (None: one per CPU) on the running event loop, first come first served."""
    n = n or len(os.sched_getaffinity(0))
    return _slots.setdefault(asyncio.get_running_loop(), {}).setdefault(n, asyncio.Semaphore(n))


class Episode:
    """One supervisor: its channel and its leash."""

    def __init__(self, warm: Warm, library: Library, limits: Limits, keep: bool) -> None:
        self.warm = warm
        self._channel, self._leash = warm.open(library, limits, keep)
        self._channel.setblocking(False)
        self._reader = Reader(cap(limits.answer_bytes, limits.output_bytes))
        self._limits = limits
        self._ready = False
        _open.add(self)

    def _asked(self, cell: str) -> bytes:
        return pack({"cell": cell, "eager": len(_open) <= _EAGER})

    def _fatal(self, frame: dict[str, Any]) -> None:
        if "fatal" in frame:
            raise SandboxError(f"a worker cannot be set up: {frame['fatal']}")
        if frame != {"ready": True}:
            raise Gone("the supervisor did not say that it is ready")

    async def begin(self) -> None:
        """Wait until it is set up. Raises Gone, SandboxError."""
        if not self._ready:
            self._fatal(await self._receive(_SETUP_SECONDS))
            self._ready = True

    async def run(self, cell: str) -> Ran:
        """Run a cell. Raises Gone (also for a reply that is none), TimeoutError."""
        seconds = self._limits.wall_seconds + _GRACE_SECONDS
        async with asyncio.timeout(seconds):
            await asyncio.get_running_loop().sock_sendall(self._channel, self._asked(cell))
            frame = await self._receive(None)
        if "fatal" in frame:
            raise SandboxError(f"no worker for a cell: {frame['fatal']}")
        return self._read(frame)

    def _read(self, frame: dict[str, Any]) -> Ran:
        try:
            return read_ran(frame, self._limits.answer_bytes, self._limits.output_bytes)
        except FrameError as error:
            raise Gone(str(error)) from None

    async def _receive(self, seconds: float | None) -> dict[str, Any]:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(seconds):
                while (frame := self._reader.take()) is None:
                    self._feed(await loop.sock_recv(self._channel, 1 << 16))
        except FrameError as error:
            raise Gone(str(error)) from None
        except OSError as error:
            if isinstance(error, TimeoutError):
                raise
            raise Gone(str(error)) from None
        return frame

    def _feed(self, data: bytes) -> None:
        if not data:
            raise Gone("the supervisor ended")
        self._reader.feed(data)

    def run_here(self, cell: str) -> Ran:
        """The same without an event loop, for the self-test. Raises Gone, SandboxError, TimeoutError."""
        self._channel.settimeout(_SETUP_SECONDS)
        self._fatal(self._receive_here())
        self._channel.sendall(self._asked(cell))
        return self._read(self._receive_here())

    def _receive_here(self) -> dict[str, Any]:
        try:
            while (frame := self._reader.take()) is None:
                self._feed(self._channel.recv(1 << 16))
        except (ConnectionError, FrameError) as error:
            raise Gone(str(error)) from None
        return frame

    def close(self) -> None:
        """Kill all of its processes; returns when they are gone."""
        if self._leash.fileno() < 0:
            return
        _open.discard(self)
        self._channel.close()
        self._leash.settimeout(_GONE_SECONDS)
        try:
            self._leash.shutdown(socket.SHUT_WR)
            self._leash.recv(1)
        except OSError:  # the zygote is gone, or does not answer: then it is ended
            if self.warm.alive:
                self.warm.close()
        self._leash.close()


class Session:
    """An episode's cells. A worker that dies, hangs or lies is a result; the next cell has a new one."""

    def __init__(
        self,
        start: Callable[[], Episode],
        limits: Limits,
        max_running: int | None,
        count: Callable[[Ran], None],
        closed: Callable[[Session], None],
    ) -> None:
        self._start, self._limits, self._max_running, self._count = start, limits, max_running, count
        self._when_closed = closed
        self._episode: Episode | None = None
        self._closed = False
        self._turn: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = weakref.WeakKeyDictionary()

    async def run(self, cell: str) -> Ran:
        """Run a cell, after those given before. Raises SandboxError when the machine cannot."""
        if self._closed:
            raise SandboxError("the session is closed")
        turn = self._turn.setdefault(asyncio.get_running_loop(), asyncio.Lock())
        async with turn, slots(self._max_running):
            episode = await self._begun()
            try:
                ran = await episode.run(cell)
            except TimeoutError:
                ran = self._broken("timeout", "Timeout", f"the cell ran longer than {self._limits.wall_seconds:g} s")
            except Gone as gone:
                ran = self._broken("killed", "Killed", f"the worker was ended: {gone}")
            except BaseException:  # cancelled in the middle of a cell: the channel is of no more use
                self._drop()
                raise
        self._count(ran)
        return ran

    async def _begun(self) -> Episode:
        gone = ""
        for last in (False, True):
            try:
                if self._episode is None or not self._episode.warm.alive:
                    self._drop()
                    self._episode = self._start()
                await self._episode.begin()
                return self._episode
            except (Gone, TimeoutError) as error:
                gone = str(error) or "it took too long"
                if last and self._episode is not None:
                    gone += self._episode.warm.said()
                self._drop()
            except BaseException:
                self._drop()
                raise
        raise SandboxError(f"no worker could be started, twice: {gone}")

    def _broken(self, status: Any, kind: str, text: str) -> Ran:
        self._drop()
        return Ran(status, error=CellError(kind, "", text + _LOST))

    def _drop(self) -> None:
        episode, self._episode = self._episode, None
        if episode is not None:
            episode.close()

    def close(self) -> None:
        """Kill everything of the episode; returns when it is gone. May be called again."""
        self._closed = True
        self._drop()
        self._when_closed(self)
