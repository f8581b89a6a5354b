"""Around a call to a model: how many at once and per minute, how long each, and how often it is tried again."""

import asyncio
import logging
import random
import time
from collections import Counter, deque
from dataclasses import dataclass, field
from math import inf

from components.core.messages import Image, Request
from components.models.replies import Fault

_IMAGE_TOKENS = 1_000
_REPLY_TOKENS = 256
_WORTH_LOGGING = 10.0  # seconds of a pause
log = logging.getLogger(__name__)


@dataclass(eq=False, slots=True)
class Spending:
    """An amount spent at a time; ``counts`` until its window is over."""

    time: float
    amount: int
    counts: bool = True


@dataclass(eq=False)
class Minute:
    """At most ``limit`` in any window of ``seconds``; a larger single amount waits until the window is empty."""

    limit: int
    seconds: float = 60.0
    _spent: deque[Spending] = field(default_factory=deque, repr=False)
    _total: int = 0

    def delay(self, amount: int, now: float) -> float:
        """Seconds until ``amount`` fits."""
        while self._spent and self._spent[0].time + self.seconds <= now:
            over = self._spent.popleft()
            over.counts = False
            self._total -= over.amount
        missing = self._total + amount - self.limit
        if missing <= 0 or self._total <= 0:
            return 0.0
        for spending in self._spent:
            missing -= spending.amount
            if missing <= 0:
                break
        return spending.time + self.seconds - now

    def spend(self, amount: int, now: float) -> Spending:
        """Note an amount as spent now."""
        self._spent.append(Spending(now, amount))
        self._total += amount
        return self._spent[-1]

    def correct(self, spending: Spending, amount: int) -> None:
        """Replace an estimate by the actual usage."""
        if spending.counts:
            self._total += amount - spending.amount
            spending.amount = amount


@dataclass(eq=False, slots=True)
class Ticket:
    """The right to one call: the window it was admitted in and what it reserved."""

    window: int
    request: Spending | None
    tokens: Spending | None


@dataclass(eq=False)
class Limiter:
    """First come, first served. Starts at ``ceiling`` calls at once; the 429s of one window, the calls admitted under
    one limit, halve that once, if they are a fifth of it: fewer mean an unreliable endpoint. Each window of good
    replies adds a twentieth of the ceiling."""

    ceiling: int
    requests: Minute | None = None
    tokens: Minute | None = None
    limit: float = 0.0
    lowest: int = 0
    in_flight: int = 0
    peak: int = 0
    throttles: int = 0
    waited_seconds: float = 0.0
    _window: int = 0
    _refused: float = 0
    _paused_until: float = 0.0
    _queue: deque[tuple[asyncio.Future[Ticket], int]] = field(default_factory=deque, repr=False)
    _timer: asyncio.TimerHandle | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self.limit, self.lowest = float(self.ceiling), self.ceiling

    async def acquire(self, tokens: int = 0) -> Ticket:
        """Wait for the right to make one call that will take about ``tokens`` tokens."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        if not self._queue and self._delay(tokens, now) <= 0:
            return self._admit(tokens, now)
        waiting: asyncio.Future[Ticket] = loop.create_future()
        self._queue.append((waiting, tokens))
        self._wake(loop)
        try:
            return await waiting
        except asyncio.CancelledError:
            if waiting.cancelled():
                self._wake(loop)
            else:  # what it was granted goes to the next
                self.release(waiting.result(), 0, requests=0)
            raise
        finally:
            self.waited_seconds += loop.time() - now

    def release(self, ticket: Ticket, tokens: int | None = None, requests: int | None = None) -> None:
        """Return a ticket; ``tokens`` and ``requests`` are the actual usage of the call, None keeps the estimate."""
        self.in_flight -= 1
        if self.requests is not None and ticket.request is not None and requests is not None:
            self.requests.correct(ticket.request, requests)
        if self.tokens is not None and ticket.tokens is not None and tokens is not None:
            self.tokens.correct(ticket.tokens, tokens)
        if self._queue:
            self._wake(asyncio.get_running_loop())

    def succeeded(self, ticket: Ticket) -> None:
        """Note a good reply: the limit recovers, and 429s of long ago no longer count."""
        if self._refused:
            self._refused = max(0.0, self._refused - 1 / 8)
        if self.limit < self.ceiling and ticket.window == self._window:
            self.limit = min(self.ceiling, self.limit + max(1.0, self.ceiling / 20) / self.limit)

    def throttled(self, ticket: Ticket, retry_after: float | None) -> None:
        """Note a 429: halve the limit once per window and pause for as long as requested."""
        self.throttles += 1
        self._refused += ticket.window == self._window
        if self._refused >= max(1, int(self.limit) // 5):
            self._window += 1
            self._refused = 0
            self.limit = max(1.0, self.limit / 2)
            self.lowest = min(self.lowest, int(self.limit))
        if retry_after:
            self._paused_until = max(self._paused_until, asyncio.get_running_loop().time() + retry_after)

    def _delay(self, tokens: int, now: float) -> float:
        """Seconds until the next call may go; infinite while only a release can free it."""
        if self.in_flight >= int(self.limit):
            return inf
        delay = self._paused_until - now
        if self.requests is not None:
            delay = max(delay, self.requests.delay(1, now))
        if self.tokens is not None:
            delay = max(delay, self.tokens.delay(tokens, now))
        return delay

    def _admit(self, tokens: int, now: float) -> Ticket:
        self.in_flight += 1
        if self.in_flight > self.peak:
            self.peak = self.in_flight
        request = self.requests.spend(1, now) if self.requests is not None else None
        reserved = self.tokens.spend(tokens, now) if self.tokens is not None else None
        return Ticket(self._window, request, reserved)

    def _wake(self, loop: asyncio.AbstractEventLoop) -> None:
        """Admit waiting calls in their order; where the first must wait for time to pass, set the timer for it."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        now = loop.time()
        while self._queue:
            waiting, tokens = self._queue[0]
            if not waiting.done():
                delay = self._delay(tokens, now)
                if delay > 0:
                    self._timer = loop.call_later(delay, self._wake, loop) if delay < inf else None
                    return
                waiting.set_result(self._admit(tokens, now))
            self._queue.popleft()


