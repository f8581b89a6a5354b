"""Servers of other projects, each in a process that a test starts and stops."""

import subprocess
import time
import urllib.request
from contextlib import contextmanager, suppress


@contextmanager
def running(command, folder, environment, health, seconds=120):
    """Start a server in a folder, and wait until ``health`` answers; what it prints is in ``folder/log``."""
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
    try:
        for _ in range(seconds * 4):
            with suppress(OSError), urllib.request.urlopen(health):
                break
            assert process.poll() is None, (folder / "log").read_text()[-2000:]
            time.sleep(0.25)
        yield
    finally:
        process.terminate()
        process.wait(30)
