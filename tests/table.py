"""A table of cases that is one test: an item for each row costs 3 ms, and there are thousands of rows."""

import functools
import inspect
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

_PARAM = type(pytest.param())  # a row with an id


def each_row(names: str, rows: Collection[Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Run a test for every row, in place of ``pytest.mark.parametrize``; fixtures are shared by all rows.

    The first row that fails ends the test, and a note names it. A test is skipped when all its rows are.
    """
    keys = [name.strip() for name in names.split(",")]
    values = [row.values if isinstance(row, _PARAM) else row if len(keys) > 1 else (row,) for row in rows]
    cases = [dict(zip(keys, row, strict=True)) for row in values]

    def decorate(check: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.iscoroutinefunction(check):

            @functools.wraps(check)
            async def test(**fixtures: Any) -> None:
                skipped: list[BaseException] = []
                for case in cases:
                    with _named(case, skipped):
                        await check(**case, **fixtures)
                _skip(skipped, cases)

        else:

            @functools.wraps(check)
            def test(**fixtures: Any) -> None:
                skipped: list[BaseException] = []
                for case in cases:
                    with _named(case, skipped):
                        check(**case, **fixtures)
                _skip(skipped, cases)

        parameters = inspect.signature(check).parameters
        test.__signature__ = inspect.Signature([one for name, one in parameters.items() if name not in keys])
        return test

    return decorate


@contextmanager
def _named(case: dict[str, Any], skipped: list[BaseException]) -> Iterator[None]:
    try:
        yield
    except pytest.skip.Exception as skip:
        skipped.append(skip)
    except BaseException as error:
        error.add_note(f"row: {case!r:.500}")
        raise


def _skip(skipped: list[BaseException], cases: list[Any]) -> None:
    if skipped and len(skipped) == len(cases):
        raise skipped[0]
