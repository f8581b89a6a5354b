"""A parametrized test runs its rows in one item: an item for each costs 3 ms, and there are thousands of rows.

All rows that fail are reported, each with its id. A test whose rows need a fixture of their own (``tmp_path``,
``monkeypatch``) keeps an item per row, and so does every test with ``--rows`` or where a row is named
(``pytest 'tests/x.py::test_y[row]'``).
"""

import functools
import inspect
from collections.abc import Callable, Collection, Iterator, Sequence, Set
from contextlib import contextmanager
from itertools import product
from typing import Any, NamedTuple

import pytest

_PARAM = type(pytest.param())


class Row(NamedTuple):
    """What one call of a test is given."""

    name: str
    arguments: dict[str, Any]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rows", action="store_true", help="an item for every row of a parametrized test")


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector: pytest.Collector, name: str, obj: object) -> pytest.Item | None:
    """Make one item of all rows where they share their fixtures."""
    marks = [mark for mark in getattr(obj, "pytestmark", ()) if mark.name == "parametrize"]
    if not marks or not inspect.isfunction(obj) or _are_items(collector.config):
        return None
    tables = [read(mark) for mark in marks]
    if not all(tables):
        return None
    fixtures = inspect.signature(obj).parameters.keys() - {name for rows in tables for name in rows[0].arguments}
    find = collector.session._fixturemanager.getfixturedefs
    if not all((found := find(fixture, collector)) and found[-1].scope != "function" for fixture in fixtures):
        return None
    item = pytest.Function.from_parent(collector, name=name, callobj=over(combine(tables), fixtures, obj))
    has_rows = any(one.params for fixture in item.fixturenames for one in find(fixture, collector) or ())
    return None if has_rows else item


def read(mark: pytest.Mark) -> list[Row]:
    """The rows of a ``parametrize``; none where it has more to it than names, values and ids."""
    names, values = mark.args
    names = [name.strip() for name in names.split(",") if name.strip()] if isinstance(names, str) else list(names)
    values = [value if isinstance(value, _PARAM) else pytest.param(*([value] if len(names) == 1 else value))
              for value in (values if isinstance(values, Collection) else ())]  # fmt: skip
    if mark.kwargs.keys() - {"ids"} or any(value.marks for value in values):
        return []
    ids = mark.kwargs.get("ids") or repr
    labels = ["-".join(map(str, map(ids, value.values))) for value in values] if callable(ids) else list(ids)
    return [
        Row(str(value.id or label)[:100], dict(zip(names, value.values, strict=True)))
        for value, label in zip(values, labels, strict=True)
    ]


def combine(tables: Sequence[Sequence[Row]]) -> list[Row]:
    """Every combination of the rows of several ``parametrize``."""
    return [
        Row("-".join(row.name for row in rows), {name: value for row in rows for name, value in row.arguments.items()})
        for rows in product(*reversed(tables))
    ]


def over(rows: Sequence[Row], fixtures: Set[str], check: Callable[..., Any]) -> Callable[..., Any]:
    """Make a test of all rows of a test of one."""
    if inspect.iscoroutinefunction(check):

        async def test(**given: Any) -> None:
            with _reporting(len(rows)) as trying:
                for row in rows:
                    with trying(row):
                        await check(**row.arguments, **given)

    else:

        def test(**given: Any) -> None:
            with _reporting(len(rows)) as trying:
                for row in rows:
                    with trying(row):
                        check(**row.arguments, **given)

    functools.update_wrapper(test, check)
    test.__signature__ = inspect.Signature([inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY) for n in fixtures])
    test.pytestmark = [mark for mark in check.pytestmark if mark.name != "parametrize"]
    return test


@contextmanager
def _reporting(n_rows: int) -> Iterator[Callable[[Row], Any]]:
    """Collect what the rows raise, and raise it at the end."""
    failed: list[BaseException] = []
    skipped: list[BaseException] = []

    @contextmanager
    def trying(row: Row) -> Iterator[None]:
        try:
            yield
        except pytest.skip.Exception as skip:
            skipped.append(skip)
        except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001  # reported with the others
            error.add_note(f"row: {row.name}")
            failed.append(error)

    yield trying
    if len(failed) == 1:
        raise failed[0]
    if failed:
        raise BaseExceptionGroup(f"{len(failed)} of {n_rows} rows", failed)
    if len(skipped) == n_rows:
        raise skipped[0]


def _are_items(config: pytest.Config) -> bool:
    return config.getoption("rows") or any("[" in word for word in config.args)
