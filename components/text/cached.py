"""Cache results for short texts in memory."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

T = TypeVar("T")


def cached_short(maxsize: int, longest: int = 1_000) -> Callable[[Callable[[str], T]], Callable[[str], T]]:
    """``lru_cache`` of a function of a text that a model may have written: a longer one than so many characters is
    computed each time, and does not stay in memory."""

    def wrap(compute: Callable[[str], T]) -> Callable[[str], T]:
        cached = lru_cache(maxsize)(compute)

        @wraps(compute)
        def call(text: str) -> T:
            return cached(text) if len(text) <= longest else compute(text)

        return call

    return wrap
