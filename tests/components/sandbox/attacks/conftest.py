"""Every backend of this machine, as root and as an ordinary user: one process each, kept for all tests."""

from collections.abc import Iterator

import pytest

from tests.components.sandbox.attacks.stands import STANDS, Stand, lacking


@pytest.fixture(scope="session", params=STANDS, ids="-".join)
def stand(request: pytest.FixtureRequest) -> Iterator[Stand]:
    """A process that owns a sandbox of one backend, run by one user."""
    backend, user = request.param
    if reason := lacking(backend, user):
        pytest.skip(reason)
    with Stand(backend, user) as stand:
        yield stand


@pytest.fixture(scope="session", params=["root", "user"])
def plain(request: pytest.FixtureRequest) -> Iterator[Stand]:
    """The same process without a sandbox, where attacks must succeed, or they would prove nothing."""
    if reason := lacking("", request.param):
        pytest.skip(reason)
    with Stand("", request.param) as stand:
        yield stand
