"""One sandbox for all of these tests, and one of every tier that the machine has."""

import pytest

from components.sandbox import Library, Sandbox, detect

LIBRARY = Library("tests.components.sandbox.library", {"text": "given"})


@pytest.fixture(scope="session")
def sandbox():
    made = Sandbox()
    yield made
    made.close()


@pytest.fixture
def session(sandbox):
    opened = sandbox.open(LIBRARY)
    yield opened
    opened.close()


@pytest.fixture(scope="session", params=["namespaces", "bwrap", "landlock"])
def held(request):
    """A sandbox of each tier; skipped, with the reason, where the machine does not have it."""
    if reason := detect.tested(request.param).reason:
        pytest.skip(f"{request.param}: {reason}")
    made = Sandbox(backend=request.param)
    yield made
    made.close()
