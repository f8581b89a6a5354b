"""What users of a sandbox hold: cells in, results out; the wall limit is kept even when the supervisor does not."""

import asyncio
import os
import weakref
from collections.abc import Callable

from components.sandbox.api import Limits, Ran, SandboxError, Status, failed
from components.sandbox.episode import LOST, Episode
from components.sandbox.warm import Gone

_slots: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, dict[int | None, asyncio.Semaphore]] = (
    weakref.WeakKeyDictionary()
)


def slots(n: int | None) -> asyncio.Semaphore:
    """At most ``n`` cells at once (None: one per CPU) on the running event loop, first come first served."""
    loop = asyncio.get_running_loop()
    try:
        return _slots[loop][n]
    except KeyError:
        held = _slots.setdefault(loop, {})
        held[n] = asyncio.Semaphore(n or len(os.sched_getaffinity(0)))
        return held[n]


class Session:
    """An episode's cells. A worker that dies, hangs or misbehaves is a result; the next cell has a new one."""

    def __init__(
        self,
        start: Callable[[], Episode],
        limits: Limits,
        max_running: int | None,
        count: Callable[[Ran], None],
        closed: "Callable[[Session], None]",
    ) -> None:
        self._start, self._limits, self._max_running, self._count = start, limits, max_running, count
        self._when_closed = closed
        self._episode: Episode | None = None
        self._closed = False
        self._turn: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = weakref.WeakKeyDictionary()

    async def run(self, cell: str) -> Ran:
        """Run a cell, after those given before. Raises SandboxError when the machine cannot."""
        loop = asyncio.get_running_loop()
        turn = self._turn.get(loop) or self._turn.setdefault(loop, asyncio.Lock())
        async with turn, slots(self._max_running):
            episode = await self._begun()
            try:
                ran = await episode.run(cell)
            except TimeoutError:
                ran = self._broken("timeout", "Timeout", self._limits.too_long)
            except Gone as gone:
                self._refuse_closed()
                ran = self._broken("killed", "Killed", f"the worker was ended: {gone}")
            except BaseException:  # cancelled in the middle of a cell: the channel is of no more use
                self._drop()
                raise
        self._count(ran)
        return ran

    async def _begun(self) -> Episode:
        gone = ""
        for last in (False, True):
            self._refuse_closed()
            try:
                if self._episode is None or not self._episode.warm.alive:
                    self._drop()
                    self._episode = self._start()
                await self._episode.begin()
                return self._episode
            except (Gone, TimeoutError) as error:
                gone = str(error) or "it took too long"
                if last and self._episode is not None:
                    gone += self._episode.warm.last_output()
                self._drop()
            except BaseException:
                self._drop()
                raise
        raise SandboxError(f"two attempts to start a worker failed: {gone}")

    def _refuse_closed(self) -> None:
        if self._closed:
            raise SandboxError("the session is closed")

    def _broken(self, status: Status, kind: str, text: str) -> Ran:
        self._drop()
        return failed(status, kind, text + LOST)

    def _drop(self) -> None:
        episode, self._episode = self._episode, None
        if episode is not None:
            episode.close()

    def close(self) -> None:
        """Kill everything of the episode; returns when it is gone. May be called again."""
        self._closed = True
        self._drop()
        self._when_closed(self)
