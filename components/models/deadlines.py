"""Timeouts of all calls by one timer: a timer per call costs 7 % at 1,000 connections."""

import asyncio
from dataclasses import dataclass, field
from types import TracebackType


class Watch:
    """A call under a deadline. On leaving it raises TimeoutError if the deadline, and nothing else, cancelled it."""

    __slots__ = ("_deadlines", "_task", "_was_cancelling", "expired", "when")

    def __init__(self, deadlines: "Deadlines") -> None:
        self._deadlines = deadlines
        self.when = 0.0

    def __enter__(self) -> "Watch":
        """Start the clock for the current task. Raises RuntimeError outside of one."""
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a model is called from within a task, found none")
        self._task, self._was_cancelling, self.expired = task, task.cancelling(), False
        self._deadlines.add(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the clock. Raises TimeoutError."""
        self._deadlines.remove(self)
        if self.expired and self._task.uncancel() <= self._was_cancelling and kind is asyncio.CancelledError:
            raise TimeoutError from error

    def expire(self) -> None:
        """End the call."""
        self.expired = True
        self._task.cancel()


@dataclass(eq=False)
class Deadlines:
    """Calls under one common timeout: the oldest ends first, so one timer that looks at the oldest serves all."""

    seconds: float
    _watches: dict[Watch, None] = field(default_factory=dict, repr=False)
    _timer: asyncio.TimerHandle | None = field(default=None, repr=False)

    def watch(self) -> Watch:
        """A context manager for one call; raises TimeoutError ``seconds`` after it was entered."""
        return Watch(self)

    def add(self, watch: Watch) -> None:
        """Start the clock of a watch."""
        loop = asyncio.get_running_loop()
        watch.when = loop.time() + self.seconds
        self._watches[watch] = None
        if self._timer is None:
            self._timer = loop.call_at(watch.when, self._sweep, loop)

    def remove(self, watch: Watch) -> None:
        """Stop the clock of a watch."""
        self._watches.pop(watch, None)
        if not self._watches and self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        now = loop.time() + 1e-3
        for watch in list(self._watches):
            if watch.when > now:
                self._timer = loop.call_at(watch.when, self._sweep, loop)
                return
            del self._watches[watch]
            watch.expire()
