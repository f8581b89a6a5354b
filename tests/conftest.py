"""What holds for every test: no network but loopback, no keys, no user's environment."""

import gc
import ipaddress
import os
import sys

import pytest

_OPEN = os.environ.get("WARDROUND_TEST_NETWORK") == "1"


def _only_loopback(event, arguments):
    if event != "socket.connect" or _OPEN:
        return
    address = arguments[1]
    if isinstance(address, tuple):
        host = str(address[0]).split("%")[0]
        if host != "localhost" and not ipaddress.ip_address(host).is_loopback:
            raise ConnectionRefusedError(f"tests have no network: {address}")


sys.addaudithook(_only_loopback)
gc.set_threshold(200_000, 20, 100)  # eight thousand tests are a heap that by default is walked every 700 objects


def pytest_collection_modifyitems(items):
    """What takes seconds comes first, so that no worker is left alone with it at the end."""
    items.sort(key=lambda item: not item.nodeid.startswith(("tests/acceptance/", "tests/runner/", "tests/benchmarks/")))


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch):
    for name in list(os.environ):
        if name.endswith("_API_KEY") or name.startswith(("MLFLOW_", "HYDRA_")):
            monkeypatch.delenv(name)
