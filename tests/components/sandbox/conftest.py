"""One sandbox for all of these tests, and one of every tier that the machine has."""

import pytest

from components.sandbox import Library, Sandbox, flaw

LIBRARY = Library("tests.components.sandbox.library", {"text": "given"})
PROBE = Library("components.sandbox.probe", {})  # no names, and a zygote that starts at once


@pytest.fixture(scope="session")
def sandbox():
    made = Sandbox()
    yield made
    made.close()


@pytest.fixture(scope="module")
def session(sandbox):
    """One episode for all tests of a module: every cell has a process of its own."""
    opened = sandbox.open(LIBRARY)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def bare(sandbox):
    """One episode without names, whose processes are small."""
    opened = sandbox.open(PROBE)
    yield opened
    opened.close()


@pytest.fixture(scope="session", params=["namespaces", "bwrap", "landlock"])
def held(request):
    """A sandbox of each tier; skipped, with the reason, where the machine does not have it."""
    if reason := flaw(request.param):
        pytest.skip(f"{request.param}: {reason}")
    made = Sandbox(backend=request.param)
    yield made
    made.close()
