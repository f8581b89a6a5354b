"""Every backend of this machine, as root and as an ordinary user: one process each, kept for all tests."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.components.sandbox.attacks.stands import STANDS, Stand, lacking


@pytest.fixture(scope="session")
def standing() -> Iterator[Callable[[str, str], Stand]]:
    """The stand of a backend and a user, started when it is first asked for."""
    with ExitStack() as stack:
        started: dict[tuple[str, str], Stand] = {}

        def find(backend: str, user: str) -> Stand:
            if reason := lacking(backend, user):
                pytest.skip(reason)
            if (backend, user) not in started:
                started[backend, user] = stack.enter_context(Stand(backend, user))
            return started[backend, user]

        yield find


@pytest.fixture(params=STANDS, ids="-".join)
def stand(request: pytest.FixtureRequest, standing: Callable[[str, str], Stand]) -> Stand:
    """A process that owns a sandbox of one backend, run by one user."""
    return standing(*request.param)


@pytest.fixture(params=["root", "user"])
def plain(request: pytest.FixtureRequest, standing: Callable[[str, str], Stand]) -> Stand:
    """The same process without a sandbox, where attacks must succeed, or they would prove nothing."""
    return standing("", request.param)
