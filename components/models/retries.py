"""Bounded retries of what can pass, with exponential backoff and full jitter.

Source: M. Brooker, Exponential Backoff And Jitter, AWS Architecture Blog 2015.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from components.models.faults import Fault

T = TypeVar("T")


@dataclass(eq=False)
class Retries:
    """Tries a call at most ``limit`` times more. Counts what it retried by kind, and the seconds slept.

    ``first_seconds`` is the longest first wait; it doubles up to ``longest_seconds``. A rate limit
    without Retry-After starts four times higher, since most are counted per minute.
    """

    limit: int = 6
    first_seconds: float = 0.5
    longest_seconds: float = 60.0
    by_kind: Counter[str] = field(default_factory=Counter)
    waited_seconds: float = 0.0

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
            self.waited_seconds += delay
            await asyncio.sleep(delay)
        return await attempt()

    def delay(self, n: int, fault: Fault) -> float:
        """Seconds to wait after attempt ``n`` (from 0): what the provider asked and a little more, or backoff."""
        if fault.retry_after is not None:
            return fault.retry_after + random.uniform(0, self.first_seconds)
        first = self.first_seconds * (4 if fault.kind == "rate_limit" else 1)
        return random.uniform(0, min(self.longest_seconds, first * 2.0**n))
