"""One test over many rows: all that are wrong are named, at a hundredth of the cost of an item for each."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest


def each(rows: Mapping[str, Any]) -> Callable[[Callable[[Any], None]], Callable[[], None]]:
    """Make a test of a check of one row; it fails with the names of the rows that fail, and why."""

    def over(check: Callable[[Any], None]) -> Callable[[], None]:
        def test() -> None:
            wrong = []
            for name, row in rows.items():
                try:
                    check(row)
                except AssertionError as error:
                    wrong.append(f"[{name}] {error or 'is wrong'}")
            if wrong:
                pytest.fail("\n\n".join([f"{len(wrong)} of {len(rows)} rows", *wrong]), pytrace=False)
            assert rows, "there are no rows"

        test.__name__, test.__doc__, test.__module__ = check.__name__, check.__doc__, check.__module__
        return test

    return over
