"""Bounded retries of what can pass, with exponential backoff and full jitter.

Source: M. Brooker, Exponential Backoff And Jitter, AWS Architecture Blog 2015.
"""

import asyncio
import logging
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from components.models.faults import Fault

T = TypeVar("T")
_WORTH_LOGGING = 10.0
log = logging.getLogger(__name__)


@dataclass(eq=False)
class Retries:
    """Tries a call at most ``limit`` times more. Counts what it retried by kind, and the seconds slept.

    ``who``: the endpoint, for the log line about a pause. ``first_seconds`` is the longest first wait; it doubles
    up to ``longest_seconds``. A rate limit without Retry-After starts four times higher, since most are counted
    per minute.
    """

    limit: int = 6
    who: str = "the model"
    first_seconds: float = 0.5
    longest_seconds: float = 60.0
    by_kind: Counter[str] = field(default_factory=Counter)
    waited_seconds: float = 0.0
    _logged_until: float = 0.0

    async def run(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """The result of the first attempt that gives one. Raises the last Fault, or the first that cannot pass."""
        for n in range(self.limit):
            try:
                return await attempt()
            except Fault as fault:
                if not fault.retryable:
                    raise
                self.by_kind[fault.kind] += 1
                delay = self.delay(n, fault)
                self._log(fault)
            self.waited_seconds += delay
            await asyncio.sleep(delay)
        return await attempt()

    def _log(self, fault: Fault) -> None:
        """Log that the endpoint asks for a pause; once for all calls."""
        pause, now = fault.retry_after or 0.0, time.monotonic()
        if pause >= _WORTH_LOGGING and now + pause > self._logged_until + _WORTH_LOGGING:
            self._logged_until = now + pause
            log.warning("%s asks for a pause of %.0f seconds (%s): waiting", self.who, pause, fault)

    def delay(self, n: int, fault: Fault) -> float:
        """Seconds to wait after attempt ``n`` (from 0): what the provider asked and a little more, or backoff."""
        if fault.retry_after is not None:
            return fault.retry_after + random.uniform(0, self.first_seconds)
        first = self.first_seconds * (4 if fault.kind == "rate_limit" else 1)
        return random.uniform(0, min(self.longest_seconds, first * 2.0**n))
