"""How many calls may be under way at once, and how many requests and tokens per minute."""

import asyncio
from collections import deque
from dataclasses import dataclass, field
from math import inf

from components.core.messages import Image, Request

_IMAGE_TOKENS = 1_000
_REPLY_TOKENS = 256


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
                return spending.time + self.seconds - now
        return self._spent[-1].time + self.seconds - now

    def spend(self, amount: int, now: float) -> Spending:
        """Note an amount as spent now."""
        spending = Spending(now, amount)
        self._spent.append(spending)
        self._total += amount
        return spending

    def correct(self, spending: Spending, amount: int) -> None:
        """Put what was really spent in place of an estimate."""
        if spending.counts:
            self._total += amount - spending.amount
            spending.amount = amount


@dataclass(eq=False, slots=True)
class Ticket:
    """The right to one call: the window it was admitted in and what it reserved."""

    window: int
    request: Spending | None
    tokens: Spending | None


@dataclass(eq=False, slots=True)
class Waiter:
    """A call that waits for its ticket."""

    future: asyncio.Future[Ticket]
    tokens: int


@dataclass(eq=False)
class Limiter:
    """First come, first served. Starts at ``ceiling`` calls at once; the 429s of one window halve that once.

    A window is the calls admitted under one limit: a 429 of a call that was admitted before the last
    halving reports nothing new. It takes as many 429s as a fifth of the limit: fewer mean that the endpoint is
    unreliable, not that there are too many calls at once. Each window of good replies adds a twentieth of the
    ceiling again.
    """

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
    _queue: deque[Waiter] = field(default_factory=deque, repr=False)
    _timer: asyncio.TimerHandle | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self.limit, self.lowest = float(self.ceiling), self.ceiling

    async def acquire(self, tokens: int = 0) -> Ticket:
        """Wait for the right to make one call that will take about ``tokens`` tokens."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        if not self._queue and self._delay(tokens, now) <= 0:
            return self._admit(tokens, now)
        waiter = Waiter(loop.create_future(), tokens)
        self._queue.append(waiter)
        self._wake(loop)
        try:
            return await waiter.future
        except asyncio.CancelledError:
            self._withdraw(waiter, loop)
            raise
        finally:
            self.waited_seconds += loop.time() - now

    def release(self, ticket: Ticket, tokens: int | None = None) -> None:
        """Give a ticket back; ``tokens`` is what the call really took, None keeps the estimate."""
        loop = asyncio.get_running_loop()
        self.in_flight -= 1
        if self.tokens is not None and ticket.tokens is not None and tokens is not None:
            self.tokens.correct(ticket.tokens, tokens)
        if self._queue:
            self._wake(loop)

    def succeeded(self, ticket: Ticket) -> None:
        """Note a good reply: the limit recovers, and 429s of long ago no longer count."""
        self._refused = max(0.0, self._refused - 1 / 8)
        if self.limit < self.ceiling and ticket.window == self._window:
            self.limit = min(self.ceiling, self.limit + max(1.0, self.ceiling / 20) / self.limit)

    def throttled(self, ticket: Ticket, retry_after: float | None) -> None:
        """Note a 429: halve the limit once per window and pause for as long as was asked."""
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
        self.peak = max(self.peak, self.in_flight)
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
            waiter = self._queue[0]
            if not waiter.future.done():
                delay = self._delay(waiter.tokens, now)
                if delay > 0:
                    self._timer = loop.call_later(delay, self._wake, loop) if delay < inf else None
                    return
                waiter.future.set_result(self._admit(waiter.tokens, now))
            self._queue.popleft()

    def _withdraw(self, waiter: Waiter, loop: asyncio.AbstractEventLoop) -> None:
        """A waiting call was cancelled: what it was granted goes to the next."""
        if waiter.future.cancelled():
            self._wake(loop)
            return
        ticket = waiter.future.result()
        if self.requests is not None and ticket.request is not None:
            self.requests.correct(ticket.request, 0)
        self.release(ticket, 0)


def estimate(request: Request) -> int:
    """About how many tokens a call takes: four characters each, and as many as the reply may have."""
    parts = [part for message in request.messages if isinstance(message.content, tuple) for part in message.content]
    images = sum(isinstance(part, Image) for part in parts)
    letters = sum(len(message.text) for message in request.messages) + sum(len(tool.wire) for tool in request.tools)
    return letters // 4 + images * _IMAGE_TOKENS + (request.sampling.max_tokens or _REPLY_TOKENS)
