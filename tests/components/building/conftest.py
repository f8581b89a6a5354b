"""One place to build tools in for all of these tests."""

import pytest

from components.building import Building
from components.sandbox import Sandbox


@pytest.fixture(scope="session")
def building():
    made = Building(Sandbox(), seconds=1.0)
    yield made
    made.limited_sandbox.close()


@pytest.fixture(scope="session")
def sandbox(building):
    return building.limited_sandbox
