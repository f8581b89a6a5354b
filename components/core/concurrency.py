"""Working on several lines at once."""

import asyncio
from collections.abc import Awaitable, Iterable
from typing import TypeVar

T = TypeVar("T")


async def gather_all(works: Iterable[Awaitable[T]]) -> list[T]:
    """All results, in order. All are completed, so that paid calls are kept; then the first error is raised."""
    found = await asyncio.gather(*map(_line, works), return_exceptions=True)
    for one in found:
        if isinstance(one, BaseException):
            raise one
    return [one for one in found if not isinstance(one, BaseException)]


async def _line(work: Awaitable[T]) -> T:
    try:
        return await work
    except SystemExit as end:  # raised in a task of its own it would end the loop
        raise RuntimeError(f"a line of work raised SystemExit: {end.code}") from end