def estimate(request: Request) -> int:
    """About how many tokens a call takes: four characters each, and as many as the reply may have."""
    parts = [part for message in request.messages if isinstance(message.content, tuple) for part in message.content]
    images = sum(isinstance(part, Image) for part in parts)
    letters = sum(len(message.text) for message in request.messages) + sum(len(tool.wire) for tool in request.tools)
    return letters // 4 + images * _IMAGE_TOKENS + (request.sampling.max_tokens or _REPLY_TOKENS)


@dataclass(eq=False)
class Deadlines:
    """Calls under one timeout: one timer, for the oldest, serves all. One per call costs 7 % at 1,000 connections. Time
    in which this process kept the loop from its sockets does not count: a reply may wait in one. ``look_seconds`` are
    between looks at them; a timer that is ``late_seconds`` late shows that the loop was kept busy."""

    seconds: float
    look_seconds: float = 0.25
    late_seconds: float = 0.1
    _busy: float = 0.0  # seconds of such time since the first call
    _due: float = 0.0  # when the timer ends
    _was_late: bool = False  # whether the last look was
    _until: dict[asyncio.Task[object], float] = field(default_factory=dict, repr=False)
    _timer: asyncio.TimerHandle | None = field(default=None, repr=False)

    def start(self) -> tuple[asyncio.Task[object], int]:
        """Cancel this task in ``seconds``, unless ``end`` comes before. Returns it, and how often it is cancelled."""
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None, "a model is called from within a task"
        self._until[task] = loop.time() - self._busy + self.seconds
        if self._timer is None:
            self._set_timer(loop, self.seconds)
        return task, task.cancelling()

    def end(self, task: asyncio.Task[object], cancelling: int) -> bool:
        """Whether the deadline, which is undone, and nothing else has cancelled the task since ``start``."""
        expired = self._until.pop(task, None) is None
        if not self._until and self._timer is not None:
            self._timer.cancel()
            self._timer = None
        return expired and task.uncancel() <= cancelling

    def _expire(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        late, was_late = loop.time() - self._due, self._was_late
        self._was_late = late > self.late_seconds
        if self._was_late:
            self._busy += late
            if not was_late:  # whatever its sockets hold is read before the next look, which decides
                self._set_timer(loop, self.look_seconds)
                return
        now = loop.time() - self._busy + 1e-3
        for task, until in list(self._until.items()):
            if until > now:
                self._set_timer(loop, until - now + 1e-3)
                return
            del self._until[task]
            task.cancel()

    def _set_timer(self, loop: asyncio.AbstractEventLoop, seconds: float) -> None:
        """Look again in so many seconds, or earlier: only work that is going on when the timer ends is noticed."""
        self._due = loop.time() + min(seconds, self.look_seconds)
        self._timer = loop.call_at(self._due, self._expire, loop)


@dataclass(eq=False)
class Retries:
    """Tries a call at most ``limit`` times more; ``who``: the endpoint, for the log. The longest first wait doubles up
    to ``longest_seconds``; that of a rate limit is four times longer, since most are counted per minute. Source: M.
    Brooker, Exponential Backoff And Jitter, AWS Architecture Blog 2015."""

    limit: int = 6
    who: str = "the model"
    first_seconds: float = 0.5
    longest_seconds: float = 60.0
    by_kind: Counter[str] = field(default_factory=Counter)
    waited_seconds: float = 0.0
    _logged_until: float = 0.0

    def note_retry(self, n: int, fault: Fault) -> float | None:
        """Count the retry after attempt ``n`` (from 0), and log a long pause once. Returns the seconds to wait; None
        where no further attempt is made."""
        if n >= self.limit or not fault.retryable:
            return None
        self.by_kind[fault.kind] += 1
        delay = self.delay(n, fault)
        pause, now = fault.retry_after or 0.0, time.monotonic()
        if pause >= _WORTH_LOGGING and now + pause > self._logged_until + _WORTH_LOGGING:  # once for all calls
            self._logged_until = now + pause
            log.warning("%s asks for a pause of %.0f seconds (%s): waiting", self.who, pause, fault)
        self.waited_seconds += delay
        return delay

    def delay(self, n: int, fault: Fault) -> float:
        """Seconds to wait after attempt ``n`` (from 0): what the provider requests and a little more, or backoff."""
        if fault.retry_after is not None:
            return fault.retry_after + random.uniform(0, self.first_seconds)
        first = self.first_seconds * (4 if fault.kind == "rate_limit" else 1)
        return random.uniform(0, min(self.longest_seconds, first * 2.0**n))
