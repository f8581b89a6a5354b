"""Measurements in processes of their own: every job starts fresh, prints its figures as JSON and ends."""

from __future__ import annotations

import importlib
import json
import os
import resource
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
_KILO = 1024 if sys.platform != "darwin" else 1024 * 1024


class JobFailed(RuntimeError):
    """A job ended without figures; the text is the end of what it wrote."""


@dataclass
class Usage:
    """What a section took. Memory in MB: resident before it and the process' peak after it. ``started``: on the clock
    that all processes of the machine share."""

    started: float = 0.0
    wall: float = 0.0
    cpu: float = 0.0
    before_mb: float = 0.0
    peak_mb: float = 0.0

    def figures(self, base_mb: float) -> dict[str, float]:
        """For a job's reply; ``beyond_mb`` is the peak beyond ``base_mb``, resident once the imports were done."""
        times = {"started": self.started, "wall": self.wall, "cpu": self.cpu}
        return times | {"peak_mb": self.peak_mb, "beyond_mb": self.peak_mb - base_mb}


def cpu_seconds() -> float:
    """User and system time of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def peak_mb() -> float:
    """The largest resident size of this process; where the system reports it, without what it forked from."""
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _KILO


def resident_mb() -> float:
    """The resident size now; the peak where the system does not report it."""
    statm = Path("/proc/self/statm")
    if not statm.exists():
        return peak_mb()
    return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


@contextmanager
def measured() -> Iterator[Usage]:
    """Measure a section of this process."""
    usage = Usage(time.monotonic(), before_mb=resident_mb())
    cpu = cpu_seconds()
    yield usage
    usage.wall, usage.cpu, usage.peak_mb = time.monotonic() - usage.started, cpu_seconds() - cpu, peak_mb()


def run_here(job: str, **arguments: Any) -> dict[str, Any]:
    """Call ``module.function`` of this package."""
    module, _, function = job.rpartition(".")
    figures: dict[str, Any] = getattr(importlib.import_module(f"benchmarks.{module}"), function)(**arguments)
    return figures


def run_job(job: str, *, python: str = sys.executable, **arguments: Any) -> dict[str, Any]:
    """The same in a fresh process of this Python. Raises JobFailed."""
    command = [python, "-m", "benchmarks.job", job, json.dumps(arguments)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    if done.returncode:
        raise JobFailed(f"{job} ended with {done.returncode}: {done.stderr.strip()[-800:]}")
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


@contextmanager
def one_core() -> Iterator[None]:
    """Keep this process on one core, where the system can."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


@contextmanager
def server(latency: float, calls: int) -> Iterator[str]:
    """A local endpoint in a process of its own, for as long as the block runs. Yields its base URL."""
    command = [sys.executable, "-m", "benchmarks.server", str(latency), str(calls)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdin is not None and process.stdout is not None, "both were asked for"
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        finally:
            process.stdin.close()  # the server ends with its input


def server_stats(url: str) -> dict[str, float]:
    """CPU seconds and calls of a server so far."""
    with urllib.request.urlopen(f"{url}/stats", timeout=10) as reply:
        stats: dict[str, float] = json.load(reply)
    return stats
