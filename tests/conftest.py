"""Settings for every test: no network except loopback, no keys, no user environment."""

import gc
import ipaddress
import os
import re
import shutil
import socket
from pathlib import Path

import pytest


def _loopback_only(connect):
    """Refuse every address but this machine's; an audit hook would be called for every file that is opened, too."""

    def guarded(self, address):
        if isinstance(address, tuple):
            host = str(address[0]).split("%")[0]
            if host != "localhost" and not ipaddress.ip_address(host).is_loopback:
                raise ConnectionRefusedError(f"tests have no network: {address}")
        return connect(self, address)

    return guarded


if os.environ.get("WARDROUND_TEST_NETWORK") != "1":
    socket.socket.connect = _loopback_only(socket.socket.connect)
    socket.socket.connect_ex = _loopback_only(socket.socket.connect_ex)
for name in [name for name in os.environ if name.endswith("_API_KEY") or name.startswith(("MLFLOW_", "HYDRA_"))]:
    del os.environ[name]
os.environ.setdefault("OMP_NUM_THREADS", "1")  # a worker per core: more threads only wait for each other
gc.set_threshold(200_000, 20, 100)  # eight thousand tests are a heap that by default is walked every 700 objects

SLOW_TOO = bool(os.environ.get("WARDROUND_TEST_SLOW"))
if not SLOW_TOO and (memory := Path("/dev/shm")).is_dir() and shutil.disk_usage(memory).free > 2**31:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(memory))  # of ``tmp_path``: 100 MB, and no disk is waited for
SLOW_FILE = re.compile(r"^pytestmark = \[?slow\b", re.MULTILINE)


def pytest_configure(config):
    """Let every second worker collect in the opposite order: what one of them has compiled, the others only read."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0")
    if config.args == config.getini("testpaths") and int(worker.removeprefix("gw")) % 2:
        config.args = sorted(
            (str(path) for path in Path(__file__).parent.iterdir() if path.is_dir() or path.name.startswith("test_")),
            reverse=True,
        )


def pytest_collectstart(collector):
    """Not in the process that only distributes tests, for which the others wait."""
    if isinstance(collector, pytest.Session):
        from tests.composing import compose_once

        compose_once()


def pytest_ignore_collect(collection_path):
    """Files of slow tests alone are not imported, which takes seconds."""
    if not SLOW_TOO and collection_path.suffix == ".py" and SLOW_FILE.search(collection_path.read_text("utf-8")):
        return True
    return None


def pytest_collection_modifyitems(config, items):
    """Run long tests first, so that no worker ends alone with one; ``slow`` tests are left out."""
    if not SLOW_TOO:
        left_out = [item for item in items if item.get_closest_marker("slow")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("slow")]
    items.sort(key=lambda item: item.nodeid.partition("::")[0])
    items.sort(key=lambda item: not item.nodeid.startswith(("tests/acceptance/", "tests/runner/", "tests/benchmarks/")))


def pytest_collection_finish():
    gc.freeze()  # collected items live to the end; the garbage collector need not scan them again
